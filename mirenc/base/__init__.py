"""What every room needs: array types, the cache, configurations, cosines, errors, limits, progress, whole files."""
