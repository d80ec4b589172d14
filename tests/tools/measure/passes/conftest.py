"""What the tests of tables of passes share."""

from source_trees import fake_tools as fake_tools, write_tree as write_tree
