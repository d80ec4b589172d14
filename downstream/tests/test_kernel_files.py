"""Kernel files are read as they say, and those of the project say what is read."""

import re
from pathlib import Path

import pytest
from gpu_kernels import KEYS
from kernel_files import HERE, entries, read_folder
from loop_source import _KEYS

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


def written(folder: Path, text: str) -> Path:
    (folder / "07_some_sums.c").write_text(text)
    return folder


def test_a_kernel_is_read_as_its_file_has_it(tmp_path: Path) -> None:
    families = read_folder(written(tmp_path, LOOP), {"weight": "2", "trip": "n", "rows": "yes"})
    assert [*families] == ["some sums"]
    (one,) = families["some sums"]
    assert (one.name, one.family, one.returns, one.function) == ("sum of some", "some sums", "U", "kernel")
    assert one.keys == {"weight": "3", "trip": "K", "rows": "yes"}
    assert one.words == {"T": ("int", "uint8_t/int"), "K": ("2", "3", "n / 2"), "P": ("plain", "random 9")}
    assert one.data == {"x": "K: P"}
    assert one.parameters == ("const T *x", "int k")
    assert one.preamble == "static U twice(U x)\n{\n    return 2 * x;\n}"
    assert one.body[:3] == ("U total = 0;", "", "@for (int i = 0; i < k; i++)")
    assert one.body[-1] == "return total;"


def test_a_file_of_lists_holds_for_those_after_it(tmp_path: Path) -> None:
    written(tmp_path, LOOP.replace("// T: int | uint8_t/int\n", "").replace("SHORT: 2", "MINE: 2"))
    (tmp_path / "00_lists.c").write_text("// Lists.\n// SHORT: 4 | 5\n// T: float\n")
    (only,) = read_folder(tmp_path, _KEYS)["some sums"]
    assert only.words["K"] == ("4", "5", "n / 2")
    assert only.words["T"] == ("float",)


FOLDERS = {"loops": _KEYS, "gpu": KEYS}
OWN = [(path, keys) for name, keys in FOLDERS.items() for path in sorted((HERE / name).glob("*.c"))]


@pytest.mark.parametrize(("path", "keys"), OWN, ids=lambda one: one.name if isinstance(one, Path) else "")
def test_the_projects_headers_say_nothing_in_vain(path: Path, keys: dict[str, str], tmp_path: Path) -> None:
    """A key that is mistyped or not used would be read as a parameter's, a word's or a list's."""
    first, *texts = path.read_text().split("// name: ")
    assert {key for key in entries(first) if not key.isupper()} <= {*keys}
    assert {line for line in first.splitlines() if not line.startswith("//")} <= {""}
    (tmp_path / path.name).write_text(path.read_text())
    kernels = [one for family in read_folder(tmp_path, keys).values() for one in family]
    for kernel, text in zip(kernels, texts, strict=True):
        head, *code = f"// name: {text}".partition("\n{\n")
        header = [line for line in head.splitlines() if line.startswith("//")]
        entry_lines = [line for line in header if not line.startswith("//  ")]
        assert len(entries(head)) == len(entry_lines), kernel.name  # none twice, and each with a value
        names = {re.findall(r"\w+", one.split("[")[0])[-1] for one in kernel.parameters}
        assert kernel.data.keys() <= names, kernel.name
        used = "\n".join((*kernel.data.values(), kernel.preamble, *kernel.parameters, *kernel.body, kernel.returns))
        for word in kernel.words.keys() - {"T"}:
            assert re.search(rf"\b{word.partition(' ')[0]}\b", used), f"{kernel.name}: nothing uses {word}"
        assert "".join(code).rstrip().endswith("\n}"), kernel.name
