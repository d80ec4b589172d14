"""A task under its protocols, the embedding beside its baselines, and the report of it."""
