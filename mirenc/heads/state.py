"""What a head is made of: a kind, a small description that JSON can hold, and arrays. No pickle.

A head class joins with ``@register("name")`` and has ``_get_state()`` and, the way back, ``_from_state(meta, arrays)``.
A head made of other heads stores each with `pack`. A description never names a module or a class: what a stranger's
folder can bring to life is what is registered, and it is refused where it cannot answer.
"""

import warnings
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from mirenc.errors import HeadError

_SEPARATOR = "/"  # between a prefix and an array's name
_LONGEST_LABEL = 4096  # characters
# What no table of measurements comes near: a head that says more was not made by training.
_COUNTS = (("n_features_in_", "features", 0, 1_000_000), ("n_choices_", "choices", 1, 100_000))
_SUM_ERROR = 1e-3
# What a description or arrays that do not fit each other may raise.
_DAMAGE = (ArithmeticError, AttributeError, LookupError, MemoryError, RecursionError, TypeError, ValueError)

Arrays = Mapping[str, NDArray[Any]]
HeadClass = TypeVar("HeadClass", bound=type[Any])
_CLASSES: dict[str, type[Any]] = {}


def register(kind: str) -> Callable[[HeadClass], HeadClass]:
    """Class decorator: ``kind`` is the class's name in head.json, and never changes; `HeadError` where it is taken."""

    def join(head_class: HeadClass) -> HeadClass:
        taken = _CLASSES.setdefault(kind, head_class)
        # The same class again is a module loaded a second time, in a notebook for one.
        if (taken.__module__, taken.__qualname__) != (head_class.__module__, head_class.__qualname__):
            raise HeadError(f"head kind {kind!r} is taken by {taken.__qualname__}. Register under another name")
        _CLASSES[kind] = head_class
        return head_class

    return join


def kind_of_head(head: Any) -> str:
    """Name under which the class of a head is registered; `HeadError` where it is not."""
    for kind, head_class in _CLASSES.items():
        if type(head) is head_class:
            return kind
    problem = f"a {type(head).__name__} cannot be saved; available: {', '.join(sorted(_CLASSES)) or 'none'}"
    raise HeadError(f"{problem}. To add a class, decorate it with mirenc.heads.state.register")


def pack(head: Any, prefix: str) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """A head for its parent: what `unpack` wants back, and arrays whose names start with the prefix."""
    kind = kind_of_head(head)
    meta, arrays = head._get_state()
    return {"kind": kind, "meta": meta}, {f"{prefix}{_SEPARATOR}{name}": array for name, array in arrays.items()}


def unpack(entry: dict[str, Any], arrays: Arrays, prefix: str) -> Any:
    """The head that `pack` stored under the prefix; `HeadError` for what is none, or cannot answer."""
    return build(entry, below(arrays, prefix), f"child head {prefix!r}")


def below(arrays: Arrays, prefix: str) -> dict[str, NDArray[Any]]:
    """Arrays that were stored under a prefix, by their own names."""
    start = f"{prefix}{_SEPARATOR}"
    return {name.removeprefix(start): array for name, array in arrays.items() if name.startswith(start)}


def build(entry: Any, arrays: Arrays, where: str) -> Any:
    """The head of a kind, a meta and arrays; `HeadError` says where one cannot be made, or could not answer."""
    if not isinstance(entry, dict) or not isinstance(entry.get("kind"), str) or not isinstance(entry.get("meta"), dict):
        raise HeadError(f"{where}: describes no head: 'kind' or 'meta' is missing. Save the head again")
    kind = entry["kind"]
    if kind not in _CLASSES:
        raise HeadError(
            f"{where}: unknown kind of head {kind!r}; available: {', '.join(sorted(_CLASSES))}. "
            "If it is your own, import its module first; if it is mirenc's, type: pip install --upgrade mirenc"
        )
    try:
        head = _CLASSES[kind]._from_state(entry["meta"], arrays)
    except HeadError as error:
        raise HeadError(f"{where}: {error}") from None
    except _DAMAGE as error:
        raise damaged(where, f"{type(error).__name__}: {error}") from error
    # Before memory is taken for counts that the arrays of a head need not bear out.
    for name, what, least, most in _COUNTS:
        count = getattr(head, name, least)
        if isinstance(count, bool) or not isinstance(count, (int, np.integer)) or not least <= count <= most:
            found = f"{where}: a head of {count!r} {what}"
            raise HeadError(f"{found}; allowed: whole numbers up to {most}. Train the head anew")
    _check_answer(head, where)
    return head


def damaged(where: str, why: object) -> HeadError:
    """The error of a file or a head that is not what was saved."""
    return HeadError(f"{where} is damaged: {why}. Save the head again, or train it anew")


def _check_answer(head: Any, where: str) -> None:
    """Refuse a head that cannot answer: arrays that do not fit each other show when they are used."""
    chooses = hasattr(head, "predict_proba")
    ask = getattr(head, "predict_proba", getattr(head, "predict", None))
    if ask is None:
        return
    row = np.zeros((1, head.n_features_in_))
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            answer = np.asarray(ask(row), dtype=np.float64)
    except HeadError:
        return  # it wants more than rows, such as settings: nothing can be asked here
    except _DAMAGE as error:
        raise damaged(where, f"it cannot answer for {row.size} features ({type(error).__name__}: {error})") from error
    whole = np.isfinite(answer).all() and (not chooses or (answer.min() >= 0 and abs(answer.sum() - 1) < _SUM_ERROR))
    if not whole:
        kind = "preference" if chooses else "finite number"
        raise damaged(where, f"it answers {answer.tolist()}, which is no {kind}")


def meta_of_labels(labels: NDArray[Any]) -> dict[str, Any]:
    """(K,) labels, bool, int, float or str, as JSON can hold them; `HeadError` for others."""
    values = labels.tolist()
    if labels.dtype.kind not in "biufUO" or not all(isinstance(value, (bool, int, float, str)) for value in values):
        problem = f"labels of type {labels.dtype} cannot be saved; available: bool, int, float, str"
        raise HeadError(f"{problem}. Give the classes as strings or numbers")
    return {"dtype": labels.dtype.str, "values": values}


def labels_of_meta(meta: dict[str, Any]) -> NDArray[Any]:
    """(K,) labels that `meta_of_labels` described; `HeadError` for others."""
    values, dtype = meta["values"], np.dtype(meta["dtype"])
    # numpy gives each string the room that the type says, whatever its length.
    too_long = dtype.kind == "U" and dtype.itemsize > np.dtype(f"U{_LONGEST_LABEL}").itemsize
    if dtype.kind not in "biufUO" or too_long or not all(isinstance(each, (bool, int, float, str)) for each in values):
        raise HeadError(f"labels of type {meta['dtype']!r} are none that mirenc writes. Train the head anew")
    return np.array(values, dtype=dtype)
