"""What heads see of code and of its context, as numbers."""
