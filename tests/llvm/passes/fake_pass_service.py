"""A service without LLVM: it does what a list tells it, so that `Engine` and `ChildProcess` can be tested."""

import os
import sys
import time
from typing import Any

from mirenc.llvm.child.pass_service import PassService, RefusedError


class FakePassService(PassService):
    version = "99.1"

    def read(self, ir: bytes, debug: bool) -> bytes:
        if ir == b"refused":
            raise ValueError("<string>:1:1: error: no\nrefused\n^")
        if ir == b"deadly":
            print("LLVM ERROR: deadly", file=sys.stderr, flush=True)
            os.abort()
        return ir

    def answer(self, bitcode: bytes, pipeline: str, codegen: int, keep: str) -> tuple[dict[str, Any], bytes]:
        if pipeline == "abort":
            print("LLVM ERROR: as asked", file=sys.stderr, flush=True)
            os.abort()
        if pipeline == "loop":
            time.sleep(1000)
        if pipeline == "eat":
            bytearray(1 << 34)
        if pipeline == "break":
            raise RefusedError("broken", "the result is broken")
        figures = {"instructions": len(bitcode), "text_bytes": codegen, "digest": pipeline}
        return figures, bitcode[::-1] if keep else b""


def open_service(arguments: list[str]) -> FakePassService:
    if arguments == ["missing"]:
        raise OSError("libfake.so: No such file")
    return FakePassService()
