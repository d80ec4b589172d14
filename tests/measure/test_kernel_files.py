"""Kernel files are read as they say, and a damaged one is an error that names file and line."""

from pathlib import Path

import pytest

from mirenc.errors import ConfigError
from mirenc.measure import kernel_files
from mirenc.measure.kernel_files import read_family
from mirenc.measure.loops.source import structures

LOOP = """// Sums.
// SHORT: 2 | 3
// weight: 3

// name: sum of some
// T: int | uint8_t/int
// K: SHORT | n / 2
// trip: K
// x: K: P
// P: plain |
//     random 9
static U twice(U x)
{
    return 2 * x;
}

U kernel(const T *x, int k)
{
    U total = 0;

    @for (int i = 0; i < k; i++)
        total += twice(x[i]);
    return total;
}
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel_files, "KERNELS", tmp_path)


def written(folder: Path, text: str) -> Path:
    folder.mkdir()
    path = folder / "07_some_sums.c"
    path.write_text(text)
    return path


def test_a_kernel_is_read_as_its_file_has_it(tmp_path: Path) -> None:
    (one,), lists = read_family(written(tmp_path / "loops", LOOP), {"weight": "2", "trip": "n", "rows": "yes"}, {})
    assert (one.name, one.family, one.returns, one.function) == ("sum of some", "some sums", "U", "kernel")
    assert one.keys == {"weight": "3", "trip": "K", "rows": "yes"}
    assert one.words == {"T": ("int", "uint8_t/int"), "K": ("2", "3", "n / 2"), "P": ("plain", "random 9")}
    assert one.data == {"x": "K: P"}
    assert one.parameters == ("const T *x", "int k")
    assert one.above == "static U twice(U x)\n{\n    return 2 * x;\n}"
    assert one.body[:3] == ("U total = 0;", "", "@for (int i = 0; i < k; i++)")
    assert lists == {"SHORT": ("2", "3")}


def test_a_file_of_lists_holds_for_those_after_it(tmp_path: Path) -> None:
    written(tmp_path / "loops", LOOP.replace("// T: int | uint8_t/int\n", "").replace("SHORT: 2", "MINE: 2"))
    (tmp_path / "loops" / "00_lists.c").write_text("// SHORT: 4 | 5\n// T: float\n")
    (only,) = structures.__wrapped__()["some sums"]
    assert only.words["K"] == ("4", "5", "n / 2")
    assert only.words["T"] == ("float",)


@pytest.mark.parametrize(
    ("line", "text", "instead", "words"),
    [
        (1, "// Sums.", "int x;", "'int x;' is no header; write `// KEY: VALUE`"),
        (3, "// weight: 3", "// wieght: 3", "'wieght' is unknown; known: .*weight"),
        (6, "// T: int |", "// T int |", "is no header"),
        (9, "// K: SHORT", "// trip: n\n// K: SHORT", "trip is said twice"),
        (9, "// x: K", "// z: K", "'z' is unknown; known: .*the parameters x, k"),
        (9, "// x", "// ABSENT: 3\n// x", "nothing uses ABSENT"),
        (12, "U kernel(const T *x, int k)", "U kernel(const T *x", "no function; write RETURNS NAME"),
        (12, "    return total;\n}", "    return total;", "no function; write RETURNS NAME"),
    ],
)
def test_a_damaged_kernel_names_file_and_line(line: int, text: str, instead: str, words: str, tmp_path: Path) -> None:
    assert text in LOOP
    written(tmp_path / "loops", LOOP.replace(text, instead))
    with pytest.raises(ConfigError, match=rf"07_some_sums\.c, line {line}: .*{words}"):
        structures.__wrapped__()
