"""Digests of assembly: names, labels and places do not matter; instructions and constants do."""

from __future__ import annotations

from mirenc.measure.vector_variants import code_digests, digest_of

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
    found = code_digests(text)
    assert list(found) == ["f", "f__mirenc_4x2", "other"]
    assert found["f"] == found["f__mirenc_4x2"]
    assert code_digests(chunk("f", 7) + TAIL.replace("7", "8"))["f"] == found["f"]


def test_constants_and_instructions_matter() -> None:
    found = code_digests(
        chunk("f", 0) + chunk("f__mirenc_a", 1, constant="0x3f800000") + chunk("f__mirenc_b", 2, instruction="mulss")
    )
    assert len(set(found.values())) == 3


def test_a_copy_calls_its_own_helper() -> None:
    one = chunk("f__mirenc_a", 0).replace("\tretq", "\tcallq\thelp__mirenc_a@PLT\n\tretq")
    two = chunk("f__mirenc_b", 0).replace("\tretq", "\tcallq\thelp__mirenc_b@PLT\n\tretq")
    assert code_digests(one)["f__mirenc_a"] == code_digests(two)["f__mirenc_b"]


def test_digests_together() -> None:
    assert digest_of(["a"]) == "a"
    assert digest_of(["a", "b"]) == digest_of(["b", "a"]) != digest_of(["a", "c"])
