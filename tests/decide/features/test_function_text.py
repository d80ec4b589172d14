"""`function_text`: the function stays, what it refers to is declared, and LLVM 16 has a word for all of it."""

from __future__ import annotations

import numpy as np
import pytest
from ir_views import instructions_of

from mirenc.base.errors import TaskError
from mirenc.decide.features.feature_matrix import ir2vec_text
from mirenc.decide.features.ir2vec import for_llvm_16, function_text, ir2vec_vectors
from mirenc.llvm import parse_ir

# As clang 19 to 22 write it: every hint here is one that LLVM 16 refuses.
MODULE = """
%pair = type { i32, i32 }
@table = internal constant [4 x i8] c"abc\\00"

define internal i32 @helper(ptr %p) #0 {
  %v = load i32, ptr %p
  ret i32 %v
}

define range(i32 0, 100) i32 @"odd name"(ptr captures(none) initializes((0, 4)) %p, i8 %x, i64 %n) #0 {
  %w = zext nneg i8 %x to i32
  %u = or disjoint i32 %w, 256
  %t = trunc nuw nsw i64 %n to i32
  %c = icmp samesign ult i32 %t, %u
  %q = getelementptr inbounds nuw %pair, ptr %p, i64 %n, i32 1
  %h = call i32 @helper(ptr %q) #1
  %s = call i32 @outside(ptr @table, i32 %h)
  %f = uitofp nneg i32 %w to float
  %r = select i1 %c, i32 %s, i32 %u
  store i32 %r, ptr %p, !tbaa !0
  ret i32 %r
}

declare i32 @outside(ptr, i32) #1

attributes #0 = { nofree memory(read) }
attributes #1 = { nounwind }

!0 = !{!1, !1, i64 0}
!1 = !{!"int", !2, i64 0}
!2 = !{!"root"}
"""


def test_one_function_keeps_its_body_and_the_others_are_declared() -> None:
    text = function_text(parse_ir(MODULE).text, "odd name")
    assert text.count("define ") == 1
    assert 'i32 @"odd name"(' in text
    assert "declare dso_local i32 @helper(ptr %p)" in text
    assert "declare i32 @outside(ptr, i32)" in text
    assert "@table" in text
    # It is still IR, with the same instructions.
    again = parse_ir(text)
    (function,) = again.defined_functions
    assert [one.opcode for one in instructions_of(function)] == [
        one.opcode for one in instructions_of(parse_ir(MODULE).defined_functions[1])
    ]


@pytest.mark.parametrize(
    "word", ["nneg", "disjoint", "trunc nuw", "samesign", "inbounds nuw", "captures", "initializes", "range(", "!", "#"]
)
def test_what_llvm_16_has_no_word_for_is_left_out(word: str) -> None:
    text = parse_ir(MODULE).text
    body = "\n".join(line for line in function_text(text, "odd name").splitlines() if not line.startswith(";"))
    assert word in text
    assert word not in body


def test_a_whole_module_keeps_its_functions_and_the_programs_own_words() -> None:
    words = "bytes of memory(%d pieces) #1, or disjoint"
    constant = f'@said = constant [{len(words) + 1} x i8] c"{words}\\00"\n'
    text = for_llvm_16(parse_ir(constant + MODULE).text)
    assert text.count("define ") == 2
    assert words in text
    body = text[text.index("define ") :]
    assert not [word for word in ("nneg", "disjoint", "captures", "range(", "!", "#") if word in body]


@pytest.mark.needs("IR2Vec")
def test_the_wheel_reads_a_module_that_llvm_22_printed() -> None:
    module = parse_ir(f'@said = constant [15 x i8] c" #1 memory(%d)\\00"\n{MODULE}')
    assert ir2vec_vectors([ir2vec_text(module.text, module, None)])[1] == 0


def test_a_function_without_a_body_is_refused() -> None:
    for name in ("outside", "nobody"):
        with pytest.raises(TaskError, match=name):
            function_text(parse_ir(MODULE).text, name)


@pytest.mark.needs("IR2Vec")
def test_the_wheel_reads_both_functions() -> None:
    text = parse_ir(MODULE).text
    vectors, failed = ir2vec_vectors([function_text(text, name) for name in ("helper", "odd name")])
    assert failed == 0
    assert np.abs(vectors[0] - vectors[1]).max() > 0
