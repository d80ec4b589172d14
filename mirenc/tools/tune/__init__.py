"""Tuning a program of the user's: its hot loops, a few settings of each, built and timed in turns by its own commands.

`build` builds, `hot_loops` finds and proposes, `turns` times, `run` keeps what is faster, `report` tells.
"""
