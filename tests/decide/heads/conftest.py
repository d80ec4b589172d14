"""Fixtures of these tests: a task in miniature."""

from toy_task import taught, tiny, toy, toy_data  # noqa: F401
