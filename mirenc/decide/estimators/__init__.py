"""Estimators after scikit-learn's: features in; a choice, a number or labels out. Importing them registers each kind.

`candidates` lists the ones that a fit searches; `saved_heads` writes any of them to disk.
"""

from mirenc.decide.estimators import cost_head, ensemble, linear, logistic, mlp, pair_head, trees  # noqa: F401
