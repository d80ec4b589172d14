"""Forms: LLVM's passes over a module, what is taken off before them, what they delete, and what they cannot take."""

import re

import pytest
from unoptimised_ir import GROWS, SUM

from mirenc.base.errors import ConfigError, IRResourceError
from mirenc.llvm import IRModule, ReadOptions, parse_ir
from mirenc.llvm.child.parsing_worker import ParsingWorker
from mirenc.llvm.ir.lines import without_hints
from mirenc.llvm.ir.read import in_form
from mirenc.llvm.passes.optimise import FORMS, keep_bodies, without_optnone


def read(text: str, form: str) -> IRModule:
    return parse_ir(text, options=ReadOptions(form=form))  # type: ignore[arg-type]  # one of FORMS


def opcodes(module: IRModule) -> set[str]:
    return {form.opcode for form in module.forms}


def names(module: IRModule | None) -> list[str]:
    return [] if module is None else [function.name for function in module.defined_functions]


def test_plain_is_the_ir_as_it_is() -> None:
    assert read(SUM, "plain").text == parse_ir(SUM).text
    assert read(SUM, "plain").form == "plain"


@pytest.mark.parametrize("form", [form for form in FORMS if form != "plain"])
def test_no_variable_of_minus_o0_is_left_in_memory(form: str) -> None:
    module = read(SUM, form)
    assert module.form == form
    assert not {"alloca", "load", "store"} & opcodes(module)


FORBIDDEN = """define i32 @f(i32 %x) local_unnamed_addr {
  %y = tail call i32 @g(i32 %x)
  ret i32 %y
}
define internal i32 @g(i32 %x) #0 {
  %y = mul i32 %x, %x
  ret i32 %y
}
attributes #0 = { noinline }
"""
WRITTEN = """@state = internal global i32 7
define internal i32 @get() {
  %v = load i32, ptr @state
  ret i32 %v
}
define void @set(i32 %v) {
  store i32 %v, ptr @state
  ret void
}
"""
# A module; its functions at -O2, and those that passes delete.
KEPT = {
    "a function that is inlined everywhere": (SUM, "sum", "square"),
    "noinline of -O0": (SUM.replace(" optnone", ""), "sum", "square"),
    "functions that nobody calls": (SUM.replace("dso_local", "internal"), "sum square", ""),
    "noinline of an optimised module": (FORBIDDEN, "f g", ""),
    # What a body is needed for has no second row.
    "an alias": (f"@a = alias i32 (i32), ptr @sum\n{SUM}", "sum", "square"),
    "the address of a block": (f"@a = global ptr blockaddress(@sum, %head)\n{SUM}", "sum", "square"),
    "a target that llvmlite lacks": (f'target triple = "spir64-unknown-unknown"\n{SUM}', "sum", "square"),
    # What stores into @state is gone with @set: were the variable local, its load would be folded to 7.
    "a variable that others write": (WRITTEN, "set", "get"),
}


@pytest.mark.parametrize(("text", "remaining", "deleted"), KEPT.values(), ids=KEPT)
def test_which_functions_passes_keep(text: str, remaining: str, deleted: str) -> None:
    module = read(text, "O2")
    assert (module.form, names(module), names(module.deleted)) == ("O2", remaining.split(), deleted.split())
    assert module.deleted is None or ("load" in opcodes(module.deleted)) == (deleted == "get")


def test_a_module_and_its_text_have_one_form() -> None:
    hints = SUM.replace("ret i32 %9", "ret i32 %9, !x !0").replace("#0 {", "#0 !prof !1 {")
    hints += '!0 = !{!"x"}\n!1 = !{!"function_entry_count", i64 3}\n'
    assert in_form(parse_ir(hints), ReadOptions(form="O2")).text == read(hints, "O2").text


def test_forms_that_are_refused() -> None:
    with pytest.raises(ConfigError, match="unknown form 'O4'; available: plain, light, O1, O2, O3, Os, Oz"):
        ReadOptions(form="O4")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="have brought it to the form O2, which cannot be undone"):
        in_form(read(SUM, "O2"), ReadOptions(form="Oz"))


def test_noinline_goes_only_where_it_stands_beside_optnone() -> None:
    text = "attributes #0 = { noinline nounwind optnone }\nattributes #1 = { noinline nounwind }\n"
    text = without_optnone(parse_ir("define void @f() #0 { ret void }\ndefine void @g() #1 { ret void }\n" + text).text)
    groups = re.findall(r"^attributes #\d+ = \{(.*)\}$", text, re.MULTILINE)
    assert [words.split() for words in groups] == [["nounwind"], ["noinline", "nounwind"]]


def test_for_size_means_the_attributes_that_clang_gives() -> None:
    words = {form: {"minsize", "optsize"} & set(read(SUM, form).text.split()) for form in ("O2", "Os", "Oz")}
    assert words == {"O2": set(), "Os": {"optsize"}, "Oz": {"minsize", "optsize"}}


def test_keep_bodies_turns_other_bodies_into_declarations() -> None:
    text = parse_ir(
        "define internal fastcc i32 @f(i32 %x) #0 {\n  ret i32 %x\n}\n"
        "define hidden fastcc i32 @g(ptr nonnull %x) #0 personality ptr @f {\n  ret i32 1\n}\n"
        "attributes #0 = { nounwind }\n"
    ).text
    lines = keep_bodies(text, {"f"}).splitlines()
    assert "define fastcc i32 @f(i32 %x) #0 {" in lines
    assert "declare hidden fastcc i32 @g(ptr nonnull %x) #0" in lines


def test_ir_that_the_passes_cannot_take_stays_plain(caplog: pytest.LogCaptureFixture) -> None:
    module = parse_ir(GROWS, options=ReadOptions(form="O2", max_bytes=2000))
    assert module.form == "plain"
    assert module.text == parse_ir(GROWS).text
    assert "cannot be brought to the form O2" in caplog.text
    assert "plain" in caplog.text


def test_passes_that_die_cost_their_module_its_form_alone(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    canonicalise = ParsingWorker.canonicalise

    def dies(self: ParsingWorker, data: bytes, **options: object) -> str:
        if options.get("passes") is not None:
            raise IRResourceError("LLVM ended its process (SIGABRT) on this module")
        return canonicalise(self, data, **options)  # type: ignore[arg-type]  # as they came

    monkeypatch.setattr(ParsingWorker, "canonicalise", dies)
    module = read(SUM, "O2")
    assert module.form == "plain"
    assert names(module) == ["sum", "square"]
    assert "cannot be brought to the form O2" in caplog.text


def test_functions_without_names_are_numbered_anew_by_passes_so_they_stay_plain(
    caplog: pytest.LogCaptureFixture,
) -> None:
    text = "@0 = private constant i32 5\n"
    text += "define internal i32 @1(i32 %x) {\n  %y = load i32, ptr @0\n  ret i32 %y\n}\n"
    text += "define i32 @g(i32 %x) {\n  %r = call i32 @1(i32 %x)\n  ret i32 %r\n}\n"
    module = read(text, "O2")
    assert (module.form, names(module)) == ("plain", ["1", "g"])
    assert "some functions have no names" in caplog.text


# IR around a function that passes delete: what was cut out of headers and groups by hand.
NASTY = {
    "an @ in a type's name": ('%"a@b" = type {{ i32 }}', "internal", '%"a@b"', "", ""),
    "dllimport": ("", "available_externally dllimport", "i32", "", ""),
    "a group that ends like an empty one": ("", "internal", "i32", "#0", 'optsize "k"="{ }"'),
    "a group that would be empty": ("", "internal", "i32", "#0", "optsize"),
    "debugging": ("", "internal", "i32", "#0", "optdebug"),
    "an address space": ("", "internal", "i32", "addrspace(1)", ""),
}


@pytest.mark.parametrize("form", ["O2", "Oz"])
@pytest.mark.parametrize(("before", "linkage", "result", "behind", "group"), NASTY.values(), ids=NASTY)
def test_valid_ir_stays_valid(before: str, linkage: str, result: str, behind: str, group: str, form: str) -> None:
    space = "addrspace(1) " if "addrspace" in behind else ""
    body = f"  %r = insertvalue {result} undef, i32 %x, 0\n  ret {result} %r" if "%" in result else "  ret i32 %x"
    text = (
        before.replace("{{", "{").replace("}}", "}")
        + f"\ndefine {linkage} {result} @inner(i32 %x) {behind} {{\n{body}\n}}\n"
    )
    text += f"define i32 @outer(i32 %x) {{\n  %r = call {space}{result} @inner(i32 %x)\n  ret i32 %x\n}}\n"
    text += f"attributes #0 = {{ {group} }}\n" if group else ""
    module = read(text, form)
    assert module.form == form
    assert sorted([*names(module), *names(module.deleted)]) == ["inner", "outer"]


def test_of_attachments_places_and_those_that_bpf_needs_stay() -> None:
    expected = "  %p = load i32, ptr %q, !dbg !5, !llvm.preserve.access.index !7"
    assert without_hints(expected.replace(", !llvm", ", !tbaa !9, !llvm") + ", !prof !3") == expected
    assert without_hints("  %p = load i32, ptr %q, !tbaa !9") == "  %p = load i32, ptr %q"
