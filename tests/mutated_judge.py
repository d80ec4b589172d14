"""The child process of `mutated.Judge`: LLVM parses and verifies a module, and says which."""

from collections.abc import Iterator
from typing import Any

from mirenc.llvm.child.child_main import llvmlite, parsed


class Library:
    """llvmlite's LLVM as a judge."""

    def __init__(self, llvm: Any) -> None:
        self._llvm = llvm
        self.version = ".".join(map(str, llvm.llvm_version_info))

    def answers(self, request: dict[str, Any], holder: list[bytes]) -> Iterator[tuple[dict[str, Any], bytes]]:
        verdict = "accepted"
        try:
            with parsed(self._llvm, holder.pop()) as module:
                module.verify()
        except (RuntimeError, ValueError):
            verdict = "refused"
        yield {"verdict": verdict}, b""


def open_library(arguments: list[str]) -> Library:
    return Library(llvmlite(arguments[0]))
