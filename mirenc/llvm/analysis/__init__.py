"""Analyses of a module: loops, trip counts, regions, profiles, launch bounds, optimisation level."""
