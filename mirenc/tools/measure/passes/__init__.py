"""``mirenc label``: what a compiler's passes make of functions and modules, as a table of exact labels.

The work goes from inputs (`inputs`) over pieces (`choosing`) and pass lists (`lists.json`, drawn by
`downstream/passes/draw_lists.py`) to labels (`labels`), one journal line a piece, and from there to
`mirenc.decide.tables.compiled` (`run`).
"""
