"""What heads learn from and for: features, targets, the menu; the same for a table and for a head that is kept."""
