"""Heads on disk: numbers in head.safetensors, everything else in head.json. No pickle.

A head class joins with ``@register("name")``, says what it is made of (`Stateful`), and `save_head` and `load_head` do
the rest. A head made of other heads stores each of them with `pack` under a prefix, so that one pair of files holds
all. The JSON never names a module or a class: what a stranger's folder can bring to life is what is registered.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import os
import pkgutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from mirenc import __version__
from mirenc.errors import HeadError
from mirenc.heads.checks import DAMAGE, check_answer, check_numbers, check_sizes
from mirenc.heads.narrow import narrowed, widened

__all__ = [
    "ARRAY_FILE",
    "FORMAT",
    "HEAD_FILE",
    "Arrays",
    "Stateful",
    "kind_of_head",
    "labels_of_meta",
    "load_head",
    "load_head_and_arrays",
    "meta_of_labels",
    "pack",
    "register",
    "save_head",
    "unpack",
]

FORMAT = 2
_READ = (1, FORMAT)  # in format 1, all arrays stand in the types that heads work with
HEAD_FILE = "head.json"
ARRAY_FILE = "head.safetensors"
_SEPARATOR = "/"  # between a prefix and an array's name
_EXTRA = "extra"  # prefix of arrays that are not the head's own
_LONGEST_LABEL = 4096  # characters

Arrays = Mapping[str, NDArray[Any]]


class Stateful(Protocol):
    """What a head offers to be saved."""

    def _get_state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """What JSON can hold (parameters of the constructor, fitted scalars, labels), and the arrays."""
        ...

    @classmethod
    def _from_state(cls, meta: dict[str, Any], arrays: Arrays) -> Self:
        """The head that `_get_state` described."""
        ...


HeadClass = TypeVar("HeadClass", bound=type[Stateful])
_CLASSES: dict[str, type[Stateful]] = {}


def register(kind: str) -> Callable[[HeadClass], HeadClass]:
    """Class decorator: ``kind`` is the class's name in head.json, and never changes.

    Raises
    ------
    HeadError
        Another class has the name.
    """

    def join(head_class: HeadClass) -> HeadClass:
        taken = _CLASSES.get(kind)
        # The same class again is a module loaded a second time, in a notebook for one.
        if taken is not None and (taken.__module__, taken.__qualname__) != (
            head_class.__module__,
            head_class.__qualname__,
        ):
            raise HeadError(f"head kind {kind!r} is taken by {taken.__qualname__}. Register under another name")
        _CLASSES[kind] = head_class
        return head_class

    return join


def kind_of_head(head: Any) -> str:
    """Name under which the class of a head is registered.

    Raises
    ------
    HeadError
        The class is not registered.
    """
    for kind, head_class in _CLASSES.items():
        if type(head) is head_class:
            return kind
    raise HeadError(
        f"a {type(head).__name__} cannot be saved; available: {', '.join(sorted(_CLASSES)) or 'none'}. "
        "To add a class, decorate it with mirenc.heads.state.register"
    )


def _class_of(kind: str, where: str) -> type[Stateful]:
    if kind not in _CLASSES:
        # Importing a module is what registers its heads, and nobody need have imported the one that is wanted.
        from mirenc import heads

        for module in pkgutil.iter_modules(heads.__path__):
            importlib.import_module(f"{heads.__name__}.{module.name}")
    if kind not in _CLASSES:
        raise HeadError(
            f"{where}: unknown kind of head {kind!r}; available: {', '.join(sorted(_CLASSES))}. "
            "If it is your own, import its module first; if it is mirenc's, type: pip install --upgrade mirenc"
        )
    return _CLASSES[kind]


# -- heads inside heads --------------------------------------------------------------------------------
def pack(head: Any, prefix: str) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """A child head for its parent's `_get_state`.

    Parameters
    ----------
    head : registered head
    prefix : str
        Goes before the names of the arrays; a different one for each child.

    Returns
    -------
    entry : dict
        For the parent's meta; `unpack` wants it back.
    arrays : dict of arrays
        For the parent's arrays.
    """
    kind = kind_of_head(head)
    meta, arrays = head._get_state()
    named = {f"{prefix}{_SEPARATOR}{name}": array for name, array in arrays.items()}
    return {"kind": kind, "meta": meta}, named


def unpack(entry: dict[str, Any], arrays: Arrays, prefix: str) -> Any:
    """The child head that `pack` stored under the prefix.

    Raises
    ------
    HeadError
        No entry of `pack`, an unknown kind, or arrays that do not fit.
    """
    start = f"{prefix}{_SEPARATOR}"
    own = {name.removeprefix(start): array for name, array in arrays.items() if name.startswith(start)}
    return _build(entry, own, f"child head {prefix!r}")


def _build(entry: Any, arrays: Arrays, where: str) -> Any:
    """The head of a kind, a meta and arrays."""
    if not isinstance(entry, dict) or not isinstance(entry.get("kind"), str) or not isinstance(entry.get("meta"), dict):
        raise HeadError(f"{where}: describes no head: 'kind' or 'meta' is missing. Save the head again")
    head_class = _class_of(entry["kind"], where)
    try:
        head = head_class._from_state(entry["meta"], arrays)
    except HeadError as error:
        raise HeadError(f"{where}: {error}") from None
    except DAMAGE as error:
        raise HeadError(
            f"{where}: damaged: {type(error).__name__}: {error}. Save the head again, or train it anew"
        ) from error
    check_sizes(head, where)
    check_answer(head, where)
    return head


# -- labels --------------------------------------------------------------------------------------------
def meta_of_labels(labels: NDArray[Any]) -> dict[str, Any]:
    """Class labels as JSON can hold them: safetensors has no strings.

    Parameters
    ----------
    labels : (K,) array of bool, int, float or str, or of object holding these

    Raises
    ------
    HeadError
        Labels of another type.
    """
    values = labels.tolist()
    if labels.dtype.kind not in "biufUO" or not all(isinstance(value, (bool, int, float, str)) for value in values):
        raise HeadError(
            f"labels of type {labels.dtype} cannot be saved; available: bool, int, float, str. "
            "Give the classes as strings or numbers"
        )
    return {"dtype": labels.dtype.str, "values": values}


def labels_of_meta(meta: dict[str, Any]) -> NDArray[Any]:
    """(K,) labels that `meta_of_labels` described; `HeadError` for others."""
    values, dtype = meta["values"], np.dtype(meta["dtype"])
    # numpy gives each string the room that the type says, whatever its length.
    too_long = dtype.kind == "U" and dtype.itemsize > np.dtype(f"U{_LONGEST_LABEL}").itemsize
    if dtype.kind not in "biufUO" or too_long or not all(isinstance(each, (bool, int, float, str)) for each in values):
        raise HeadError(f"labels of type {meta['dtype']!r} are none that mirenc writes. Train the head anew")
    return np.array(values, dtype=dtype)


# -- folders -------------------------------------------------------------------------------------------
def _plain(value: Any) -> Any:
    """Numpy scalars as Python's; grid searches over ``np.logspace`` leave them in parameters."""
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{value!r} is of type {type(value).__name__}")


def save_head(
    head: Any,
    folder: str | os.PathLike[str],
    *,
    extra: dict[str, Any] | None = None,
    arrays: Arrays | None = None,
) -> Path:
    """Write a fitted head: head.json and head.safetensors in the folder, which is made where it is missing.

    Both files are complete before either gets its name. A head that was there before is replaced.

    Parameters
    ----------
    head : registered head
    folder : path
    extra : dict, optional
        What else belongs to the head, as JSON can hold it: task, model digest, names of the features.
    arrays : dict of arrays, optional
        What else belongs to it and is numbers.

    Returns
    -------
    Path
        The folder.

    Raises
    ------
    HeadError
        Class not registered, something in parameters or ``extra`` that JSON cannot hold, or a folder that cannot be
        written.
    sklearn.exceptions.NotFittedError
        The head is not fitted.
    """
    from safetensors.numpy import save

    kind = kind_of_head(head)
    meta, own = head._get_state()
    named = {**own, **{f"{_EXTRA}{_SEPARATOR}{name}": array for name, array in (arrays or {}).items()}}
    stored, same = _without_repetition(named)
    stored, types = narrowed(stored)
    data = save(stored)
    description = {
        "format_version": FORMAT,
        "same": same,
        "types": types,
        "mirenc_version": __version__,
        "kind": kind,
        "meta": meta,
        "extra": extra or {},
        "sha256": hashlib.sha256(data).hexdigest(),
    }
    try:
        # NaN is no JSON, and other programs refuse it.
        text = json.dumps(description, indent=1, allow_nan=False, default=_plain) + "\n"
    except (TypeError, ValueError) as error:
        raise HeadError(
            f"the parameters of the head or `extra` hold what JSON cannot: {error}. "
            "Allowed are finite numbers, strings, None, lists and dicts"
        ) from None
    target = Path(folder)
    contents = {ARRAY_FILE: data, HEAD_FILE: text.encode("utf-8")}
    parts = {name: target / f"{name}.part" for name in contents}
    try:
        target.mkdir(parents=True, exist_ok=True)
        for name, content in contents.items():
            parts[name].write_bytes(content)
        for name, part in parts.items():
            os.replace(part, target / name)
    except OSError as error:
        raise HeadError(
            f"cannot write head to {target}: {error.strerror}. Free some space or name another folder"
        ) from None
    finally:
        for part in parts.values():
            _discard(part)
    return target


def _without_repetition(arrays: Arrays) -> tuple[dict[str, NDArray[Any]], dict[str, str]]:
    """Each different array once, and for the others the name of their like: members keep the same training rows."""
    stored: dict[str, NDArray[Any]] = {}
    same: dict[str, str] = {}
    names: dict[tuple[str, tuple[int, ...], bytes], str] = {}
    for name, array in arrays.items():
        plain = np.asarray(array, order="C")
        key = (plain.dtype.str, plain.shape, hashlib.sha256(plain.tobytes()).digest())
        if key in names:
            same[name] = names[key]
        else:
            names[key] = name
            stored[name] = plain
    return stored, same


def _discard(part: Path) -> None:
    """Remove what an interrupted write left; below a file that was named as folder there is nothing."""
    try:
        part.unlink(missing_ok=True)
    except OSError:
        return


def load_head(folder: str | os.PathLike[str]) -> tuple[Any, dict[str, Any]]:
    """Read what `save_head` wrote.

    Returns
    -------
    head : estimator
        Ready to predict.
    extra : dict
        As given to `save_head`; empty where nothing was.

    Raises
    ------
    HeadError
        No head in the folder, damaged files, an unknown kind, or a format this release does not read.
    """
    head, extra, _ = load_head_and_arrays(folder)
    return head, extra


def load_head_and_arrays(folder: str | os.PathLike[str]) -> tuple[Any, dict[str, Any], dict[str, NDArray[Any]]]:
    """As `load_head`, and the arrays that were given to `save_head`.

    Raises
    ------
    HeadError
        No head in the folder, damaged files, an unknown kind, or a format this release does not read.
    """
    from safetensors import SafetensorError
    from safetensors.numpy import load

    home = Path(folder)
    for name in (HEAD_FILE, ARRAY_FILE):
        if not (home / name).is_file():
            raise HeadError(
                f"{home}: no {name}. A head's folder holds {HEAD_FILE} and {ARRAY_FILE}, as save_head writes them"
            )
    try:
        text, data = (home / HEAD_FILE).read_bytes(), (home / ARRAY_FILE).read_bytes()
    except OSError as error:
        raise HeadError(f"{home}: cannot be read: {error.strerror}. Check its permissions") from None
    try:
        description = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise HeadError(f"{home}: {HEAD_FILE} is damaged ({error}). Save the head again") from None
    _check_format(home, description)
    # Two files are renamed one after the other, and may be copied apart: only the checksum says they are a pair.
    if hashlib.sha256(data).hexdigest() != description.get("sha256"):
        raise HeadError(
            f"{home}: {ARRAY_FILE} is damaged, or not the one that {HEAD_FILE} was saved with. "
            "Copy both files again, or save the head again"
        )
    try:
        arrays = load(data)
    except (SafetensorError, AttributeError, KeyError, TypeError, ValueError) as error:  # a type that numpy lacks
        raise HeadError(f"{home}: {ARRAY_FILE} is damaged ({error}). Save the head again") from None
    extra = description.get("extra")
    if not isinstance(extra, dict):
        raise HeadError(f"{home}: {HEAD_FILE} is damaged: 'extra' is no table. Save the head again")
    try:
        arrays = widened(arrays, description.get("types", {}))
        arrays |= {name: arrays[like] for name, like in description.get("same", {}).items()}
    except (AttributeError, KeyError, TypeError, ValueError):
        raise HeadError(
            f"{home}: {HEAD_FILE} is damaged: 'types' or 'same' fit no arrays. Save the head again"
        ) from None
    check_numbers(arrays, f"{home}/{ARRAY_FILE}")
    start = f"{_EXTRA}{_SEPARATOR}"
    given = {name.removeprefix(start): array for name, array in arrays.items() if name.startswith(start)}
    own = {name: array for name, array in arrays.items() if not name.startswith(start)}
    return _build(description, own, f"{home}/{HEAD_FILE}"), extra, given


def _check_format(home: Path, description: Any) -> None:
    version = description.get("format_version") if isinstance(description, dict) else None
    if not isinstance(version, int):
        raise HeadError(f"{home}: {HEAD_FILE} describes no head: 'format_version' is missing. Save the head again")
    if version > FORMAT:
        raise HeadError(
            f"{home}: head format {version}, written by mirenc {description.get('mirenc_version')}; this is mirenc "
            f"{__version__}, which reads up to {FORMAT}. Type: pip install --upgrade mirenc"
        )
    if version not in _READ:
        raise HeadError(f"{home}: head format {version}, this mirenc reads 1 and {FORMAT}. Train the head anew")
