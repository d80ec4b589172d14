"""Other people's compilers and programs: started with limits, ended with all they started, timed in turns.

`programs` runs a command to its end, `compilers` finds compilers, runs them and says why one failed, `turns` times
several variants in turns, and `run_folder` goes on with what a folder has until all is done or the time is up. Memory
and time of a compiler are limited by `mirenc.base.run_program`, the time of a whole call by `mirenc.base.deadline`.
"""
