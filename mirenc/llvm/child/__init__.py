"""LLVM in child processes (`mirenc.base.child_process`), since it aborts, loops and eats memory on some files.

A ``*_service.py`` runs in the child. The parent's side of reading is `parsing_worker`, that of lists of passes
`mirenc.llvm.passes.size_after_passes`.
"""
