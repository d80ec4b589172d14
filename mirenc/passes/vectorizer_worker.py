"""The child process that asks LLVM's loop vectorizer: a module on stdin, ``[[line, width, count], ...]`` on stdout.

Stand-alone, like `mirenc.ir.worker`, and a process of its own: remarks are an option of all LLVM in a process, LLVM
writes them to stderr, and it may abort.
"""

from __future__ import annotations

import json
import os
import re
import sys
import tempfile

_VECTORISED = re.compile(
    r"^remark: [^\n]*?:(\d+):\d+: vectorized loop \(vectorization width: (\d+), interleaved count: (\d+)\)",
    re.MULTILINE,
)
_INTERLEAVED = re.compile(r"^remark: [^\n]*?:(\d+):\d+: interleaved loop \(interleaved count: (\d+)\)", re.MULTILINE)


def main() -> None:
    """Answer for one module. Arguments: the folder that llvmlite is in, the triple, the processor."""
    folder, triple, processor = sys.argv[1:]
    sys.path.insert(0, folder)
    import llvmlite.binding as llvm

    text = sys.stdin.buffer.read().decode()
    with tempfile.TemporaryFile() as remarks:
        os.dup2(remarks.fileno(), 2)
        llvm.set_option("mirenc", "-pass-remarks=loop-vectorize")
        llvm.initialize_all_targets()
        llvm.initialize_all_asmprinters()
        machine = llvm.Target.from_triple(triple).create_target_machine(cpu=processor, opt=3, reloc="pic")
        module = llvm.parse_assembly(text)
        options = llvm.create_pipeline_tuning_options(speed_level=3)
        options.loop_vectorization = options.loop_interleaving = options.slp_vectorization = True
        builder = llvm.create_pass_builder(machine, options)
        builder.getModulePassManager().run(module, builder)
        remarks.seek(0)
        told = remarks.read().decode("utf-8", "replace")
    answers = [tuple(map(int, match)) for match in _VECTORISED.findall(told)]
    answers += [(int(line), 1, int(count)) for line, count in _INTERLEAVED.findall(told)]
    json.dump(answers, sys.stdout)


if __name__ == "__main__":
    main()
