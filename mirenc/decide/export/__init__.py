"""Heads as C source."""
