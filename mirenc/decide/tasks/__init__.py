"""The tasks that ship, one file each."""
