"""The text that LLVM prints for a module, read into an `IRModule`, and its statements."""
