"""Tuning a program of the user's: its hot loops, a few settings of each, built and timed in turns by its own commands.

`build` builds, `tuning_case` finds places and proposes settings, `tuning_run` times and keeps them, `report` tells.
"""
