"""Tests of the package and of the recipes (``downstream/tests/``, ``pretrain/tests/``) share options and fixtures."""

pytest_plugins = ["shared_fixtures"]
