"""The child process of `mutated.Judge`: LLVM parses and verifies a module, and says which."""

from collections.abc import Iterator
from typing import Any

from mirenc.llvm.child.parsing_service import llvmlite, parsed, version_of


class JudgingService:
    """llvmlite's LLVM as a judge."""

    def __init__(self, llvm: Any) -> None:
        self._llvm = llvm
        self.version = version_of(llvm)

    def answers(self, request: dict[str, Any], holder: list[bytes]) -> Iterator[tuple[dict[str, Any], bytes]]:
        verdict = "accepted"
        try:
            with parsed(self._llvm, holder.pop()) as module:
                module.verify()
        except (RuntimeError, ValueError):
            verdict = "refused"
        yield {"verdict": verdict}, b""


def open_service(arguments: list[str]) -> JudgingService:
    return JudgingService(llvmlite(arguments[0]))
