"""Heads on disk: what goes in comes out, children included, and every damaged folder is refused with what to do."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, Self

import numpy as np
import pytest

import mirenc.decide
from mirenc.base.errors import HeadError, ModelError
from mirenc.decide.estimators import head_state as state
from mirenc.decide.estimators.head_state import kind_of_head, pack, register, unpack
from mirenc.decide.estimators.saved_heads import ARRAY_FILE, HEAD_FILE, load_head, narrowed, save_head, widened


class Line:
    """y = slope * x + offset: the smallest thing with a state."""

    def __init__(self, slope: np.ndarray, offset: float = 0.0) -> None:
        self.slope, self.offset = slope, offset

    def _state(self) -> dict[str, Any]:
        return vars(self)

    @classmethod
    def _from_state(cls, state: dict[str, Any]) -> Self:
        return cls(**state)


class Bundle:
    """A head of heads."""

    def __init__(self, members: list[Any]) -> None:
        self.members = members

    def _state(self) -> dict[str, Any]:
        return vars(self)

    @classmethod
    def _from_state(cls, state: dict[str, Any]) -> Self:
        return cls(**state)


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    """The two classes above are known in these tests only."""
    monkeypatch.setattr(state, "_CLASSES", dict(state._CLASSES))
    register("line")(Line)
    register("bundle")(Bundle)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return save_head(Line(np.array([1.0, 2.0]), 0.5), tmp_path / "deep" / "head", extra={"task": "device_mapping"})


def edit(folder: Path, **changes: Any) -> None:
    """Change keys of head.json; None removes one."""
    path = folder / HEAD_FILE
    values = json.loads(path.read_text()) | changes
    path.write_text(json.dumps({key: value for key, value in values.items() if value is not None}))


# -- round trips ---------------------------------------------------------------------------------------
def test_a_head_comes_back_with_what_was_said_about_it(folder: Path) -> None:
    head, extra = load_head(folder)
    assert type(head) is Line
    np.testing.assert_array_equal(head.slope, [1.0, 2.0])
    assert (head.offset, extra) == (0.5, {"task": "device_mapping"})
    assert sorted(path.name for path in folder.iterdir()) == [HEAD_FILE, ARRAY_FILE]  # nothing half written


@pytest.mark.parametrize(
    "array",
    [
        np.arange(6, dtype=np.float32).reshape(2, 3).T,  # not contiguous
        np.array(7.5),  # no dimension
        np.zeros((0, 4)),
        np.array([True, False]),
        np.array([2**40], dtype=np.int64),
    ],
)
def test_arrays_keep_shape_type_and_order(array: np.ndarray, tmp_path: Path) -> None:
    back = load_head(save_head(Line(array), tmp_path))[0].slope
    assert (back.shape, back.dtype) == (array.shape, array.dtype)
    np.testing.assert_array_equal(back, array)


@pytest.mark.parametrize(
    ("array", "stored_type"),
    [
        (np.array([0.5, -3.0, np.inf]), "<f2"),
        (np.array([0.1, 1e30], dtype=np.float32), "<f4"),
        (np.array([0.1], dtype=np.float32).astype(np.float64), "<f4"),
        (np.array([0.1]), "<f8"),
        (np.array([1e5]), "<f4"),
        (np.array([0, 255]), "|u1"),
        (np.array([-1, 100], dtype=np.int32), "|i1"),
        (np.array([256]), "<u2"),
        (np.array([-1, 200], dtype=np.int32), "<i2"),
        (np.array([2**20]), "<i4"),
        (np.array([2**40]), "<i8"),
        (np.array([True]), "|b1"),
    ],
)
def test_a_file_holds_the_narrowest_type_that_loses_nothing(
    array: np.ndarray, stored_type: str, tmp_path: Path
) -> None:
    head = narrowed({"slope": array})[0]["slope"]
    assert head.dtype.str == stored_type
    arrays, types = narrowed({"slope": array})
    back = widened(arrays, json.loads(json.dumps(types)))["slope"]
    assert back.dtype == array.dtype
    np.testing.assert_array_equal(back, array)


@pytest.mark.parametrize("types", [3, {"slope": 3}, {"slope": "O"}, {"slope": "<U9"}, {"slope": "nothing"}])
def test_types_that_are_none_are_refused(folder: Path, types: Any) -> None:
    edit(folder, types=types)
    with pytest.raises(HeadError, match="'types' or 'same' fit no arrays"):
        load_head(folder)


def test_children_share_one_file_and_nest(tmp_path: Path) -> None:
    inner = Bundle([Line(np.array([3.0])), Line(np.array([4.0]))])
    # member.1 and member.10 begin alike; a prefix must not take the other's arrays.
    lines = [Line(np.array([float(number)]), number) for number in range(11)]
    back, _ = load_head(save_head(Bundle([inner, *lines]), tmp_path))
    assert [member.slope[0] for member in back.members[0].members] == [3.0, 4.0]
    assert [(member.slope[0], member.offset) for member in back.members[1:]] == [(n, n) for n in range(11)]


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_what_belongs_to_a_head_is_finite_too(tmp_path: Path, value: float) -> None:
    save_head(Line(np.ones(1)), tmp_path, arrays={"kernels": np.array([[1.0], [value]])})
    with pytest.raises(HeadError, match="array 'extra/kernels' has values that are not finite"):
        load_head(tmp_path)


@pytest.mark.parametrize(
    "labels",
    [
        np.array(["CPU", "GPU"]),
        np.array(["CPU", "GPU"], dtype=object),
        np.array([1, 2, 32]),
        np.array([False, True]),
        np.array([0.1, 1 / 3], dtype=np.float32),
        np.array([4, 8], dtype=np.uint8),
    ],
)
def test_labels_go_through_json(labels: np.ndarray) -> None:
    description, arrays = pack([labels])
    (back,) = unpack(json.loads(json.dumps(description)), arrays, "here")
    assert back.dtype == labels.dtype
    np.testing.assert_array_equal(back, labels)


@pytest.mark.parametrize("labels", [np.array([1j]), np.array([None, "a"], dtype=object), np.array(["2026"], "M8[Y]")])
def test_labels_that_json_cannot_hold_are_refused(labels: np.ndarray) -> None:
    with pytest.raises(HeadError, match=r"cannot be saved; available: bool, int, float, str"):
        pack([labels])


def test_numpy_scalars_are_stored_as_numbers(tmp_path: Path) -> None:
    save_head(Line(np.ones(1), np.int64(3)), tmp_path, extra={"score": np.float32(0.5)})
    head, extra = load_head(tmp_path)
    assert (head.offset, extra) == (3, {"score": 0.5})


@pytest.mark.parametrize("kind", ["LogisticHead", "MLPHead"])
def test_loading_finds_mirencs_own_heads_by_itself(kind: str, tmp_path: Path) -> None:
    """A process that imported no head but loads one."""
    head = getattr(mirenc.decide, kind)()
    save_head(head.fit([[0.0], [1.0]], ["a", "b"]), tmp_path)
    program = "from mirenc.decide.estimators.saved_heads import load_head\n"
    program += f"print(type(load_head({str(tmp_path)!r})[0]).__name__)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == f"{kind}\n"


# -- names ---------------------------------------------------------------------------------------------
def test_a_class_that_is_not_registered_is_not_saved(tmp_path: Path) -> None:
    with pytest.raises(HeadError, match=r"a dict cannot be saved; available: .*line.*register"):
        save_head({}, tmp_path)

    class Child(Line):
        """Inherits the state, but not the name: loading would give a Line."""

    with pytest.raises(HeadError, match="a Child cannot be saved"):
        kind_of_head(Child(np.ones(1)))


def test_a_name_belongs_to_one_class() -> None:
    with pytest.raises(HeadError, match=r"'line' is taken by Line"):
        register("line")(Bundle)
    assert register("line")(Line) is Line  # a notebook runs its cell again


# -- refused -------------------------------------------------------------------------------------------
def test_an_empty_or_missing_folder(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(HeadError, match=r"no head\.json\. A head's folder holds head\.json and head\.safetensors"):
            load_head(folder)


@pytest.mark.parametrize("name", [HEAD_FILE, ARRAY_FILE])
def test_a_missing_file_is_named(folder: Path, name: str) -> None:
    (folder / name).unlink()
    with pytest.raises(HeadError, match=f"no {name}") as caught:
        load_head(folder)
    assert isinstance(caught.value, (ModelError, ValueError))


def test_one_changed_byte_of_the_arrays(folder: Path) -> None:
    data = bytearray((folder / ARRAY_FILE).read_bytes())
    data[-1] ^= 1
    (folder / ARRAY_FILE).write_bytes(bytes(data))
    with pytest.raises(HeadError, match=r"head\.safetensors is damaged, or not the one.*Copy both files again"):
        load_head(folder)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"format_version": 4, "mirenc_version": "9.9"},
            r"head format 4, written by mirenc 9\.9.*pip install --upgrade",
        ),
        ({"format_version": 2}, r"head format 2, this mirenc reads 3\. Train the head anew"),
        ({"format_version": None}, r"describes no head: 'format_version' is missing"),
        (
            {"head": {"kind": "oracle", "state": {}}},
            r"unknown kind of head 'oracle'; available: .*line.*import its module first",
        ),
        ({"head": {"state": {}}}, r"'kind' or 'state' is missing"),
        ({"head": None}, r"'kind' or 'state' is missing"),
        ({"head": {"kind": "line", "state": []}}, r"'kind' or 'state' is missing"),
        ({"head": {"kind": "line", "state": {"offset": 1}}}, r"damaged: TypeError: .*slope.*train it anew"),
        ({"extra": 3}, r"'extra' is not a table"),
        ({"sha256": None}, r"not the one that head\.json was saved with"),
    ],
)
def test_a_head_json_that_is_not_right(folder: Path, changes: dict[str, Any], message: str) -> None:
    edit(folder, **changes)
    with pytest.raises(HeadError, match=message) as caught:
        load_head(folder)
    assert str(folder) in str(caught.value)


@pytest.mark.parametrize("text", ["", "[1, 2", "[]", '"head"', "\xff"])
def test_a_head_json_that_is_no_json(folder: Path, text: str) -> None:
    (folder / HEAD_FILE).write_bytes(text.encode("latin-1"))
    with pytest.raises(HeadError, match=r"head\.json (is damaged|describes no head)"):
        load_head(folder)


@pytest.mark.parametrize("value", [float("nan"), {1, 2}, b"bytes"])
def test_what_json_cannot_hold_is_refused_and_nothing_written(value: Any, tmp_path: Path) -> None:
    with pytest.raises(HeadError, match=r"hold what JSON cannot.*Allowed are finite numbers"):
        save_head(Line(np.ones(1)), tmp_path / "head", extra={"value": value})
    assert not (tmp_path / "head").exists()


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    for target in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(HeadError, match=r"cannot write head to .*name another folder"):
            save_head(Line(np.ones(1)), target)
    assert (tmp_path / "file").read_text() == "in the way"


def test_a_write_that_fails_leaves_the_old_head(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(self: Path, data: bytes) -> int:
        if data.startswith(b"{"):  # the head's JSON, whatever it is called before it is complete
            raise OSError(28, "No space left on device")
        return original(self, data)

    original = Path.write_bytes
    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(HeadError, match="No space left on device"):
        save_head(Line(np.array([9.0])), folder)
    assert load_head(folder)[0].slope.tolist() == [1.0, 2.0]
    assert sorted(path.name for path in folder.iterdir()) == [HEAD_FILE, ARRAY_FILE]
