"""Calls of a module, and decisions written at them."""

from __future__ import annotations

from mirenc.llvm import parse_ir
from mirenc.tools.inline import Call, calls_of

MODULE = """define internal i32 @small(i32 %x) {
  %y = add i32 %x, 1
  ret i32 %y
}

define linkonce_odr i32 @"two words"(i32 %x) #0 {
  %y = mul i32 %x, %x
  ret i32 %y
}

define i32 @never(i32 %x) #1 {
  ret i32 %x
}

define i32 @first(i32 %x, ptr %f) personality ptr @never {
  %a = call i32 @small(i32 noundef %x) #2, !note !0
  %b = tail call fastcc noundef i32 @small(i32 range(i32 0, 9) %a)
  %c = call i32 %f(ptr @small)
  %d = call i32 @never(i32 %c)
  %e = invoke i32 @"two words"(i32 %d)
          to label %good unwind label %bad
good:
  %g = call i32 @first(i32 %e, ptr %f)
  %h = call i32 @small(i32 %g) noinline
  %i = call i32 @small(i32 %h) #1
  %j = call i32 @elsewhere(i32 %i)
  ret i32 %b
bad:
  %p = landingpad { ptr, i32 } cleanup
  ret i32 0
}

define i32 @second(i32 %x) #3 {
  %a = call i32 @small(i32 %x)
  ret i32 %a
}

declare i32 @elsewhere(i32)

attributes #0 = { minsize }
attributes #1 = { noinline }
attributes #2 = { nounwind "note"="noinline, or not" }
attributes #3 = { noinline optnone }

!0 = !{}
"""


def test_calls_that_llvm_decides_about() -> None:
    calls = calls_of(MODULE)
    assert calls.calls == (Call("first", "small", 0), Call("first", "small", 1), Call("first", "two words", 0))
    assert calls.local == {"small", "two words"}


def test_decisions_are_words_at_the_calls() -> None:
    calls = calls_of(MODULE)
    assert calls.decided({}) == MODULE
    text = calls.decided({2: False, 0: True})
    assert '@small(i32 noundef %x) "function-inline-cost"="0" #2, !note !0' in text
    assert '@"two words"(i32 %d) noinline\n          to label' in text
    assert len(text) == len(MODULE) + len(' "function-inline-cost"="0"') + len(" noinline")
    parse_ir(text)  # LLVM reads it
    assert calls_of(text).calls == (Call("first", "small", 0), Call("first", "small", 1))


def test_text_that_looks_like_a_call_is_none() -> None:
    text = """@.str = constant [28 x i8] c"  %y = call i32 @small(i32 1"
%"a class" = type { i32 }
define %"a class" @small(i32 %x) {
  ret %"a class" zeroinitializer
}
define void @f(ptr %p) {
  call void asm sideeffect "  call void @small(i32 1)", "~{memory}"(), !note !0
  %"call @small(" = tail call %"a class" @small(i32 1)
  call void %p(ptr @small)
  ret void
}
!0 = !{!"  call void @small(i32 1)"}
"""
    calls = calls_of(text)
    assert calls.calls == (Call("f", "small", 0),)
    expected = text.replace('tail call %"a class" @small(i32 1)', 'tail call %"a class" @small(i32 1) noinline')
    assert calls.decided({0: False}) == expected
    parse_ir(expected)


def test_what_passes_have_kept() -> None:
    calls = calls_of(MODULE)
    assert calls.kept(MODULE) == [True, True, True]
    without = MODULE.replace("%b = tail call fastcc noundef i32 @small(i32 range(i32 0, 9) %a)", "%b = add i32 1, 2")
    assert calls.kept(without) == [True, False, True]
