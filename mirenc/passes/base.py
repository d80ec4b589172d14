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
        (result,) = self._results(ir, [pipeline], codegen, keep_ir=True)
        if isinstance(result, Failed):
            raise PassError(f"{self.name} fails on this list ({result.status}): {result.problem}", failed=result.status)
        return result

    def run_all(self, ir: bytes, pipelines: Iterable[str], *, codegen: int = CODEGEN) -> list[Optimised | Failed]:
        """Run each list by itself; see `Engine.run_all`."""
        return self._results(ir, list(pipelines), codegen, keep_ir=False)

    def knows(self, pipeline: str) -> bool:
        """Whether this LLVM can read a list of passes; see `Engine.knows`."""
        if pipeline not in self._known:
            (result,) = self._results(_NO_MODULE, [pipeline], CODEGEN, keep_ir=False)
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

    def _results(self, ir: bytes, pipelines: list[str], codegen: int, *, keep_ir: bool) -> list[Optimised | Failed]:
        refused: dict[int, Failed] = {}
        spelled = []
        for number, pipeline in enumerate(pipelines):
            try:
                spelled.append(self._spelled(pipeline))
            except PassError as error:
                refused[number] = Failed("pipeline", str(error))
        answers = iter(self._process.ask(ir, spelled, codegen=codegen, keep_ir=keep_ir))
        return [refused.get(number) or _result(next(answers)) for number in range(len(pipelines))]


def _result(answer: tuple[dict[str, Any], bytes] | Failed) -> Optimised | Failed:
    if isinstance(answer, Failed):
        return answer
    figures, ir = answer
    numbers = {name: figures[name] for name in ("instructions", "text_bytes", "data_bytes")}
    return Optimised(digest=figures["digest"], ir=ir, **numbers)
