"""LLVM's print-out of a module, read into an `IRModule`, and the statements of it."""
