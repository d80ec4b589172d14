"""What runs in the child of `mirenc.llvm.passes.vectorizer`: llvmlite's LLVM at -O3, whose remarks are read.

A process of its own: remarks are an option of all LLVM in a process, and LLVM writes them to descriptor 2, which the
parent has made a file.
"""

import itertools
import os
import re
from collections.abc import Iterator
from typing import Any

from mirenc.llvm.child.parsing_service import llvmlite, version_of

LOOP = "mirenc.loop"
_PLACE = r"^remark: [^\n]*?:(\d+):\d+: "
_VECTORISE_REMARK = re.compile(
    _PLACE + r"vectorized loop \(vectorization width: (\d+), interleaved count: (\d+)\)", re.MULTILINE
)
_INTERLEAVE_REMARK = re.compile(_PLACE + r"interleaved loop \(interleaved count: (\d+)\)", re.MULTILINE)
_UNROLL_REMARK = re.compile(_PLACE + r"unrolled loop by a factor of (\d+)", re.MULTILINE)


class VectorizerService:
    """llvmlite's LLVM, for one processor."""

    def __init__(self, llvm: Any, triple: str, processor: str) -> None:
        self._llvm = llvm
        self.version = version_of(llvm)
        llvm.set_option("mirenc", "-pass-remarks=loop-vectorize|loop-unroll")
        # Floating-point sums keep their order, as where settings were measured.
        llvm.set_option("mirenc", "-hints-allow-reordering=false")
        llvm.initialize_all_targets()
        llvm.initialize_all_asmprinters()
        target = llvm.Target.from_triple(triple)
        self._machine = target.create_target_machine(cpu=processor, opt=3, reloc="pic", codemodel="default")
        self._machine.set_asm_verbosity(True)

    def answers(self, request: dict[str, Any], holder: list[bytes]) -> Iterator[tuple[dict[str, Any], bytes]]:
        """An answer for each ending of a module in text: line, width and count, and line and factor, of its loops.

        Where the request names a ``function``, its assembly comes with it, and block ``header`` is called `LOOP`.
        """
        llvm, text = self._llvm, holder.pop().decode()
        for ending in request["endings"]:
            offset = os.fstat(2).st_size
            module = llvm.parse_assembly(text + ending)
            if request["function"]:
                blocks = module.get_function(request["function"]).blocks
                next(itertools.islice(blocks, request["header"], None)).name = LOOP
            options = llvm.create_pipeline_tuning_options(speed_level=3)
            options.loop_vectorization = options.loop_interleaving = options.slp_vectorization = True
            builder = llvm.create_pass_builder(self._machine, options)
            builder.getModulePassManager().run(module, builder)
            remarks = os.pread(2, os.fstat(2).st_size - offset, offset).decode("utf-8", "replace")
            choices = [tuple(map(int, match)) for match in _VECTORISE_REMARK.findall(remarks)]
            choices += [(int(line), 1, int(count)) for line, count in _INTERLEAVE_REMARK.findall(remarks)]
            unrolls = [tuple(map(int, match)) for match in _UNROLL_REMARK.findall(remarks)]
            assembly = self._machine.emit_assembly(module).encode() if request["function"] else b""
            yield {"choices": choices, "unrolled": unrolls}, assembly


def open_service(arguments: list[str]) -> VectorizerService:
    """The service; the arguments are the folder in which llvmlite lies, the triple, the processor."""
    folder, triple, processor = arguments
    return VectorizerService(llvmlite(folder), triple, processor)
