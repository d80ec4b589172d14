"""What LLVM's vectorizer would choose for a loop, by the LLVM that comes with llvmlite."""

from typing import Any

import pytest

from mirenc.base.child_process import ChildProcess, EndedError
from mirenc.llvm import parse_ir
from mirenc.llvm.passes import vectorizer
from mirenc.llvm.passes.vectorizer import follows_hints, vectorizer_choices

# Two loops that any LLVM vectorises, one within another loop, and one that carries a value from round to round.
LOOPS = """
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

define void @halved(ptr noalias %a, i64 %n) #0 {
entry:
  br label %rows
rows:
  %r = phi i64 [ 0, %entry ], [ %r.next, %rows.end ]
  %row = getelementptr float, ptr %a, i64 %r
  br label %loop
loop:
  %i = phi i64 [ 0, %rows ], [ %i.next, %loop ]
  %p = getelementptr float, ptr %row, i64 %i
  %x = load float, ptr %p
  %y = fmul float %x, 5.000000e-01
  store float %y, ptr %p
  %i.next = add nuw nsw i64 %i, 1
  %done = icmp eq i64 %i.next, 1024
  br i1 %done, label %rows.end, label %loop, !llvm.loop !0
rows.end:
  %r.next = add nuw nsw i64 %r, 1024
  %all = icmp ult i64 %r.next, %n
  br i1 %all, label %rows, label %out
out:
  ret void
}

define i32 @carried(ptr noalias %a, i64 %n) #0 {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %i.next, %loop ]
  %h = phi i32 [ 1, %entry ], [ %h.next, %loop ]
  %p = getelementptr i32, ptr %a, i64 %i
  %x = load i32, ptr %p
  %m = mul i32 %h, %x
  %h.next = udiv i32 %m, 3
  store i32 %h.next, ptr %p
  %i.next = add nuw nsw i64 %i, 1
  %done = icmp eq i64 %i.next, %n
  br i1 %done, label %out, label %loop
out:
  ret i32 %h
}

attributes #0 = { nounwind "target-cpu"="x86-64" "target-features"="+sse2" }

!0 = distinct !{!0, !1}
!1 = !{!"llvm.loop.unroll.disable"}
"""


def test_wider_vectors_and_a_loop_that_has_none() -> None:
    module = parse_ir(LOOPS)
    widths = []
    for bits in (128, 256, 512):
        choices = vectorizer_choices(module, bits)
        assert set(choices) == {("halved", "%loop"), ("carried", "%loop")}
        assert choices["carried", "%loop"] == (1, 1)
        widths.append(choices["halved", "%loop"])
    assert [width for width, _ in widths[:2]] == [4, 8]
    assert widths[2][0] >= 8
    # That the loop must not be unrolled is said of its IR, and LLVM would take it for a word against interleaving.
    assert widths[0][1] > 1


@pytest.mark.parametrize(
    ("text", "bits"),
    [
        (LOOPS, 64),
        (LOOPS.replace("x86_64", "riscv64"), 128),
        ("define void @f() {\n  ret void\n}", 128),
        (LOOPS[: LOOPS.index("define")] + "define void @f() {\n  ret void\n}", 128),
    ],
)
def test_without_a_known_processor_there_are_no_choices(text: str, bits: int) -> None:
    assert vectorizer_choices(parse_ir(text), bits) == {}


def test_only_what_may_be_vectorised_follows_a_hint() -> None:
    strided = LOOPS.replace("float, ptr %row", "[9 x float], ptr %row")  # LLVM would rather not, but it may
    module = parse_ir(strided)
    assert vectorizer_choices(module, 128)["halved", "%loop"] == (1, 1)
    assert follows_hints(module, 128) == {("halved", "%loop")}
    # Where nobody knows, each may.
    assert follows_hints(parse_ir(LOOPS.replace("x86_64", "riscv64")), 128) == {
        ("halved", "%loop"),
        ("carried", "%loop"),
    }


def test_aarch64_vectorises_four_floats() -> None:
    choices = vectorizer_choices(parse_ir(LOOPS.replace("x86_64", "aarch64")), 128)
    assert choices.get(("halved", "%loop"), (4, 1))[0] == 4  # an llvmlite may be built without it


def test_scope_declarations_left_by_inlining_change_no_choice() -> None:
    scope = "call void @llvm.experimental.noalias.scope.decl(metadata !9)"
    inlined = LOOPS.replace("entry:\n", f"entry:\n  {scope}\n", 1)
    inlined += "declare void @llvm.experimental.noalias.scope.decl(metadata)\n"
    inlined += "!9 = !{!10}\n!10 = distinct !{!10, !11}\n!11 = distinct !{!11}\n"
    module = parse_ir(inlined)
    assert scope.partition("(")[0] in module.text
    choices = vectorizer_choices(module, 256)
    assert choices == vectorizer_choices(parse_ir(LOOPS), 256)
    assert choices


def test_an_llvm_that_does_not_answer_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    module = parse_ir(LOOPS.replace("@halved", "@other"))

    def hangs(*words: Any, **more: Any) -> None:
        raise EndedError("timeout", "not done within 60 s")

    monkeypatch.setattr(ChildProcess, "_receive", hangs)
    assert vectorizer_choices(module, 128) == {}


def test_a_module_is_asked_about_once_for_all_its_loops(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    for name in ("ask_llvm", "marked"):
        real = getattr(vectorizer, name)
        monkeypatch.setattr(
            vectorizer, name, lambda *words, name=name, real=real, **more: calls.append(name) or real(*words, **more)
        )
    module = parse_ir(LOOPS.replace("@halved", "@third"))
    assert vectorizer_choices(module, 128) == vectorizer_choices(module, 128)
    assert calls == ["marked", "ask_llvm"]
    vectorizer_choices(module, 256)
    assert calls == 2 * ["marked", "ask_llvm"]
