"""Kernels as data: the C files of ``loops`` and ``gpu``, a file a family, a few header lines a kernel.

A file begins with what holds for all of it: prose, lists that headers may name, and values where a kernel says none.
Then each kernel has a header and its code, the last function of which is the kernel; what stands above it is for it::

    // Nests whose innermost loop is short.
    // SHORT: 2 | 3 | 3 | 4
    // rows: no

    // name: filter with few taps
    // T: float | int
    // K: SHORT | 16
    // x: n + K
    void kernel(T *out, const T *x, int taps, int n)
    {
        ...
    }

A key in capitals is a word of the code and what it may be; a parameter's is what it holds: ``LENGTH`` or
``LENGTH: FILL`` for a pointer (``n`` unless said), the value of a number (its own name unless said). Other keys are
those of the folder's reader. A line that begins with more than one blank goes on with the one before. The lists of a
file without kernels hold for those after it. A list called ``T`` stands for the word where a kernel does not have it.
All these files are the project's own, so that what they may say is tested, and not checked here.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
_HEADER = re.compile(r"(?://.*\n)*")
_ENTRY = re.compile(r"^// (\w+(?: by T)?): (.+(?:\n//  .+)*)", re.MULTILINE)
_SIGNATURE = re.compile(r"(?P<returns>[^(]*?)(?P<function>\w+)\((?P<parameters>.*)\)", re.DOTALL)

Lists = dict[str, tuple[str, ...]]


@dataclass(frozen=True)
class KernelText:
    """A kernel as its file has it."""

    name: str
    family: str
    keys: Mapping[str, str]  # of the header: values of the reader's keys, ...
    data: Mapping[str, str]  # ... what parameters hold, ...
    words: Mapping[str, tuple[str, ...]]  # ... and what words of the code may be
    preamble: str  # types or functions that the kernel needs; "" for none
    returns: str
    function: str
    parameters: tuple[str, ...]
    body: tuple[str, ...]  # lines without the outer indent


def fill_words(template: str, words: Mapping[str, str]) -> str:
    """Put values in the place of words; a value may hold a type (a cast), so the types come last."""
    for word in sorted(words, key=lambda word: (word in ("T", "U", "I", "J"), word)):
        template = re.sub(r"_F\b" if word == "_F" else rf"\b{word}\b", words[word], template)
    return template


def read_folder(folder: Path, keys: Mapping[str, str]) -> dict[str, list[KernelText]]:
    """Read the kernels of a folder by family: files in their order, named without their numbers.

    ``keys`` are what else a header may say, and what holds where it does not.
    """
    common_lists: Lists = {}
    families = {}
    for path in sorted(folder.glob("*.c")):
        first, *texts = re.split(r"^(?=// name: )", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
        lists, defaults = dict(common_lists), dict(keys)
        for key, value in entries(first).items():
            if key in keys:
                defaults[key] = value
            else:
                lists[key] = _list_values(value, lists)
        if texts:
            family = re.sub(r"^\d+_", "", path.stem).replace("_", " ")
            families[family] = [_read_kernel(text, family, lists, defaults) for text in texts]
        else:
            common_lists = lists
    return families


def _read_kernel(text: str, family: str, lists: Lists, defaults: Mapping[str, str]) -> KernelText:
    values = entries(text)
    code = _HEADER.sub("", text, count=1).strip("\n")
    declaration, _, body = code.removesuffix("\n}").rpartition("\n{\n")
    preamble, _, signature = declaration.rpartition("\n\n")
    words = {key: _list_values(values.pop(key), lists) for key in [*values] if key.partition(" ")[0].isupper()}
    match = _SIGNATURE.fullmatch(signature)
    assert match is not None
    return KernelText(
        name=values.pop("name"),
        family=family,
        keys={key: values.pop(key, default) for key, default in defaults.items()},
        words={"T": lists.get("T", ()), **words},
        data=values,
        preamble=preamble.strip("\n"),
        returns=match["returns"].strip(),
        function=match["function"],
        parameters=tuple(parameter.strip() for parameter in match["parameters"].split(",")),
        body=tuple(line.removeprefix("    ") for line in body.split("\n")),
    )


def entries(text: str) -> dict[str, str]:
    """Keys and values of the header that a text begins with."""
    header = _HEADER.findall(text)[0]
    return {key: re.sub(r"\s*\n//\s+", " ", value).strip() for key, value in _ENTRY.findall(header)}


def _list_values(value: str, lists: Lists) -> tuple[str, ...]:
    """Values between bars; the name of a list stands for its values."""
    return tuple(entry for item in value.split("|") for entry in lists.get(item.strip(), (item.strip(),)))
