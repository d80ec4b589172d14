"""The level that IR was compiled at, told from the IR: each rule by hand, and what compilers write at each level."""

from pathlib import Path

import pytest

from mirenc.llvm import ReadOptions, parse_ir, read_ir
from mirenc.llvm.analysis.detect_level import level_of, levels_of_functions

IN_MEMORY = """define i32 @in_memory(i32 %x) GROUP {
  %a = alloca i32
  store i32 %x, ptr %a
  %y = load i32, ptr %a
  ret i32 %y
}
"""
IN_REGISTERS = "define i32 @in_registers(i32 %x) MARK GROUP {\n  ret i32 %x\n}\n"
OPTIMISED = IN_REGISTERS.replace("MARK GROUP", "local_unnamed_addr")

LOOP = """declare i1 @more()
define void @loop() local_unnamed_addr {
  br label %first
first:
  %one = tail call i1 @more()
  br i1 %one, label %first, label %second, !llvm.loop !0
second:
  %two = tail call i1 @more()
  br i1 %two, label %second, label %out, !llvm.loop !1
out:
  ret void
}
!0 = distinct !{!0, FIRST}
!1 = distinct !{!1, SECOND}
!2 = !{!"llvm.loop.mustprogress"}
!3 = !{!"llvm.loop.unroll.disable"}
"""
CLANG = '!llvm.ident = !{!9}\n!9 = !{!"Debian clang version 19.1.7"}\n'


def loops(first: str, second: str) -> str:
    """A module with two loops of these properties."""
    return LOOP.replace("FIRST", first).replace("SECOND", second)


@pytest.mark.parametrize(
    ("words", "level"),
    [
        ("noinline optnone", "O0"),
        ("nounwind", "O0"),  # no sign of any optimiser
        ("nounwind nosync", "O2"),
        ("optsize", "Os"),
        ("minsize optsize", "Os"),
        ('"optsize"="false"', "O0"),
    ],
)
def test_words_of_a_function(words: str, level: str) -> None:
    text = IN_REGISTERS.replace("MARK GROUP", "#0") + f"attributes #0 = {{ {words} }}\n"
    assert level_of(parse_ir(text)) == level


def test_a_mark_of_an_optimiser_alone() -> None:
    assert level_of(parse_ir(OPTIMISED)) == "O2"
    assert level_of(parse_ir(OPTIMISED.replace("local_unnamed_addr", "unnamed_addr"))) == "O0"  # front ends write that
    call = "declare void @g()\ndefine void @f() unnamed_addr {\n  tail call void @g()\n  ret void\n}\n"
    assert level_of(parse_ir(call)) == "O2"
    assert level_of(parse_ir(call.replace("tail", "musttail"))) == "O0"  # front ends write that, too


@pytest.mark.parametrize(
    ("old", "new", "level"),
    [
        ("", "", "O0"),
        ("load i32", "load volatile i32", "O2"),
        ("store i32", "store volatile i32", "O2"),
        ("ret i32 %y", "call void @llvm.lifetime.end.p0(ptr %a)\n  ret i32 %y", "O0"),
        ("ret i32 %y", "call void @escape(ptr %a)\n  ret i32 %y", "O2"),
        ("store i32 %x, ptr %a", "store ptr %a, ptr @g", "O2"),  # its address is stored
        ("load i32, ptr %a", "load i32, ptr @g", "O0"),  # stored to is enough
        ("alloca i32", "alloca [4 x i32]\n  %b = getelementptr i32, ptr %a, i64 1", "O2"),
    ],
)
def test_a_variable_that_the_first_pass_would_end(old: str, new: str, level: str) -> None:
    rest = "@g = global ptr null\ndeclare void @escape(ptr)\ndeclare void @llvm.lifetime.end.p0(ptr)\n"
    function = IN_MEMORY.replace("GROUP", "local_unnamed_addr").replace(old, new)
    assert levels_of_functions(parse_ir(rest + function)) == [level]


def test_functions_of_one_module_may_differ() -> None:
    small = OPTIMISED.replace("local_unnamed_addr", "local_unnamed_addr #0").replace("in_", "small_in_")
    alone = IN_MEMORY.replace("GROUP", "#1").replace("in_", "alone_in_")
    text = IN_MEMORY.replace("GROUP", "") + "declare void @g()\n" + small + OPTIMISED + alone
    module = parse_ir(text + "attributes #0 = { optsize }\nattributes #1 = { noinline optnone }\n")
    assert [function.name for function in module.defined_functions][1] == "small_in_registers"
    assert levels_of_functions(module) == ["O0", "Os", "O2", "O0"]
    # Of most functions, not of half.
    assert level_of(module) == "O2"
    assert level_of(parse_ir(OPTIMISED + IN_MEMORY.replace("GROUP", "") + alone.replace("#1", ""))) == "O0"


def test_a_group_is_found_behind_whatever_stands_before_it() -> None:
    lines = [
        'define void @"a) #1"(ptr byval(i32) %x) unnamed_addr #0 {',
        'define void @b(ptr dereferenceable(8) %x) addrspace(0) #0 section ") #1" personality ptr @p {',
    ]
    text = "declare i32 @p(...)\n" + "".join(f"{line}\n  ret void\n}}\n" for line in lines)
    groups = "attributes #0 = { optsize }\nattributes #1 = { optnone noinline }\n"
    assert levels_of_functions(parse_ir(text + groups)) == ["Os", "Os"]


@pytest.mark.parametrize(
    ("first", "second", "level"),
    [
        ("!2, !3", "!2, !3", "O1"),
        ("!2, !3", "!3", "O1"),  # a `while (1)` of C need not end
        ("!2", "!3", "O2"),  # a remainder of unrolling
        ("!2, !3", "!2", "O2"),
        ("!2", "!2", "O2"),
    ],
)
def test_loops_of_clang(first: str, second: str, level: str) -> None:
    assert level_of(parse_ir(loops(first, second))) == level


def test_remainders_alone_say_something_of_clang_alone() -> None:
    assert level_of(parse_ir(loops("!3", "!3"))) == "O2"
    assert level_of(parse_ir(loops("!3", "!3") + CLANG)) == "O1"


def test_scopes_of_aliases_are_no_loops() -> None:
    scope = "define void @f(ptr %p) local_unnamed_addr {\n  store i32 1, ptr %p, !alias.scope !10\n  ret void\n}\n"
    nodes = '!10 = !{!11}\n!11 = distinct !{!11, !12, !"f: x"}\n!12 = distinct !{!12, !"f"}\n'
    assert level_of(parse_ir(loops("!2, !3", "!2, !3") + scope + nodes)) == "O1"
    assert level_of(parse_ir(scope + nodes + CLANG)) == "O2"


CALL = "declare void @g(ptr)\ndefine void @f(ptr %p) local_unnamed_addr {\n  call void @g(ptr %p)\n  ret void\n}\n"


DECIDED = """define i32 @f(i1 %c, i32 %x) local_unnamed_addr {
  br i1 %c, label %there, label %join
there:
  br label %join
join:
  %value = phi i32 [ 7, %0 ], [ %x, %there ]
  %is_seven = icmp eq i32 %value, 7
  br i1 %is_seven, label %yes, label %no
yes:
  ret i32 1
no:
  ret i32 2
}
"""


FOUND = """declare void @g(i32, ptr, ptr)
define void @f(ptr %p, ptr %q, ptr %pq) local_unnamed_addr {
  %is_null = icmp eq ptr %p, null
  br i1 %is_null, label %null, label %found
null:
  tail call void @g(i32 1, ptr %q, ptr %q)
  ret void
found:
  tail call void @g(i32 2, ptr nonnull %pq, ptr noundef %p)
  ret void
}
"""


@pytest.mark.parametrize(
    ("text", "old", "new", "level"),
    [
        # Calls that nobody marked.
        (CALL, "", "", "O1"),
        (CALL, "  call", "  tail call", "O2"),
        (CALL, "  call", "  %a = alloca i32\n  call", "O2"),  # the call may use it
        (CALL, "(ptr %p)", "(ptr byval(i32) %p)", "O2"),
        (CALL, "@g", "@llvm.va_end.p0", "O2"),
        (CALL, "addr {", 'addr "disable-tail-calls"="true" {', "O2"),
        # A branch that the way there has decided.
        (DECIDED, "", "", "O1"),
        (DECIDED, "[ 7, %0 ]", "[ %x, %0 ]", "O2"),
        (DECIDED, "eq i32 %value, 7", "eq i32 %value, %x", "O2"),
        (DECIDED, "ret i32 2", "br label %no", "O2"),  # a loop
        (DECIDED, "br i1 %is_seven, label %yes, label %no", "switch i32 %value, label %yes [ i32 5, label %no ]", "O1"),
        # A pointer that a branch found not to be null.
        (FOUND, "", "", "O1"),
        (FOUND, "noundef %p)", "nonnull noundef %p)", "O2"),
        (FOUND, "ptr noundef %p)", "ptr noundef %q)", "O2"),
        (FOUND, "eq ptr", "ne ptr", "O2"),  # the pointer is null there
        (FOUND, "br i1 %is_null, label %null, label %found", "br i1 %is_null, label %found, label %null", "O2"),
        (FOUND, "1, ptr %q, ptr %q)\n  ret void", "1, ptr %q, ptr %q)\n  br label %found", "O2"),  # reached, too
        (FOUND, "null\n", "%q\n", "O2"),
    ],
)
def test_what_passes_of_o2_would_not_leave(text: str, old: str, new: str, level: str) -> None:
    changed = text.replace(old, new) if text is not FOUND else text.replace(old, new, 1)
    assert level_of(parse_ir(changed)) == level


SOURCE = """int next(int *);
static int square(int x) { return x * x; }
int sum(int *values, int count) {
  int total = 0;
  for (int i = 0; i < count; i++) total += square(values[i]);
  return total;
}
int ask(int x) { int y = x + 1; return next(&y) + y; }
__attribute__((optnone, noinline)) int left_alone(int x) { int y = x; return y; }
"""
WANTED = {"O0": "O0", "O1": "O1", "O2": "O2", "O3": "O2", "Os": "Os", "Oz": "Os"}


@pytest.mark.needs("C compiler")
@pytest.mark.parametrize("flag", [*WANTED, "O0 -Xclang -disable-O0-optnone", "O2 -g", "O1 -g"])
def test_what_compilers_write(tmp_path: Path, compiler: str, flag: str) -> None:
    source = tmp_path / "source.c"
    source.write_text(SOURCE)
    module = read_ir(source, options=ReadOptions(cflags=tuple(f"-{flag}".split())))
    level = WANTED[flag[:2]]
    if compiler == "zig" and level == "O1":
        level = "O2"  # zig has no mode of this level
    assert level_of(module) == level
    levels = dict(zip([one.name for one in module.defined_functions], levels_of_functions(module), strict=True))
    assert levels.pop("left_alone") == "O0"
    assert set(levels.values()) == {level}
