"""Loops and classes of instructions in assembly, counted by hand."""

import numpy as np
import pytest

from mirenc.llvm.passes.assembly import CLASSES, Loop, loops_of

X86 = """
	.globl	other
other:                                  # @other
# %bb.0:
	divl	%ecx
.Lfunc_end0:
	.globl	f
f:                                      # @f
.Lf$local:
	.cfi_startproc
# %bb.0:                                # %entry
	pushq	%rbx
	testq	%rdx, %rdx
	je	.LBB1_4
	.p2align	4
.LBB1_1:                                # %rows
                                        # =>This Loop Header: Depth=1
                                        #     Child Loop BB1_2 Depth 2
	xorl	%eax, %eax
.LBB1_2:                                # %vector.body
                                        #   Parent Loop BB1_1 Depth=1
                                        # =>  This Inner Loop Header: Depth=2
	vmovups	(%rdi,%rax,4), %ymm0
	vmulps	32(%rsi,%rax,4), %ymm0, %ymm1
	vaddps	%ymm0, %ymm1, %ymm1
	vshufps	$1, %ymm1, %ymm0, %ymm2         # ymm2 = ymm0[1,0],ymm1[0,0]
	vgatherdps	%ymm3, (%rsi,%ymm4,4), %ymm5
	vcvtdq2ps	%ymm5, %ymm5
	vblendvps	%ymm6, %ymm5, %ymm1, %ymm1
	vmovups	%ymm1, (%rdi,%rax,4)
	vmovups	%ymm7, -32(%rsp)                # 32-byte Spill
	addq	$8, %rax
	jne	.LBB1_2
# %bb.3:                                #   in Loop: Header=BB1_1 Depth=1
	incq	(%rcx)
	cmpq	$7, (%rcx)
	jb	.LBB1_1
.LBB1_4:                                # %out
	vdivss	%xmm1, %xmm0, %xmm0
	vaddss	%xmm1, %xmm0, %xmm0
	vmovd	%xmm0, %eax
	callq	g@PLT
	retq
.Lfunc_end1:
"""
AARCH64 = """
f:                                      // @f
// %bb.0:
	cbz	x2, .LBB0_2
	.p2align	5
.LBB0_1:                                // %vector.body
                                        // =>This Inner Loop Header: Depth=1
	ldp	q0, q1, [x0]
	fmla	v0.4s, v1.4s, v2.4s
	zip1	v3.4s, v0.4s, v1.4s
	fcvtzs	v3.4s, v3.4s
	bsl	v4.16b, v0.16b, v1.16b
	add	v0.4s, v0.4s, v1.4s
	str	q0, [x1], #16
	subs	x2, x2, #4
	b.ne	.LBB0_1
.LBB0_2:
	fdiv	s0, s0, s1
	fadd	s0, s0, s1
	mov	x0, x1
	bl	g
	ret
.Lfunc_end0:
"""


def counts(loop: Loop) -> dict[str, int]:
    return {name: int(count) for name, count in zip(CLASSES, loop.counts, strict=True) if count}


def test_loops_and_classes_of_x86() -> None:
    outside, rows, vector = loops_of(X86, "f")
    assert [(loop.name, loop.depth, loop.bits) for loop in (outside, rows, vector)] == [
        ("", 0, 128),  # a move out of a vector register
        ("rows", 1, 64),
        ("vector.body", 2, 256),
    ]
    assert [loop.instructions for loop in (outside, rows, vector)] == [8, 4, 11]
    # An addition to memory loads and stores, a multiplication from memory loads.
    once = "multiply vector shuffle gather convert mask store spill integer branch".split()
    assert counts(vector) == {"load": 2} | dict.fromkeys(once, 1)
    assert counts(rows) == {"integer": 3, "load": 2, "store": 1, "branch": 1}
    assert counts(outside) == {"integer": 3, "branch": 1, "divide": 1, "float": 1, "shuffle": 1, "call": 1}


def test_loops_and_classes_of_aarch64() -> None:
    outside, vector = loops_of(AARCH64, "f")
    assert (vector.name, vector.depth, vector.bits) == ("vector.body", 1, 128)
    once = "load multiply shuffle convert mask vector store integer branch".split()
    assert counts(vector) == dict.fromkeys(once, 1)
    assert counts(outside) == {"branch": 1, "divide": 1, "float": 1, "move": 1, "call": 1, "integer": 1}


@pytest.mark.parametrize("text", ["", X86.replace("\nf: ", "\nh: ")])
def test_a_function_that_is_not_there(text: str) -> None:
    assert loops_of(text, "f") == []


def test_scalars_in_vector_registers_are_no_wide_vectors() -> None:
    code = ("vmulsd\t8(%rax), %xmm0, %xmm0", "vaddpd\t%xmm0, %xmm1, %xmm1", "vaddss\t%xmm0, %xmm1, %xmm1")
    text = "\n\t".join(["f:  # @f\n# %bb.0:", *code, ""])
    (loop,) = loops_of(text, "f")
    assert counts(loop) == {"load": 1, "multiply": 1, "vector": 1, "float": 1}
    assert loop.bits == 128
    (narrow,) = loops_of(text.replace("vaddpd", "vaddsd"), "f")
    assert (narrow.bits, counts(narrow)["float"]) == (64, 2)
    assert not np.isnan(narrow.counts).any()


BRANCHES = """
f:                                      # @f
# %bb.0:                                # %entry
	je	.LBB1_4
.LBB1_1:                                # %loop
                                        # =>This Inner Loop Header: Depth=1
	testl	%ebx, %ebx
	je	.LBB1_3
# %bb.2:                                #   in Loop: Header=BB1_1 Depth=1
	addl	%eax, (%rcx)
	vmaskmovps	%ymm0, %ymm1, (%rcx)
	vmaskmovps	(%rcx), %ymm1, %ymm2
.LBB1_3:                                #   in Loop: Header=BB1_1 Depth=1
	addq	$8, %rax
	je	.LBB1_4
	cmpq	%rax, %rdx
	jne	.LBB1_1
.LBB1_4:                                # %out
	retq
.Lfunc_end1:
"""


def test_what_a_jump_inside_a_loop_may_skip() -> None:
    """Three instructions, of which one stores under a mask; what is after the jump out of the loop always runs.

    A store under a mask also reads what it leaves.
    """
    outside, loop = loops_of(BRANCHES, "f")
    skipped = {name: count for name, count in zip(CLASSES, loop.skipped.tolist(), strict=True) if count}
    assert skipped == {"load": 3, "store": 2, "mask": 2, "integer": 1}
    assert (loop.masked_stores, outside.skipped.any()) == (1, False)
    assert not loops_of(BRANCHES, "f", branches=False)[1].skipped.any()
