"""The child processes that LLVM runs in, and what each kind of them answers."""
