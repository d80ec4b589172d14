"""Whatever stands in a head's files, it is refused in words or answers with finite numbers; never a traceback."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load, save
from sklearn.base import clone

from mirenc.base.errors import HeadError
from mirenc.decide import CostHead, EnsembleHead, LabelHead, MLPHead, TreesHead
from mirenc.decide.estimators.saved_heads import ARRAY_FILE, HEAD_FILE, load_head, save_head

Arrays = dict[str, np.ndarray]


@pytest.fixture(scope="module")
def intact(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An ensemble of one of each kind, all with the same weight."""
    random = np.random.default_rng(0)
    rows, costs = random.normal(size=(20, 6)), random.uniform(1, 2, size=(20, 3))
    members = [
        ("cost", CostHead(2, length_scale=1.0)),
        ("trees", TreesHead(2, components=2, trees=3)),
        ("label", LabelHead(MLPHead(hidden=(4,), epochs=2, random_state=0))),
    ]
    rows[:, 5] = 1.0  # says nothing: its spread is infinite
    head = EnsembleHead(members, picks=1).fit(rows, costs)
    head.members_ = {name: clone(member).fit(rows, costs) for name, member in members}
    head.weights_ = dict.fromkeys(head.members_, 1 / 3)
    return save_head(head, tmp_path_factory.mktemp("head"))


def damaged(intact: Path, folder: Path, edit: Callable[[Any, Arrays], object]) -> Path:
    """A copy whose JSON and arrays were edited, with the checksum they then have."""
    description, arrays = json.loads((intact / HEAD_FILE).read_text()), load((intact / ARRAY_FILE).read_bytes())
    arrays |= {name: arrays[like] for name, like in description.pop("same").items()}
    edit(description, arrays)
    data = save({name: np.ascontiguousarray(array) for name, array in arrays.items()})
    description |= {"sha256": hashlib.sha256(data).hexdigest(), "same": {}}
    (folder / ARRAY_FILE).write_bytes(data)
    (folder / HEAD_FILE).write_text(json.dumps(description))
    return folder


@pytest.mark.parametrize("name", [HEAD_FILE, ARRAY_FILE])
def test_a_pointer_of_git_lfs(intact: Path, tmp_path: Path, name: str) -> None:
    damaged(intact, tmp_path, lambda description, arrays: None)
    (tmp_path / name).write_text(f"version https://git-lfs.github.com/spec/v1\noid sha256:{'0' * 64}\nsize 9\n")
    with pytest.raises(HeadError, match=rf"{name}: is a Git LFS pointer, .*\. Type: git lfs pull$"):
        load_head(tmp_path)


def names_of_arrays(intact: Path) -> list[str]:
    description = json.loads((intact / HEAD_FILE).read_text())
    return sorted([*load((intact / ARRAY_FILE).read_bytes()), *description["same"]])


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_arrays_with_nan_or_infinity_are_refused_and_named(intact: Path, tmp_path: Path, value: float) -> None:
    for name in names_of_arrays(intact):

        def edit(description: Any, arrays: Arrays, name: str = name) -> None:
            arrays[name] = arrays[name].copy()
            arrays[name].flat[0] = value

        if load((intact / ARRAY_FILE).read_bytes()).get(name, np.ones(1)).dtype.kind != "f" or (
            name.endswith("cost/spread_") and value == np.inf
        ):
            continue
        with pytest.raises(HeadError, match=rf"head\.safetensors: array '{name}' has") as caught:
            load_head(damaged(intact, tmp_path, edit))
        assert str(tmp_path) in str(caught.value)


def put(path: str, value: Any) -> Callable[[Any, Arrays], None]:
    """Set what a path of keys leads to in head.json; ``state`` and ``dict`` are left out of it."""

    def edit(description: Any, arrays: Arrays) -> None:
        *parents, last = path.split(".")
        description = description["head"]["state"]
        for key in parents:
            description = description[key]
            description = description.get("state", description.get("dict", description))
        assert last in description
        description[last] = value

    return edit


@pytest.mark.parametrize(
    ("path", "value"),
    [
        *((f"weights_.{name}", 0.9) for name in ("cost", "trees", "label")),
        ("weights_.cost", "1"),
        ("weights_", {"dict": {"other": 1.0}}),
        ("members_", {"dict": {}}),
        *(("n_features_in_", count) for count in (10**12, -1, 1.5, "6", 5, 7, None)),
        *(("members_.label.n_choices_", count) for count in (10**12, 0, 2.5, "3", 2, 4)),
        ("members_.label.classifier_.coefs_", {"list": []}),
        ("members_.label.classifier_.hidden", {"tuple": [-1]}),
        ("members_.label.classifier_.classes_", {"labels": {"dtype": "<U400000000", "values": ["0"]}}),
        ("members_.label.classifier_.classes_", {"labels": {"dtype": "<i8", "values": [0, None, 2]}}),
        ("members_.label.classifier_.classes_", {"labels": {"dtype": "<i8", "values": [0, 1, 10**12]}}),
        ("members_.trees.context_columns", 10**12),
        ("members_.trees.n_features_in_", 10**12),
        ("members_.trees.forest_", 3),
        ("members_.cost.context_columns", 10**12),
        ("members_.cost.length_scale", 0),
        ("members_.cost.mean_", {"array": "nowhere"}),
        ("members_.cost", {"who": "knows"}),
    ],
)
def test_an_edited_head_json_is_refused(intact: Path, tmp_path: Path, path: str, value: Any) -> None:
    with pytest.raises(HeadError) as caught:
        load_head(damaged(intact, tmp_path, put(path, value)))
    assert str(tmp_path) in str(caught.value)


@pytest.mark.parametrize("entry", [3, None, [], {"list": []}, {"dict": {}}, {"array": "x"}])
def test_what_is_no_head_is_refused(intact: Path, tmp_path: Path, entry: Any) -> None:
    damaged(intact, tmp_path, lambda description, arrays: description.update(head=entry))
    with pytest.raises(HeadError, match="'kind' or 'state' is missing"):
        load_head(tmp_path)


def test_a_head_that_was_never_trained_is_refused(intact: Path, tmp_path: Path) -> None:
    entry = {"kind": "cost", "state": CostHead().get_params()}
    damaged(intact, tmp_path, lambda description, arrays: description.update(head=entry))
    with pytest.raises(HeadError, match="it was never trained"):
        load_head(tmp_path)


def test_a_trained_head_without_its_number_of_columns_is_refused(intact: Path, tmp_path: Path) -> None:
    with pytest.raises(HeadError, match="n_features_in_"):
        load_head(damaged(intact, tmp_path, lambda description, _: description["head"]["state"].pop("n_features_in_")))


def test_lists_nested_deeper_than_heads_are(intact: Path, tmp_path: Path) -> None:
    damaged(intact, tmp_path, lambda description, arrays: description["head"]["state"].update(picks="deep"))
    text = (tmp_path / HEAD_FILE).read_text()
    for depth in (400, 1500):  # 1500: what JSON of Python 3.12 refuses and that of 3.13 reads
        (tmp_path / HEAD_FILE).write_text(text.replace('"deep"', '{"list": [' * depth + "]}" * depth))
        with pytest.raises(HeadError, match=r"head\.json"):
            load_head(tmp_path)


def test_json_nested_without_end(intact: Path, tmp_path: Path) -> None:
    damaged(intact, tmp_path, lambda description, arrays: None)
    (tmp_path / HEAD_FILE).write_text("[" * 1_000_000)
    with pytest.raises(HeadError, match=r"head\.json is damaged"):
        load_head(tmp_path)


def test_arrays_of_types_without_numbers(intact: Path, tmp_path: Path) -> None:
    header = json.dumps({"a": {"dtype": "F8_E4M3", "shape": [1], "data_offsets": [0, 1]}}).encode()
    data = len(header).to_bytes(8, "little") + header + b"\0"
    damaged(intact, tmp_path, lambda description, arrays: description.update(kind="ensemble"))
    description = json.loads((tmp_path / HEAD_FILE).read_text())
    (tmp_path / ARRAY_FILE).write_bytes(data)
    (tmp_path / HEAD_FILE).write_text(json.dumps(description | {"sha256": hashlib.sha256(data).hexdigest()}))
    with pytest.raises(HeadError, match=r"head\.safetensors is damaged"):
        load_head(tmp_path)
