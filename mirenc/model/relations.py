"""Relations of a program graph: an edge's flow and position as one number, forward and backward.

Control edges to the first successor (the true branch) and to others are two relations, data edges of operand 0, 1, 2
and later ones four, call edges one; each again for the way back. Sub-graphs per relation are those of a relational GCN
(Schlichtkrull et al. 2018).
"""

from __future__ import annotations

import numpy as np

from mirenc.graph import Flow

__all__ = ["ARGUMENTS", "LAST_POSITION", "RELATIONS", "RELATION_OF"]

# Positions from here on are one relation.
LAST_POSITION = 3
# Forward relation of an edge, by flow and position (up to LAST_POSITION).
RELATION_OF = np.zeros((len(Flow), LAST_POSITION + 1), dtype=np.int64)
RELATION_OF[Flow.CONTROL] = [0, 1, 1, 1]
RELATION_OF[Flow.DATA] = [2, 3, 4, 5]
RELATION_OF[Flow.CALL] = 6
_FORWARD = int(RELATION_OF.max()) + 1
# Backward relation r is forward relation r - RELATIONS // 2.
RELATIONS = 2 * _FORWARD
# Kinds of argument numbers: none, the first, second, ... and all from the last one on.
ARGUMENTS = 9
