"""Fixtures of these tests: a task in miniature."""

from toy_task import published, published_data, taught, tiny, toy, toy_data, toy_report  # noqa: F401
