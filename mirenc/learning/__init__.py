"""What heads learn from and for: rows of features, the goal, the menu that they are chosen from, and static rules.

Below both evaluating and deciding, so that a table and a head that is kept are made by the same hands.
"""
