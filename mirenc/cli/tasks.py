"""``mirenc tasks``: the tasks that can be asked, measured and trained for."""


def tasks() -> None:
    """List tasks."""
