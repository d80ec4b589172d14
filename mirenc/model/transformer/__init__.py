"""The Transformer over the tokens of one statement."""
