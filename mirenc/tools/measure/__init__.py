"""Measuring: a task's settings, built, checked and timed on this machine, as a table that `mirenc evaluate` takes."""
