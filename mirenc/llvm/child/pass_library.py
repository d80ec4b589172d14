"""What both LLVMs of the passes do alike in the child process: run a list, weigh the result."""

import hashlib
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from typing import Any

from mirenc.llvm.passes.object_file import Section, elf_sections, is_elf, sums

_SIZES_KEPT = 100_000
Answer = tuple[dict[str, Any], bytes]


class RefusedError(Exception):
    """A list that gives no figures; ``status`` says at what step: ``pipeline``, ``broken`` or ``backend``."""

    def __init__(self, status: str, problem: str) -> None:
        super().__init__(problem)
        self.status = status


class PassLibrary:
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

    def finished(self, module: Any, machine: Any) -> bytes:
        """Bitcode of a module that has run, without names of locals; RefusedError where it is broken."""
        raise NotImplementedError

    def instructions(self, module: Any) -> int:
        raise NotImplementedError

    def emitted(self, module: Any, machine: Any) -> bytes:
        """The object file of a module, which the backend changes; RefusedError."""
        raise NotImplementedError

    def printed(self, module: Any, machine: Any) -> bytes:
        """The text of a module."""
        raise NotImplementedError

    def sections(self, data: bytes) -> Iterable[Section]:
        """Sections of an object file that is not ELF; RefusedError."""
        raise NotImplementedError

    def answers(self, request: dict[str, Any], holder: list[bytes]) -> Iterator[Answer]:
        """``read``, then ``ok`` with figures, or a ``problem``, for each list; ``input`` alone if the IR is refused."""
        try:
            module = self.read(holder.pop(), request["debug"])
        except ValueError as error:
            yield {"status": "input", "problem": str(error)}, b""
            return
        yield {"status": "read"}, b""
        for pipeline in request["pipelines"]:
            try:
                answer: dict[str, Any] = {}
                if request["keep"] in ("object", "text"):
                    made = self.made(module, pipeline, request["codegen"], request["keep"])
                else:
                    answer, made = self.answer(module, pipeline, request["codegen"])
            except RefusedError as refused:
                answer, made = {"status": refused.status, "problem": str(refused)}, b""
            except MemoryError:
                answer, made = {"status": "memory", "problem": "out of memory"}, b""
            yield {"status": "ok"} | answer, made if request["keep"] else b""

    def answer(self, bitcode: bytes, pipeline: str, codegen: int) -> Answer:
        """Figures and bitcode of what a list of passes makes of a module; RefusedError."""
        with self.run(bitcode, pipeline, codegen) as (module, machine):
            optimised = self.finished(module, machine)
            digest = hashlib.sha256(optimised).hexdigest()
            key = (digest, codegen)
            if key not in self._sizes:
                if len(self._sizes) >= _SIZES_KEPT:
                    self._sizes.clear()
                # Of the bitcode as it is written: reading it again may order uses anew, which the backend goes by.
                data = self.made(optimised, "", codegen, "object")
                weight = sums(elf_sections(data) if is_elf(data) else self.sections(data))
                self._sizes[key] = {"instructions": self.instructions(module), **weight}
            return {**self._sizes[key], "digest": digest}, optimised

    def made(self, bitcode: bytes, pipeline: str, codegen: int, what: str) -> bytes:
        """The ``object`` file or the ``text`` of what a list of passes makes of a module; RefusedError."""
        with self.run(bitcode, pipeline, codegen) as (module, machine):
            return (self.emitted if what == "object" else self.printed)(module, machine)
