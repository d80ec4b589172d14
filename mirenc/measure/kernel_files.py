"""Kernels as data: the C files of ``kernels/loops`` and ``kernels/gpu``, a file a family, a few header lines a kernel.

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
What values a key may have is tested, since all these files are the project's own.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from mirenc.errors import ConfigError

KERNELS = Path(__file__).with_name("kernels")
_KEY = re.compile(r"// (\w+(?: by T)?): (.+)")
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
    above: str  # types or functions that the kernel needs; "" for none
    returns: str
    function: str
    parameters: tuple[str, ...]
    body: tuple[str, ...]  # lines without the outer indent


def fill_words(template: str, words: Mapping[str, str]) -> str:
    """Put values in the place of words; a value may hold a type (a cast), so the types come last."""
    for word in sorted(words, key=lambda word: (word in ("T", "U", "I", "J"), word)):
        template = re.sub(r"_F\b" if word == "_F" else rf"\b{word}\b", words[word], template)
    return template


def read_folder(folder: str, keys: Mapping[str, str]) -> dict[str, list[KernelText]]:
    """Read the kernels of a folder (``loops`` or ``gpu``) by family: files in their order, named without their numbers.

    ``keys`` are what else a header may say, and what holds where it does not. A `ConfigError` names a damaged line.
    """
    shared: Lists = {}
    families = {}
    for path in sorted((KERNELS / folder).glob("*.c")):
        kernels, lists = read_family(path, keys, shared)
        if kernels:
            families[kernels[0].family] = kernels
        else:
            shared = lists
    return families


def read_family(path: Path, keys: Mapping[str, str], shared: Lists) -> tuple[list[KernelText], Lists]:
    """Read one file: its kernels, and all lists by their names."""
    family = re.sub(r"^\d+_", "", path.stem).replace("_", " ")
    lines = path.read_text(encoding="utf-8").splitlines()
    starts = [number for number, line in enumerate(lines) if line.startswith("// name:")] + [len(lines)]
    lists, defaults = dict(shared), dict(keys)
    for place, key, value in _entries(path, 0, lines[: starts[0]], prose=True):
        if key.isupper():
            lists[key] = listed(value, lists)
        elif key in keys:
            defaults[key] = value
        else:
            raise ConfigError(f"{place}: {key!r} is unknown; known: {', '.join(keys)}, and lists in capitals")
    kernels = [_read_kernel(path, family, start, lines[start:end], lists, defaults) for start, end in pairwise(starts)]
    return kernels, lists


def _read_kernel(
    path: Path, family: str, start: int, lines: Sequence[str], lists: Lists, defaults: Mapping[str, str]
) -> KernelText:
    length = next((number for number, line in enumerate(lines) if not line.startswith("//")), len(lines))
    places, values = {}, {}
    for place, key, value in _entries(path, start, lines[:length], prose=False):
        if key in values:
            raise ConfigError(f"{place}: {key} is said twice")
        places[key], values[key] = place, value
    head, _, body = "\n".join(lines[length:]).strip("\n").rpartition("\n{\n")
    above, _, signature = head.rpartition("\n\n")
    match = _SIGNATURE.fullmatch(signature)
    if match is None or not body.endswith("\n}"):
        wanted = "write RETURNS NAME(PARAMETERS), { and } in lines of their own"
        raise ConfigError(f"{path}, line {start + length + 1}: no function; {wanted}")
    parameters = tuple(text.strip() for text in match["parameters"].split(","))
    names = [re.findall(r"\w+", text.split("[")[0])[-1] for text in parameters]
    for key in values:
        if key not in defaults and key not in names and key != "name" and not key.partition(" ")[0].isupper():
            known = f"known: {', '.join(defaults)}, words in capitals and the parameters {', '.join(names)}"
            raise ConfigError(f"{places[key]}: {key!r} is unknown; {known}")
    words = {key: listed(value, lists) for key, value in values.items() if key.partition(" ")[0].isupper()}
    uses = "\n".join((*lines[length:], *(value for key, value in values.items() if key in names)))
    for word in words.keys() - {"T"}:
        if not re.search(rf"\b{word.partition(' ')[0]}\b", uses):
            raise ConfigError(f"{places[word]}: nothing uses {word}")
    return KernelText(
        name=values.pop("name"),
        family=family,
        keys={key: values.pop(key, default) for key, default in defaults.items()},
        data={key: value for key, value in values.items() if key in names},
        words={"T": lists.get("T", ()), **words},
        above=above.strip("\n"),
        returns=match["returns"].strip(),
        function=match["function"],
        parameters=parameters,
        body=tuple(line.removeprefix("    ") for line in body.removesuffix("\n}").split("\n")),
    )


def _entries(path: Path, start: int, lines: Sequence[str], *, prose: bool) -> Iterator[tuple[str, str, str]]:
    """Place, key and value of header lines."""
    entries: list[tuple[str, str, str]] = []
    for number, line in enumerate(lines, start + 1):
        if line.startswith("//  ") and entries:
            place, key, value = entries[-1]
            entries[-1] = place, key, f"{value} {line[2:].strip()}"
        elif match := _KEY.fullmatch(line):
            entries.append((f"{path}, line {number}", match[1], match[2].strip()))
        elif not prose or (line and not line.startswith("//")):
            raise ConfigError(f"{path}, line {number}: {line!r} is no header; write `// KEY: VALUE`")
    return iter(entries)


def listed(value: str, lists: Lists) -> tuple[str, ...]:
    """Values between bars; the name of a list stands for its values."""
    return tuple(one for item in value.split("|") for one in lists.get(item.strip(), (item.strip(),)))
