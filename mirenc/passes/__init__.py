"""Running LLVM's passes on IR and weighing what comes out: exact sizes, without noise.

Beside `mirenc.ir` the only part that touches LLVM. `engine` says what can be asked, `shared` and `embedded` are two
LLVMs that answer, `extract` makes a module of one function.
"""
