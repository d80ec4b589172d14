def profile() -> None:
    """X."""
