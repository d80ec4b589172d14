"""Heads on disk: numbers in head.safetensors, everything else in head.json.

Each array is written once, in the narrowest type that holds all of its numbers exactly. A head of a task is `rounded`
before: training gives 16 digits, of which about three come from the data.
"""

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load, save
from sklearn.utils.validation import check_is_fitted

from mirenc import __version__
from mirenc.base.arrays import Floating
from mirenc.base.errors import HeadError
from mirenc.base.writing import delivered
from mirenc.decide.estimators.head_state import Arrays, below, damaged, kind_of_head, pack, unpack
from mirenc.llvm.inputs.file_kind import refuse_pointer

FORMAT = 3
HEAD_FILE = "head.json"
ARRAY_FILE = "head.safetensors"
_EXTRA = "extra"  # prefix of arrays that are not the head's own
# A column that did not vary in training is divided by infinity; every other number of a head is finite.
_SPREAD = "spread_"
_NARROW: dict[str, tuple[type[np.generic], ...]] = {
    "i": (np.uint8, np.int8, np.uint16, np.int16, np.int32),
    "f": (np.float16, np.float32),
}
_LARGE = 8192  # numbers of a matrix; smaller ones are not rounded
_LARGEST = 3e4  # what half precision holds with room to spare
_LEVELS = 256
_LEAVES = "value_"

Head = TypeVar("Head")


def save_head(
    head: Any, folder: str | os.PathLike[str], *, extra: dict[str, Any] | None = None, arrays: Arrays | None = None
) -> Path:
    """Write a fitted head: head.json and head.safetensors in the folder, which is created where it is missing.

    Both files are complete before either gets its name; a previous head is replaced. ``extra`` and ``arrays``: what
    else is to be kept with the head, as JSON and as numbers. Raises HeadError: class not registered, something in
    parameters or ``extra`` that JSON cannot hold, or a folder that cannot be written; `NotFittedError` of scikit-learn.
    """
    kind_of_head(head)  # raises for anything else that could be packed, such as a list
    if hasattr(head, "fit"):
        check_is_fitted(head)
    description, learned = pack(head)
    tensors, copies = _without_copies(learned | {f"{_EXTRA}/{name}": array for name, array in (arrays or {}).items()})
    tensors, types = narrowed(tensors)
    data = save(tensors)
    contents: dict[str, Any] = {"format_version": FORMAT, "same": copies, "types": types, "mirenc_version": __version__}
    contents |= {"head": description, "extra": extra or {}, "sha256": hashlib.sha256(data).hexdigest()}
    try:
        # NaN is no JSON, and other programs refuse it.
        text = json.dumps(contents, indent=1, allow_nan=False, default=_python_scalar) + "\n"
    except (TypeError, ValueError) as error:
        problem = f"the parameters of the head or `extra` hold what JSON cannot: {error}"
        raise HeadError(f"{problem}. Allowed are finite numbers, strings, None, lists and dicts") from None
    home = Path(folder)
    try:
        home.mkdir(parents=True, exist_ok=True)
        with delivered(home / HEAD_FILE) as head_file, delivered(home / ARRAY_FILE) as array_file:
            array_file.write_bytes(data)
            head_file.write_bytes(text.encode("utf-8"))
    except OSError as error:
        advice = "Free some space or name another folder"
        raise HeadError(f"cannot write head to {home}: {error.strerror}. {advice}") from None
    return home


def _python_scalar(value: Any) -> Any:
    """Numpy scalars as Python's; grid searches over ``np.logspace`` leave them in parameters."""
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{value!r} is of type {type(value).__name__}")


def _without_copies(arrays: Arrays) -> tuple[dict[str, NDArray[Any]], dict[str, str]]:
    """The distinct arrays, and for each copy the name of its original: members share their training rows."""
    contents = {name: np.asarray(array, order="C") for name, array in arrays.items()}
    name_of_digest: dict[tuple[str, tuple[int, ...], bytes], str] = {}
    originals = {
        name: name_of_digest.setdefault((array.dtype.str, array.shape, hashlib.sha256(array.data).digest()), name)
        for name, array in contents.items()
    }
    distinct = {name: array for name, array in contents.items() if originals[name] == name}
    return distinct, {name: original for name, original in originals.items() if original != name}


def load_head(folder: str | os.PathLike[str]) -> tuple[Any, dict[str, Any]]:
    """The head that `save_head` wrote, and ``extra``.

    Raises HeadError: no head in the folder, damaged files, an unknown kind, or a format this release does not read.
    """
    return load_head_and_arrays(folder)[:2]


def load_head_and_arrays(folder: str | os.PathLike[str]) -> tuple[Any, dict[str, Any], dict[str, NDArray[Any]]]:
    """As `load_head`, and the ``arrays`` of `save_head`."""
    home = Path(folder)
    for name in (HEAD_FILE, ARRAY_FILE):
        if not (home / name).is_file():
            advice = f"A head's folder holds {HEAD_FILE} and {ARRAY_FILE}, as save_head writes them"
            raise HeadError(f"{home}: no {name}. {advice}")
    try:
        text, data = (home / HEAD_FILE).read_bytes(), (home / ARRAY_FILE).read_bytes()
    except OSError as error:
        raise HeadError(f"{home}: cannot be read: {error.strerror}. Check its permissions") from None
    for name, content in ((HEAD_FILE, text), (ARRAY_FILE, data)):
        refuse_pointer(str(home / name), content, HeadError)
    try:
        description = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise damaged(f"{home}/{HEAD_FILE}", error) from None
    _check_format(home, description)
    # The files are renamed one after the other, and may be copied apart: the checksum tells whether they are a pair.
    if hashlib.sha256(data).hexdigest() != description.get("sha256"):
        problem = f"{ARRAY_FILE} is damaged, or not the one that {HEAD_FILE} was saved with"
        raise HeadError(f"{home}: {problem}. Copy both files again, or save the head again")
    try:
        arrays = load(data)
    except (SafetensorError, AttributeError, KeyError, TypeError, ValueError) as error:  # a type that numpy lacks
        raise damaged(f"{home}/{ARRAY_FILE}", error) from None
    extra = description.get("extra")
    if not isinstance(extra, dict):
        raise damaged(f"{home}/{HEAD_FILE}", "'extra' is not a table")
    try:
        arrays = widened(arrays, description.get("types", {}))
        arrays |= {name: arrays[original] for name, original in description.get("same", {}).items()}
    except (AttributeError, KeyError, TypeError, ValueError):
        raise damaged(f"{home}/{HEAD_FILE}", "'types' or 'same' fit no arrays") from None
    _check_numbers(arrays, f"{home}/{ARRAY_FILE}")
    entry = description.get("head")
    try:
        head = unpack(entry if isinstance(entry, dict) and "kind" in entry else {}, arrays, f"{home}/{HEAD_FILE}")
    except RecursionError as error:
        raise damaged(f"{home}/{HEAD_FILE}", error) from None
    if hasattr(head, "fit") and not hasattr(head, "n_features_in_"):
        raise damaged(f"{home}/{HEAD_FILE}", "it was never trained")
    return head, extra, below(arrays, _EXTRA)


def _check_format(home: Path, description: Any) -> None:
    version = description.get("format_version") if isinstance(description, dict) else None
    if not isinstance(version, int):
        raise HeadError(f"{home}: {HEAD_FILE} describes no head: 'format_version' is missing. Save the head again")
    if version > FORMAT:
        raise HeadError(
            f"{home}: head format {version}, written by mirenc {description.get('mirenc_version')}; this is mirenc "
            f"{__version__}, which reads {FORMAT}. Type: pip install --upgrade mirenc"
        )
    if version < FORMAT:
        raise HeadError(f"{home}: head format {version}, this mirenc reads {FORMAT}. Train the head anew")


def _check_numbers(arrays: Arrays, where: str) -> None:
    for name, array in arrays.items():
        problem, is_spread = "", name.endswith(_SPREAD)
        if array.dtype.kind not in "biuf":
            problem = f"type {array.dtype}; allowed: numbers"
        elif np.isnan(array).any() or (np.isinf(array).any() and not is_spread):
            problem = "values that are not finite"
        elif is_spread and not (array > 0).all():
            problem = "spreads of 0 or less"
        if problem:
            raise HeadError(f"{where}: array {name!r} has {problem}. Train the head anew")


def narrowed(arrays: Arrays) -> tuple[dict[str, NDArray[Any]], dict[str, str]]:
    """Arrays in narrower types where these hold the same numbers, and the original types of those that changed."""
    narrow = {name: _narrowest(array) for name, array in arrays.items()}
    return narrow, {name: array.dtype.str for name, array in arrays.items() if narrow[name].dtype != array.dtype}


def _narrowest(array: NDArray[Any]) -> NDArray[Any]:
    for kind in _NARROW.get(array.dtype.kind, ()):
        if np.dtype(kind).itemsize >= array.dtype.itemsize:
            break
        with np.errstate(over="ignore"):
            small = array.astype(kind)
        if np.array_equal(small, array):
            return small
    return array


def widened(arrays: Arrays, types: Mapping[str, str]) -> dict[str, NDArray[Any]]:
    """Reverse `narrowed`. Raises AttributeError, TypeError or ValueError: types that are none of numbers."""
    kinds = {name: np.dtype(kind) for name, kind in types.items()}
    if not all(kind.kind in _NARROW for kind in kinds.values()):
        raise ValueError("'types' lists a type that is not numeric")
    return {name: array.astype(kinds[name]) if name in kinds else array for name, array in arrays.items()}


def rounded(head: Head) -> Head:
    """A fitted head that takes a fraction of the space on disk and answers almost the same.

    Large matrices are rounded to half precision, leaves of a forest to 256 values a column.
    """
    entry, arrays = pack(head)
    return unpack(entry, {name: _round_array(name, array) for name, array in arrays.items()}, "rounding")


def _round_array(name: str, array: NDArray[Any]) -> NDArray[Any]:
    if array.ndim != 2 or array.size < _LARGE or array.dtype.kind != "f":
        return array
    # Leaves are averaged over dozens of trees, but those of boosted trees, with one number each, are added up.
    if not name.endswith(_LEAVES) or array.shape[1] == 1:
        return in_half(array)
    low = array.min(axis=0)
    step = np.maximum((array.max(axis=0) - low) / (_LEVELS - 1), np.finfo(np.float64).tiny)
    return np.asarray(low + step * np.round((array - low) / step))


def in_half(matrix: Floating) -> Floating:
    """Numbers rounded to half precision, in their own type; unchanged where one is too large for that."""
    if float(np.abs(matrix).max(initial=0.0)) >= _LARGEST:
        return matrix
    return matrix.astype(np.float16).astype(matrix.dtype)
