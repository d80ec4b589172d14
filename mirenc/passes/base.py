"""`ProcessEngine`: an engine whose LLVM lives in a child process; the base of both engines."""

from __future__ import annotations

from collections.abc import Iterable
from types import TracebackType
from typing import Any, Self

from mirenc.errors import PassError
from mirenc.passes.engine import CODEGEN, Failed, Optimised
from mirenc.passes.process import PassProcess

__all__ = ["ProcessEngine"]

_Answer = tuple[dict[str, Any], bytes]
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
        figures, optimised = self._one(ir, pipeline, codegen, "ir")
        return _optimised(figures, optimised)

    def run_all(self, ir: bytes, pipelines: Iterable[str], *, codegen: int = CODEGEN) -> list[Optimised | Failed]:
        """Run each list by itself; see `Engine.run_all`."""
        answers = self._answers(ir, list(pipelines), codegen, "")
        return [each if isinstance(each, Failed) else _optimised(*each) for each in answers]

    def compile(self, ir: bytes, pipeline: str, *, codegen: int = CODEGEN) -> bytes:
        """Run one list and return the object file; see `Engine.compile`."""
        return self._one(ir, pipeline, codegen, "object")[1]

    def knows(self, pipeline: str) -> bool:
        """Whether this LLVM can read a list of passes; see `Engine.knows`."""
        if pipeline not in self._known:
            (result,) = self._answers(_NO_MODULE, [pipeline], CODEGEN, "")
            self._known[pipeline] = not (isinstance(result, Failed) and result.status == "pipeline")
        return self._known[pipeline]

    def close(self) -> None:
        """End the process; the next request starts a new one."""
        self._process.close()

    def _spelled(self, pipeline: str) -> str:
        """A list as the child's library wants it.

        Raises
        ------
        PassError
            The library cannot have it.
        """
        return pipeline

    def _one(self, ir: bytes, pipeline: str, codegen: int, keep: str) -> _Answer:
        (answer,) = self._answers(ir, [pipeline], codegen, keep)
        if isinstance(answer, Failed):
            raise PassError(f"{self.name} fails on this list ({answer.status}): {answer.problem}", failed=answer.status)
        return answer

    def _answers(self, ir: bytes, pipelines: list[str], codegen: int, keep: str) -> list[_Answer | Failed]:
        refused: dict[int, Failed] = {}
        spelled = []
        for number, pipeline in enumerate(pipelines):
            try:
                spelled.append(self._spelled(pipeline))
            except PassError as error:
                refused[number] = Failed("pipeline", str(error))
        answers = iter(self._process.ask(ir, spelled, codegen=codegen, keep=keep))
        return [refused.get(number) or next(answers) for number in range(len(pipelines))]


def _optimised(figures: dict[str, Any], ir: bytes) -> Optimised:
    numbers = {name: figures[name] for name in ("instructions", "text_bytes", "data_bytes", "loaded_bytes")}
    return Optimised(digest=figures["digest"], ir=ir, **numbers)
