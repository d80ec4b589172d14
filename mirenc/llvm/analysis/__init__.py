"""What the IR says: loops, trip counts, regions, profiles, launch bounds, the level it was compiled at."""
