"""The directed graph encoder."""
