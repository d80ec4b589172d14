"""What both LLVMs that run lists of passes do alike in their child process: run a list, weigh the result.

The parent's side is `mirenc.llvm.passes.size_after_passes`. Stand-alone (`mirenc.base.child_main`).
"""

import hashlib
import os
import resource
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from typing import Any

from mirenc.llvm.passes.object_file import Section, elf_sections, is_elf, sums

OPEN_NO_FILE = "MIRENC_OPEN_NO_FILE"
"""Environment variable: where it is set, LLVM can open no file, which assembly in a module could otherwise include."""
_SIZES_KEPT = 100_000
Answer = tuple[dict[str, Any], bytes]


class RefusedError(Exception):
    """A list that gives no figures; ``status`` says at what step: ``pipeline``, ``broken`` or ``backend``."""

    def __init__(self, status: str, problem: str) -> None:
        super().__init__(problem)
        self.status = status


class PassService:
    """An LLVM that runs passes: each list from the same bytes, in a context of its own, as ``opt`` on that bitcode."""

    version: str

    def __init__(self) -> None:
        self._sizes: dict[tuple[str, int], dict[str, int]] = {}

    def read(self, ir: bytes, debug: bool) -> bytes:
        """Bitcode of a module, with its debug information or without; ValueError where parser or verifier refuse it."""
        raise NotImplementedError

    def run(self, bitcode: bytes, pipeline: str, codegen: int) -> AbstractContextManager[tuple[Any, Any]]:
        """A module after a list of passes, and its target machine; RefusedError."""
        raise NotImplementedError

    def write_bitcode(self, module: Any, machine: Any) -> bytes:
        """Bitcode of a module that has run, without names of locals; RefusedError where it is broken."""
        raise NotImplementedError

    def instructions(self, module: Any) -> int:
        raise NotImplementedError

    def emit_object(self, module: Any, machine: Any) -> bytes:
        """The object file of a module, which the backend changes; RefusedError."""
        raise NotImplementedError

    def print_text(self, module: Any) -> bytes:
        """The text of a module."""
        raise NotImplementedError

    def sections(self, data: bytes) -> Iterable[Section]:
        """Sections of an object file that is not ELF; RefusedError."""
        raise NotImplementedError

    def answers(self, request: dict[str, Any], holder: list[bytes]) -> Iterator[Answer]:
        """Yield ``read``, then ``ok`` with figures or a ``problem`` for each list; or ``input`` if IR is refused."""
        if os.environ.get(OPEN_NO_FILE):
            resource.setrlimit(resource.RLIMIT_NOFILE, (0, 0))
        try:
            bitcode = self.read(holder.pop(), request["debug"])
        except ValueError as error:
            yield {"status": "input", "problem": str(error)}, b""
            return
        yield {"status": "read"}, b""
        for pipeline in request["pipelines"]:
            try:
                figures, result = self.answer(bitcode, pipeline, request["codegen"], request["keep"])
                yield {"status": "ok"} | figures, result
            except RefusedError as refusal:
                yield {"status": refusal.status, "problem": str(refusal)}, b""
            except MemoryError:
                yield {"status": "memory", "problem": "out of memory"}, b""

    def answer(self, bitcode: bytes, pipeline: str, codegen: int, keep: str) -> Answer:
        """Figures of what a list of passes makes of a module, and its ``ir`` where ``keep`` says so; RefusedError.

        Where that says ``object`` or ``text``, the object file or the text without any figures.
        """
        if keep == "object" and not pipeline and b"llvm.coro." in bitcode:  # else LLVM ends the process
            pipeline = "default<O0>"  # splits coroutines
        with self.run(bitcode, pipeline, codegen) as (module, machine):
            if keep == "object":
                return {}, self.emit_object(module, machine)
            if keep == "text":
                return {}, self.print_text(module)
            optimised = self.write_bitcode(module, machine)
            digest = hashlib.sha256(optimised).hexdigest()
            key = (digest, codegen)
            if key not in self._sizes:
                if len(self._sizes) >= _SIZES_KEPT:
                    self._sizes.clear()
                # Of the bitcode as it is written: reading it again may order uses anew, which the backend goes by.
                _, data = self.answer(optimised, "", codegen, "object")
                section_sizes = sums(elf_sections(data) if is_elf(data) else self.sections(data))
                self._sizes[key] = {"instructions": self.instructions(module), **section_sizes}
            return {**self._sizes[key], "digest": digest}, optimised if keep else b""
