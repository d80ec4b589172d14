"""What stands in the way of LLVM's passes in IR of clang -O0."""

import pytest

from mirenc.ir.forms import without_optnone

TEXT = """define void @f() #0 {
  ret void
}

define linkonce_odr void @g(ptr sret(i32) %0) #1 align 2 personality ptr @p {
  call void @f() #2
  ret void
}

attributes #0 = { FIRST }
attributes #1 = { SECOND }
attributes #2 = { noinline nounwind }
"""


@pytest.mark.parametrize(
    ("first", "second", "left"),
    [
        ("noinline nounwind optnone uwtable", "noinline optnone uwtable", ("nounwind uwtable", "uwtable")),
        # clang -O0 -Xclang -disable-O0-optnone; a function that is always inlined has no noinline.
        ("noinline nounwind uwtable", "alwaysinline nounwind", ("nounwind uwtable", "alwaysinline nounwind")),
        # The author's.
        ("noinline nounwind", "nounwind", ("noinline nounwind", "nounwind")),
        ("noinline nounwind", "noinline optnone uwtable", ("nounwind", "uwtable")),
    ],
)
def test_optnone_and_the_noinline_of_o0_are_taken_off(first: str, second: str, left: tuple[str, str]) -> None:
    text, expected = (TEXT.replace("FIRST", one).replace("SECOND", two) for one, two in ((first, second), left))
    assert without_optnone(text) == expected


def test_one_function_without_attributes_says_that_noinline_is_the_authors() -> None:
    text = TEXT.replace(" #1 align", " align").replace("FIRST", "noinline nounwind").replace("SECOND", "nounwind")
    assert without_optnone(text) == text
