"""Convolutions over the tokens of one statement."""
