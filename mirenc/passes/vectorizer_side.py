"""What the child process (`mirenc.ir.worker`) does for `mirenc.passes.vectorizer`: it asks LLVM's loop vectorizer.

A process of its own: remarks are an option of all LLVM in a process, and LLVM writes them to descriptor 2, which the
parent has made a file.
"""

import os
import re
import sys
from collections.abc import Iterator
from typing import Any

_VECTORISED = re.compile(
    r"^remark: [^\n]*?:(\d+):\d+: vectorized loop \(vectorization width: (\d+), interleaved count: (\d+)\)",
    re.MULTILINE,
)
_INTERLEAVED = re.compile(r"^remark: [^\n]*?:(\d+):\d+: interleaved loop \(interleaved count: (\d+)\)", re.MULTILINE)


class Library:
    """llvmlite's LLVM, for one processor."""

    def __init__(self, llvm: Any, triple: str, processor: str) -> None:
        self._llvm = llvm
        self.version = ".".join(map(str, llvm.llvm_version_info))
        llvm.set_option("mirenc", "-pass-remarks=loop-vectorize")
        llvm.initialize_all_targets()
        llvm.initialize_all_asmprinters()
        self._machine = llvm.Target.from_triple(triple).create_target_machine(cpu=processor, opt=3, reloc="pic")

    def answers(self, request: dict[str, Any], holder: list[bytes]) -> Iterator[tuple[dict[str, Any], bytes]]:
        """One answer for a module in text: (line, width, count) of each loop."""
        module = self._llvm.parse_assembly(holder.pop().decode())
        options = self._llvm.create_pipeline_tuning_options(speed_level=3)
        options.loop_vectorization = options.loop_interleaving = options.slp_vectorization = True
        builder = self._llvm.create_pass_builder(self._machine, options)
        builder.getModulePassManager().run(module, builder)
        remarks = os.pread(2, os.fstat(2).st_size, 0).decode("utf-8", "replace")
        choices = [tuple(map(int, match)) for match in _VECTORISED.findall(remarks)]
        choices += [(int(line), 1, int(count)) for line, count in _INTERLEAVED.findall(remarks)]
        yield {"choices": choices}, b""


def open_library(arguments: list[str]) -> Library:
    """The library; the arguments are the folder in which llvmlite lies, the triple, the processor."""
    folder, triple, processor = arguments
    sys.path.insert(0, folder)
    import llvmlite.binding as llvm

    return Library(llvm, triple, processor)
