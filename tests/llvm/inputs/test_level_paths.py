"""What paths say of optimisation levels."""

from mirenc.llvm.inputs.level_paths import is_level, level_pairs, program_of


def test_paths_that_differ_in_a_level_alone() -> None:
    assert level_pairs(["a/O0/x.ll", "a/O2/x.ll", "a/Oz/x.ll"]) == [(0, 1), (0, 2), (1, 2)]
    assert level_pairs(["x.O0.ll", "x.O3.ll", "y_O0.bc", "y_Os.bc", "z-O1.ll"]) == [(0, 1), (2, 3)]
    assert level_pairs(["a/O0/x.ll", "b/O2/x.ll"]) == []  # two projects
    assert level_pairs(["a/x.ll", "b/x.ll", "O2.ll", "a/O2x/x.ll"]) == []  # no level said
    assert level_pairs(["a/O0/x.ll", "a/O0/x.ll", "a/O2/x.ll"]) == [(0, 2), (1, 2)]  # one given twice is at one level


def test_one_program_at_all_its_levels() -> None:
    assert program_of("a/O0/x.ll") == program_of("a/Oz/x.ll") == ("a", "O", "x.ll")
    assert program_of("x.O0.ll") == program_of("x.O3.ll") != program_of("y.O3.ll")
    assert [name for name in ("O0", "O4", "Os", "Og", "xO0", "O0x") if is_level(name)] == ["O0", "Os"]
