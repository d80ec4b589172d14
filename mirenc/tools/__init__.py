"""What runs compilers and programs: measure, tune, suggest, inline, profile."""
