"""Every error mirenc raises on purpose: what was found, what is allowed and what to type.

Each class is also the builtin a caller would expect (``ValueError``, ``OSError``, ``ImportError``), so ``except
ValueError`` keeps working in scripts that do not know mirenc. This module imports nothing of mirenc.
"""

import contextlib
import os
import re
import traceback
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

LOG = "MIRENC_LOG"
"""Environment variable: the file to which tracebacks of unexpected errors are appended."""
_CUTOFF = 0.68  # ratio of `difflib`: above that of code_size and block_size, below that of vectorizer and vectorization
_MOST_NAMES = 2  # names that are proposed for their words


class MirencError(Exception):
    """Base class: ``except MirencError`` catches everything mirenc raises on purpose. ``details`` are attributes."""

    def __init__(self, *args: object, **details: Any) -> None:
        super().__init__(*args)
        for name, value in details.items():
            setattr(self, name, value)


class _SystemError(MirencError, OSError):
    def __str__(self) -> str:  # an OSError's prints the tuple of arguments when there are two of them
        return str(self.args[0]) if self.args else ""


class IRFileError(_SystemError):
    """A file cannot be read: missing, a folder, no permission, too large, a damaged archive."""


class IRParseError(MirencError, ValueError):
    """LLVM refused the IR.

    ``line`` and ``column`` are the place in the input, from 1, where LLVM named one; ``diagnostic`` LLVM's own words,
    caret line included. ``by_verifier`` says that LLVM could parse the IR, and its verifier refuses it.
    """

    line: int | None = None
    column: int | None = None
    diagnostic: str = ""
    by_verifier: bool = False


class NoFunctionBodyError(MirencError, ValueError):
    """The module is valid but has no function body, so there is nothing to embed.

    A file read by itself raises it; among several files one without a function body is left out (`EmptyInputs`).
    """


class ForeignIRError(MirencError, ValueError):
    """The module is valid, but not of a task's dialect: it has no kernel, or cannot be rewritten for the target."""


class IRResourceError(_SystemError):
    """Reading went past its time or memory limit, or LLVM brought its process down (``crashed``)."""

    crashed: bool = False


class ToolchainError(_SystemError):
    """No compiler that can turn this source into IR was found."""


class CompileError(MirencError, ValueError):
    """The compiler refused the source; ``diagnostic`` are its own words."""

    diagnostic: str = ""


class PassError(MirencError, ValueError):
    """A list of passes is not usable: LLVM does not know it, or it fails on this module.

    ``failed`` says at what step, as a status of `mirenc.llvm.passes.size_after_passes.Failed`; "" where it was not run.
    """

    failed: str = ""


class GraphError(MirencError, ValueError):
    """A program graph breaks the schema, or a backend could not build one."""


class TokenizerError(MirencError, ValueError):
    """A tokenizer file or its training input is not usable."""


class ModelError(MirencError, ValueError):
    """A model folder, name or checksum is wrong, or two parts do not belong together."""


class HeadError(ModelError):
    """A head's folder is missing, damaged or of another release, or a head does not fit what it is given."""


class DatasetError(_SystemError):
    """A dataset is unknown, not there, damaged, or cannot be fetched."""


class ConfigError(MirencError, ValueError):
    """A configuration has an unknown key or a value out of range."""


class MissingExtraError(MirencError, ImportError):
    """A feature needs an optional dependency; the message names the extra to install."""


class TaskError(MirencError, ValueError):
    """A task's data, features or name is not usable; the message names the row or the key."""


class UnexpectedError(MirencError, RuntimeError):
    """A fault of mirenc itself, met while one input was read, prepared or encoded; other inputs are not affected.

    ``traceback`` is Python's text of it, which is also appended to the file that the variable ``MIRENC_LOG`` names.
    """

    traceback: str = ""


@contextmanager
def one_input(name: str, work: str) -> Iterator[None]:
    """Around the ``work`` ("read", "prepared", "encoded") on one input, which messages call ``name``.

    Every exception inside becomes an error of this input (`input_error`), so that a batch goes on. KeyboardInterrupt
    and SystemExit pass.
    """
    try:
        yield
    except MirencError:
        raise
    except Exception as error:
        raise input_error(error, name, work) from error


def input_error(error: Exception, name: str, work: str) -> MirencError:
    """The error to raise for an exception met in the ``work`` on the input ``name``; mirenc's own stay as they are.

    An IRResourceError where memory ran out or the system refused something, an UnexpectedError otherwise.
    """
    if isinstance(error, MirencError):
        return error
    if isinstance(error, MemoryError):
        return IRResourceError(f"{name}: out of memory while it was {work}. Leave this file out, or free memory")
    problem = " ".join(f"{type(error).__name__}: {error}".split())[:200]
    if isinstance(error, OSError):
        return IRResourceError(f"{name}: the system refused something while it was {work} ({problem}). Mend that first")
    text = "".join(traceback.format_exception(error))
    advice = f"the traceback is in {os.environ[LOG]}" if _log(name, text) else f"set {LOG}=FILE for a traceback"
    fault = f"{name}: a fault of mirenc ended it while it was {work} ({problem})"
    return UnexpectedError(f"{fault}. Leave this input out, and report the error; {advice}", traceback=text)


def _log(name: str, text: str) -> bool:
    """Append a traceback to the user's log; False where none is asked for, or it cannot be written."""
    with contextlib.suppress(KeyError, OSError), open(os.environ[LOG], "a", encoding="utf-8", errors="replace") as log:
        log.write(f"{name}\n{text}\n")
        return True
    return False


def did_you_mean(name: str, known: Iterable[str] | Mapping[str, str]) -> str:
    """``did you mean 'vectorization'?``, or "" where no known name is near.

    Near is what is spelled alike. Where nothing is, it is the names that share most words with ``name``; the words of a
    description, the value in a mapping, count as well.
    """
    import difflib

    matches = difflib.get_close_matches(name, known, n=1, cutoff=_CUTOFF)
    if not matches:
        texts = known if isinstance(known, Mapping) else dict.fromkeys(known, "")
        shared = {candidate: len(_words(name) & _words(f"{candidate} {text}")) for candidate, text in texts.items()}
        highest = max(shared.values(), default=0)
        matches = [candidate for candidate, count in shared.items() if count == highest > 0]
    return f"did you mean {' or '.join(map(repr, matches))}?" if 0 < len(matches) <= _MOST_NAMES else ""


def unknown(what: str, name: str, known: Iterable[str] | Mapping[str, str], advice: str = "") -> str:
    """The message about a name that is none of those known: all of them, the one that was meant, and ``advice``."""
    problem = f"unknown {what} {name!r}; available: {', '.join(known) or 'none'}"
    meant = did_you_mean(name, known)
    return ". ".join(filter(None, (problem, f"{meant[:1].upper()}{meant[1:]} {advice}".strip())))


def _words(text: str) -> set[str]:
    return set(re.findall(r"[^\W_]+", text.lower()))


class LeftOutWarning(UserWarning):
    """Files or flags of a project are left out; of all others there is a result."""


class SearchModelWarning(UserWarning):
    """Functions, or finer parts, are indexed by the default model, and another one finds more of them."""


class UnreadableIRWarning(UserWarning):
    """Some inputs could not be embedded, or have no function body: they have no rows, or rows of NaN."""


class EmptyInputs:
    """Counts the inputs, of ``total``, that have no function body: they are left out, and have not failed."""

    def __init__(self, total: int) -> None:
        self.total, self.empty = total, 0

    def add(self, error: MirencError) -> None:
        """Count an empty input by its error. Raises any other error, and NoFunctionBodyError where all are empty."""
        if not isinstance(error, NoFunctionBodyError):
            raise error
        self.empty += 1
        if self.empty == self.total:
            if self.total == 1:
                raise error
            problem = f"none of {self.total} files has a function body"
            raise NoFunctionBodyError(f"{problem}. Give modules with at least one `define`")

    @property
    def line(self) -> str:
        """How many are empty, in a sentence for the user."""
        has, is_ = ("has", "is") if self.empty == 1 else ("have", "are")
        return f"{self.empty} of {self.total} files {has} no function body and {is_} left out"


@contextmanager
def needs(extra: str, what: str) -> Iterator[None]:
    """Around imports that need an extra; ``what`` is the sentence that says for what, as in "a plot needs matplotlib".

    A MissingExtraError takes the place of an import that fails.
    """
    try:
        yield
    except ImportError as error:
        raise MissingExtraError(f"{what} ({error}). Type: pip install 'mirenc[{extra}]'") from None
