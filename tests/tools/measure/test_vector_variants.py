"""What is read of a back end's output: digests of its assembly, and what the record of remarks says of a loop.

Names, labels and places do not matter to a digest; instructions and constants do.
"""

from __future__ import annotations

from mirenc.llvm.passes.loop_hint import Hint
from mirenc.tools.measure.vector_variants import code_digests, digest_of, effective_hints

CHUNK = """\
\t.section\t.rodata.cst4,"aM",@progbits,4
\t.p2align\t2, 0x0                          # -- Begin function {name}
.LCPI{n}_0:
\t.long\t{constant}                      # float 2
\t.text
\t.globl\t{name}
\t.type\t{name},@function
{name}:                                  # @{name}
# %bb.0:
\t{instruction}\t.LCPI{n}_0(%rip), %xmm0
.LBB{n}_1:                                # =>This Inner Loop Header: Depth=1
\tjne\t.LBB{n}_1
\tretq
.Lfunc_end{n}:
\t.size\t{name}, .Lfunc_end{n}-{name}
                                        # -- End function
"""
TAIL = '\t.type\ttable,@object\n\t.data\ntable:\n\t.long\t7\n\t.ident\t"clang"\n'


def chunk(name: str, n: int, constant: str = "0x40000000", instruction: str = "movss") -> str:
    return CHUNK.format(name=name, n=n, constant=constant, instruction=instruction)


def test_names_numbers_and_neighbours_do_not_matter() -> None:
    text = chunk("f", 0) + chunk("f__mirenc_4x2", 1) + chunk("other", 2, instruction="addss") + TAIL
    digests = code_digests(text)
    assert list(digests) == ["f", "f__mirenc_4x2", "other"]
    assert digests["f"] == digests["f__mirenc_4x2"]
    assert code_digests(chunk("f", 7) + TAIL.replace("7", "8"))["f"] == digests["f"]


def test_constants_and_instructions_matter() -> None:
    digests = code_digests(
        chunk("f", 0) + chunk("f__mirenc_a", 1, constant="0x3f800000") + chunk("f__mirenc_b", 2, instruction="mulss")
    )
    assert len(set(digests.values())) == 3


def test_a_copy_calls_its_own_helper() -> None:
    one = chunk("f__mirenc_a", 0).replace("\tretq", "\tcallq\thelp__mirenc_a@PLT\n\tretq")
    two = chunk("f__mirenc_b", 0).replace("\tretq", "\tcallq\thelp__mirenc_b@PLT\n\tretq")
    assert code_digests(one)["f__mirenc_a"] == code_digests(two)["f__mirenc_b"]


def test_digests_together() -> None:
    assert digest_of(["a"]) == "a"
    assert digest_of(["a", "b"]) == digest_of(["b", "a"]) != digest_of(["a", "c"])


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
