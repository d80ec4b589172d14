"""The shipped trees: what they say of code that anyone can foresee, on IR of either form."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mirenc.base.errors import HeadError
from mirenc.decide import RidgeRegressor, save_head
from mirenc.llvm import parse_ir
from mirenc.tools.profile import TRIP_CLASSES, StaticProfile
from mirenc.tools.profile.static_profile import in_registers

# As clang -O0 has it: variables in memory, and passes told to leave it alone.
IN_MEMORY = """
declare void @abort() noreturn
define i32 @f(ptr %p, i32 %n) #0 {
entry:
  %i = alloca i32
  %k = alloca i32
  store i32 0, ptr %i
  br label %head
head:
  %a = load i32, ptr %i
  %c = icmp slt i32 %a, %n
  br i1 %c, label %body, label %out
body:
  %q = getelementptr i32, ptr %p, i32 %a
  %v = load i32, ptr %q
  %bad = icmp slt i32 %v, 0
  br i1 %bad, label %die, label %inner.start
die:
  call void @abort()
  unreachable
inner.start:
  store i32 0, ptr %k
  br label %inner
inner:
  %x = load i32, ptr %k
  store i32 %x, ptr %q
  %y = add nsw i32 %x, 1
  store i32 %y, ptr %k
  %d = icmp slt i32 %y, 100
  br i1 %d, label %inner, label %next
next:
  %b = add nsw i32 %a, 1
  store i32 %b, ptr %i
  br label %head
out:
  ret i32 %n
}
attributes #0 = { noinline nounwind optnone "frame-pointer"="all" }
"""


def test_obvious_branches_and_constant_loops_are_predicted() -> None:
    module = parse_ir(IN_MEMORY)
    prediction = StaticProfile.load().predict(module)
    assert prediction.block.tolist() == [1, 2, 5]
    head, dies, again = prediction.first_probability.tolist()
    assert head > 0.6
    assert dies < 0.1
    assert again == pytest.approx(0.99)  # its constants say so
    assert prediction.constant_count.tolist() == [0, 100]
    np.testing.assert_allclose(prediction.class_probabilities.sum(axis=1), 1)
    assert prediction.class_probabilities[1].tolist() == [0, 0, 0, 1, 0]
    assert len(TRIP_CLASSES) == prediction.class_probabilities.shape[1]


def test_code_in_memory_and_in_registers_gets_one_prediction() -> None:
    trees = StaticProfile.load()
    module = parse_ir(IN_MEMORY)
    other = in_registers(module)
    assert "alloca" in module.text
    assert "alloca" not in other.text
    for one, two in zip(trees.predict(module), trees.predict(other), strict=True):
        np.testing.assert_allclose(one, two, atol=1e-6)


def test_a_module_without_branches_has_empty_predictions() -> None:
    prediction = StaticProfile.load().predict(parse_ir("define void @f() {\n  ret void\n}\n"))
    assert [each.shape for each in prediction] == [(0,), (0,), (0, 5), (0,)]


def test_what_is_no_profile_is_refused(tmp_path: Path) -> None:
    save_head(RidgeRegressor().fit(np.eye(3), np.arange(3)), tmp_path)
    with pytest.raises(HeadError, match="does not predict profiles"):
        StaticProfile.load(tmp_path)
