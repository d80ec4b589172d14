"""What stands in the way of LLVM's passes in IR of clang -O0."""

import pytest

from mirenc.ir import ReadOptions, parse_ir
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
        # LLVM refuses a group without attributes.
        ("noinline optnone", "nounwind", ('"none"', "nounwind")),
    ],
)
def test_optnone_and_the_noinline_of_o0_are_taken_off(first: str, second: str, left: tuple[str, str]) -> None:
    text, expected = (TEXT.replace("FIRST", one).replace("SECOND", two) for one, two in ((first, second), left))
    assert without_optnone(text) == expected


def test_one_function_without_attributes_says_that_noinline_is_the_authors() -> None:
    text = TEXT.replace(" #1 align", " align").replace("FIRST", "noinline nounwind").replace("SECOND", "nounwind")
    assert without_optnone(text) == text


@pytest.mark.parametrize(("form", "inlined"), [("O2", True), ("Os", False), ("Oz", False)])
def test_forms_for_speed_inline_what_was_left_for_size(form: str, inlined: bool) -> None:
    # Eleven instructions, called twice: more than fits for size, less than at -O2.
    steps = "".join(f"  %v{at + 1} = mul i32 %v{at}, %v{at}\n  call void @step(i32 %v{at + 1})\n" for at in range(5))
    helper = f"define i32 @helper(i32 %v0) #0 {{\n{steps}  ret i32 %v5\n}}\n"
    calls = "  %y = call i32 @helper(i32 %x)\n  %z = call i32 @helper(i32 %y)\n"
    main = f"define i32 @main(i32 %x) #0 {{\n{calls}  ret i32 %z\n}}\n"
    text = f"declare void @step(i32)\n{helper}{main}attributes #0 = {{ minsize optsize }}\n"
    module = parse_ir(text, options=ReadOptions(form=form))  # type: ignore[arg-type]
    main_text = module.text[module.text.index("@main(") :]
    assert ("@helper(" not in main_text) == inlined
