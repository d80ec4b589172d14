"""What the tests of this folder share."""

from toy_task import published, tiny  # noqa: F401
