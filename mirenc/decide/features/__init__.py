"""What a head sees: columns from context and from code."""
