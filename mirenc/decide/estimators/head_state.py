"""Heads as a description that JSON can hold and arrays, and back; without pickle.

A head consists of parameters and learned attributes (`mirenc.decide.estimators.base.Head`): numbers, names, arrays,
other heads, and lists and dicts of these. Another class takes part with ``@register("name")``, ``_state()`` and
``_from_state``. A description never names a module or a class: a stranger's folder can create registered kinds only,
and a head that cannot answer is refused.
"""

import re
import warnings
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from mirenc.base.errors import HeadError, MirencError

_SEPARATOR = "/"  # between a prefix and an array's name
# Counts that no table of measurements comes near: a head with more was not made by training.
_COUNTS = (("n_features_in_", "features", 0, 1_000_000), ("n_choices_", "choices", 1, 100_000))
_SUM_ERROR = 1e-3
# Types of labels that are text. Their size is bounded, as numpy reserves it for each label, whatever its length.
_TEXT = re.compile(r"[<>]U\d{1,4}|\|O")
# What may be raised where a description and arrays do not fit each other.
_DAMAGE = (ArithmeticError, AttributeError, LookupError, MemoryError, RecursionError, TypeError, ValueError)

Arrays = Mapping[str, NDArray[Any]]
HeadClass = TypeVar("HeadClass", bound=type[Any])
_CLASSES: dict[str, type[Any]] = {}


def register(kind: str) -> Callable[[HeadClass], HeadClass]:
    """Class decorator: ``kind`` names the class in head.json and must never change. Raises HeadError: it is taken."""

    def decorate(head_class: HeadClass) -> HeadClass:
        holder = _CLASSES.setdefault(kind, head_class)
        # The same class again: a module that was loaded a second time, as in a notebook.
        if (holder.__module__, holder.__qualname__) != (head_class.__module__, head_class.__qualname__):
            raise HeadError(f"head kind {kind!r} is taken by {holder.__qualname__}. Register under another name")
        _CLASSES[kind] = head_class
        return head_class

    return decorate


def kind_of_head(head: Any) -> str:
    """The name under which the class of a head is registered. Raises HeadError: it is not."""
    for kind, head_class in _CLASSES.items():
        if type(head) is head_class:
            return kind
    problem = f"a {type(head).__name__} cannot be saved; available: {', '.join(sorted(_CLASSES)) or 'none'}"
    raise HeadError(f"{problem}. To add a class, decorate it with mirenc.decide.estimators.head_state.register")


def pack(head: Any, prefix: str = "") -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """A head as JSON can hold it, and its arrays by names that start with the prefix; `unpack` reverses it."""
    arrays: dict[str, NDArray[Any]] = {}
    return _packed(head, prefix, arrays), arrays


def _packed(value: Any, name: str, arrays: dict[str, NDArray[Any]]) -> Any:
    """A value as JSON can hold it; arrays are added to ``arrays``."""
    if isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
        arrays[name] = value
        return {"array": name, "shape": [*value.shape]}
    if isinstance(value, np.ndarray):
        labels = value.tolist()
        if not all(isinstance(label, str) for label in labels):
            problem = f"labels of type {value.dtype} cannot be saved; available: bool, int, float, str"
            raise HeadError(f"{problem}. Give the classes as strings or numbers")
        return {"labels": {"dtype": value.dtype.str, "values": labels}}
    if isinstance(value, np.generic):
        return value.item()
    if value is None or isinstance(value, bool | int | float | str):
        return value

    def pack_children(children: Mapping[Any, Any]) -> dict[str, Any]:
        start = f"{name}{_SEPARATOR}" if name else ""
        return {str(key): _packed(child, f"{start}{key}", arrays) for key, child in children.items()}

    if isinstance(value, dict):
        return {"dict": pack_children(value)}
    if isinstance(value, list | tuple):
        return {type(value).__name__: [*pack_children(dict(enumerate(value))).values()]}
    return {"kind": kind_of_head(value), "state": pack_children(value._state())}


def unpack(entry: Any, arrays: Arrays, where: str) -> Any:
    """Reverse `pack`. Raises HeadError, which says ``where``: no such head, or one that cannot answer."""
    match entry:
        case None | bool() | int() | float() | str():
            return entry
        case {"array": str(name)}:
            if name not in arrays:
                raise damaged(where, f"array {name!r} is missing")
            shape = [*arrays[name].shape]
            if entry.get("shape", shape) != shape:  # older heads do not say the shape
                raise damaged(where, f"array {name!r} has shape {shape}, not {entry['shape']}")
            return arrays[name]
        case {"labels": {"dtype": str(kind), "values": list(labels)}}:
            if not _TEXT.fullmatch(kind) or not all(isinstance(label, str) for label in labels):
                raise damaged(where, f"labels of type {kind} are none that mirenc writes")
            return np.array(labels, dtype=kind)
        case {"dict": dict(items)}:
            return {key: unpack(item, arrays, where) for key, item in items.items()}
        case {"list": list(items)}:
            return [unpack(item, arrays, where) for item in items]
        case {"tuple": list(items)}:
            return tuple(unpack(item, arrays, where) for item in items)
        case {"kind": str(kind), "state": dict(state)}:
            return _head_of(kind, {key: unpack(item, arrays, where) for key, item in state.items()}, where)
    raise HeadError(f"{where}: describes no head: 'kind' or 'state' is missing. Save the head again")


def below(arrays: Arrays, prefix: str) -> dict[str, NDArray[Any]]:
    """The arrays stored under a prefix, by their names without it."""
    start = f"{prefix}{_SEPARATOR}"
    return {name.removeprefix(start): array for name, array in arrays.items() if name.startswith(start)}


def _head_of(kind: str, state: dict[str, Any], where: str) -> Any:
    if kind not in _CLASSES:
        raise HeadError(
            f"{where}: unknown kind of head {kind!r}; available: {', '.join(sorted(_CLASSES))}. "
            "If it is your own, import its module first; if it is mirenc's, type: pip install --upgrade mirenc"
        )
    try:
        head = _CLASSES[kind]._from_state(state)
    except MirencError as error:
        raise HeadError(f"{where}: {error}") from None
    except _DAMAGE as error:
        raise damaged(where, f"{type(error).__name__}: {error}") from error
    # Before memory is reserved for counts that the arrays need not agree with.
    for name, noun, smallest, largest in _COUNTS:
        count = getattr(head, name, smallest)
        if isinstance(count, bool) or not isinstance(count, (int, np.integer)) or not smallest <= count <= largest:
            problem = f"{where}: a head of {count!r} {noun}"
            raise HeadError(f"{problem}; allowed: whole numbers up to {largest}. Train the head anew")
    _check_answer(head, where)
    return head


def damaged(where: str, reason: object) -> HeadError:
    """The error for a file or a head that is not what was saved."""
    return HeadError(f"{where} is damaged: {reason}. Save the head again, or train it anew")


def _check_answer(head: Any, where: str) -> None:
    """Refuse a head that cannot answer two rows: arrays that do not fit each other show when they are used."""
    chooses = hasattr(head, "predict_proba")
    predict = getattr(head, "predict_proba", getattr(head, "predict", None))
    if predict is None or not hasattr(head, "n_features_in_"):
        return  # not a head, or one that was never trained
    rows = np.repeat([[0.0], [1.0]], head.n_features_in_, axis=1)
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            settings = head._any_settings(len(rows)) if getattr(head, "takes_settings", False) else None
            answer = np.asarray(predict(rows) if settings is None else predict(rows, settings), dtype=np.float64)
    except (HeadError, *_DAMAGE) as error:
        raise damaged(
            where, f"it cannot answer for {rows.shape[1]} features ({type(error).__name__}: {error})"
        ) from error
    width = getattr(head, "n_choices_", getattr(head, "n_labels_", len(getattr(head, "classes_", ()))))
    is_complete = np.isfinite(answer).all() and answer.shape == (len(rows), *([width] if width else answer.shape[1:]))
    is_valid = not chooses or (answer.min() >= 0 and bool((abs(answer.sum(axis=1) - 1) < _SUM_ERROR).all()))
    if not is_complete or not is_valid:
        kind = "preference" if chooses else "finite number"
        raise damaged(where, f"it answers {answer.tolist()}, which is not a {kind}")
