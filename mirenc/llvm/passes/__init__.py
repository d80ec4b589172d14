"""Running LLVM's passes on IR and weighing what comes out: exact sizes, without noise."""
