"""`ProcessEngine`: an engine whose LLVM lives in a child process; the base of both engines."""

from __future__ import annotations

from collections.abc import Iterable
from types import TracebackType
from typing import Any, Self

from mirenc.errors import PassError
from mirenc.passes.engine import CODEGEN, Failed, Optimised
from mirenc.passes.process import PassProcess

__all__ = ["ProcessEngine"]

_NO_MODULE = b'target triple = ""\n'


class ProcessEngine:
    """What `Engine` asks for, by a process.

    Parameters
    ----------
    process : PassProcess
    """

    def __init__(self, process: PassProcess) -> None:
        self._process = process
        self._known: dict[str, bool] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def name(self) -> str:
        """Which LLVM this is and how it is reached."""
        return self._process.name

    @property
    def version(self) -> str:
        """LLVM's version."""
        return self._process.version

    def run(self, ir: bytes, pipeline: str, *, codegen: int = CODEGEN) -> Optimised:
        """Run one list; see `Engine.run`."""
        (answer,) = self._process.ask(ir, [pipeline], codegen=codegen, keep_ir=True)
        if isinstance(answer, Failed):
            raise PassError(f"{self.name} fails on this list ({answer.status}): {answer.problem}", failed=answer.status)
        return _optimised(*answer)

    def run_all(self, ir: bytes, pipelines: Iterable[str], *, codegen: int = CODEGEN) -> list[Optimised | Failed]:
        """Run each list by itself; see `Engine.run_all`."""
        answers = self._process.ask(ir, list(pipelines), codegen=codegen)
        return [each if isinstance(each, Failed) else _optimised(*each) for each in answers]

    def knows(self, pipeline: str) -> bool:
        """Whether this LLVM can read a list of passes; see `Engine.knows`."""
        if pipeline not in self._known:
            (answer,) = self._process.ask(_NO_MODULE, [pipeline])
            self._known[pipeline] = not (isinstance(answer, Failed) and answer.status == "pipeline")
        return self._known[pipeline]

    def close(self) -> None:
        """End the process; the next request starts a new one."""
        self._process.close()


def _optimised(answer: dict[str, Any], ir: bytes) -> Optimised:
    return Optimised(answer["instructions"], answer["text_bytes"], answer["digest"], ir)
