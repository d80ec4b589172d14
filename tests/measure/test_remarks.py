"""What LLVM's optimisation record says of a loop."""

from __future__ import annotations

from mirenc.measure.hints import Hint
from mirenc.measure.vector_variants import effective_hints

RECORD = """\
--- !Analysis
Pass:            loop-vectorize
Name:            InterleavingNotBeneficial
DebugLoc:        { File: a.c, Line: 5, Column: 5 }
Function:        f
Args:
  - String:          the cost-model indicates that interleaving is not beneficial
...
--- !Passed
Pass:            loop-vectorize
Name:            Vectorized
DebugLoc:        { File: a.c, Line: 5, Column: 5 }
Function:        f
Args:
  - String:          'vectorized '
  - VectorizationFactor: '8'
  - String:          ', interleaved count: '
  - InterleaveCount: '2'
...
--- !Passed
Pass:            loop-vectorize
Name:            Interleaved
DebugLoc:        { File: '/a/folder/with/a/name/so/long/that/the/line/is/broken/a.c',
                   Line: 5, Column: 5 }
Function:        'g'
Args:
  - InterleaveCount: '4'
...
--- !Passed
Pass:            loop-vectorize
Name:            Vectorized
DebugLoc:        { File: a.c, Line: 9, Column: 5 }
Function:        f
Args:
  - VectorizationFactor: '16'
  - InterleaveCount: '1'
...
--- !Missed
Pass:            loop-vectorize
Name:            MissedDetails
DebugLoc:        { File: a.c, Line: 5, Column: 5 }
Function:        h
Args:
  - VectorizationFactor: '4'
...
"""


def test_a_loop_by_its_line() -> None:
    assert effective_hints(RECORD, 5) == {"f": Hint(8, 2), "g": Hint(1, 4)}
    assert effective_hints(RECORD, 9) == {"f": Hint(16, 1)}
    assert effective_hints("", 5) == {}
