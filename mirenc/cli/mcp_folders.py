"""Which files ``mirenc mcp`` may read: those below the folders of its command line, and links only inside of them."""

import contextlib
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from mirenc.base.errors import ConfigError
from mirenc.cli.messages import say
from mirenc.llvm import ReadOptions
from mirenc.llvm.inputs.containers import THIN, split_name
from mirenc.llvm.inputs.file_kind import find_inputs
from mirenc.llvm.inputs.input import Input, path_input
from mirenc.llvm.inputs.projects import current_ir, expand_inputs, object_inputs

_NO_IR = "no IR or bitcode in it. Give a file or folder with some"
_NOT_COMPILED = ", or let the user start `mirenc mcp --compile`, which compiles sources"


@dataclass(frozen=True)
class Folders:
    """The allowed folders, resolved.

    ``compiles``: whether sources are read, too, which runs a compiler with the flags of their project, and that reads
    what they include. Otherwise no folder is searched for more than IR, and no ``compile_commands.json`` is opened.
    """

    roots: Sequence[Path]
    compiles: bool = False

    @cached_property
    def base(self) -> str:
        """The folder that paths in questions and answers are relative to."""
        return os.path.commonpath(self.roots)

    def find(self, name: str, shown_name: str = "") -> Path:
        """The file or folder that a path means, resolved. Raises ConfigError: it is outside, or is not there.

        ``shown_name`` is what errors call it, if not ``name``.
        """
        path = None
        # Missing, too long, a circle of links, a NUL.
        with contextlib.suppress(OSError, RuntimeError, ValueError):
            path = Path(self.base, name).resolve(strict=True)
        # One message for what is outside and what is missing: it does not tell which files there are elsewhere.
        if path is None or not self._holds(path) or not (path.is_file() or path.is_dir()):
            problem = f"{(shown_name or name)[:200]!r} is not a file or folder in {', '.join(map(str, self.roots))}"
            raise ConfigError(f"{problem}. Give a path in there, absolute or relative to {self.base}")
        return path

    def inputs(self, name: str, options: ReadOptions) -> list[Input]:
        """The inputs that a path stands for; ``lib.a(member.o)`` is one. Raises ConfigError: as `find`, or none is."""
        path, label = split_name(os.path.join(self.base, name)) or (name, "")
        inputs = self._inputs(self.find(path, name), options)
        if inputs := [item for item in inputs if not label or (item.part and item.part.label == label)]:
            return inputs
        raise ConfigError(f"{name[:200]!r}: {_NO_IR}{'' if self.compiles else _NOT_COMPILED}")

    def every(self, options: ReadOptions) -> list[Input]:
        """The inputs in all folders, each once. Raises ConfigError: there are none."""
        if inputs := {item.name: item for root in self.roots for item in self._inputs(root, options)}:
            return [*inputs.values()]
        raise ConfigError(f"{', '.join(map(str, self.roots))}: {_NO_IR}{'' if self.compiles else _NOT_COMPILED}")

    def shown(self, name: str) -> str:
        """A path of a question as answers have it, links followed as in the names of `inputs`."""
        return os.path.relpath(os.path.realpath(os.path.join(self.base, name)), self.base)

    def _inputs(self, path: Path, options: ReadOptions) -> list[Input]:
        """The inputs in a file or folder, named from `base`, without those that links lead outside."""
        if self.compiles:
            inputs = list(expand_inputs([path], say, options))
        elif path.is_dir():
            ir = current_ir(list(filter(self._is_readable, find_inputs(path))))
            inputs = [*map(path_input, ir), *object_inputs(path, ir, self._is_readable)[0]]
        else:
            files = filter(self._is_readable, [path])
            inputs = [item for item in expand_inputs(files, say, options) if not item.language]
        places = [Path(item.part.path if item.part else str(item.value)) for item in inputs]
        readable = [place.is_file() and self._holds(place.resolve()) for place in places]
        # Those of a `compile_commands.json` are named from the working folder.
        names = [os.path.relpath(item.name, self.base) for item in inputs]
        return [replace(item, name=name) for item, name, valid in zip(inputs, names, readable, strict=True) if valid]

    def _holds(self, path: Path) -> bool:
        """Whether a resolved path is below one of the folders, or is one."""
        return any(path.is_relative_to(root) for root in self.roots)

    def _is_readable(self, path: Path) -> bool:
        """Whether a path is a file in the folders, and none that names files to read: a thin archive, or commands."""
        if path.suffix == ".json" or not os.path.isfile(path) or not self._holds(path.resolve()):
            return False
        with contextlib.suppress(OSError), open(path, "rb") as stream:
            return stream.read(len(THIN)) != THIN
        return True
