"""Tables of measured and of compiled samples: their files and their columns."""
