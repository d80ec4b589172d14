"""What every room needs: array types, cache, child processes, configurations, cosines, errors, limits, writing."""
