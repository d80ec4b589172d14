"""How far a kernel's source, compiled as `mirenc predict` compiles it, is from the published IR of device mapping.

The tables of device mapping carry each kernel's OpenCL C (column ``src``, rewritten and preprocessed by Cummins et al.)
beside the IR that NCC's authors made of the original files. Both are embedded and put to the shipped heads.

    MIRENC_DATA=data python downstream/dialect_check.py [--compiler clang-14] [--spir]

One NPB source stands for up to five IR files, one a data size; the source has the constants of one of them. So there
are two medians: of each source and the nearest of its files, and of all rows. Decisions are counted over all rows.
About five minutes on one core. Every source's line is in ``--output``.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections import defaultdict
from pathlib import Path

import numpy as np

import mirenc
from mirenc.base.errors import CompileError, MirencError
from mirenc.decide.datasets.dataset_files import read_archive, read_table
from mirenc.decide.datasets.dataset_registry import dataset_folder
from mirenc.decide.registry import get_task
from mirenc.decide.task_head import TaskHead, ready_heads
from mirenc.decide.tasks.device_mapping import ir_name
from mirenc.llvm import OPENCL_X86, IRModule, bring, parse_ir
from mirenc.llvm.inputs.compile_source import compile_source

# Sources of libclc's headers call its internals by name; they are the builtins.
LIBCLC = tuple(f"-D__clc_{name}={name}" for name in ("ceil", "fabs", "floor", "pow"))


def main() -> None:
    """Compile, embed, ask, count."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--compiler", help="a clang; default: what mirenc finds")
    options.add_argument("--spir", action="store_true", help="compile for spir64, to see what is not brought")
    options.add_argument("--as-read", action="store_true", help="leave out `bring`")
    options.add_argument("--output", type=Path, help="JSON lines, one a source")
    arguments = options.parse_args()
    compiling = {"compiler": arguments.compiler, "cflags": LIBCLC, "dialect": None if arguments.spir else OPENCL_X86}
    encoder = mirenc.load()  # the heads' model
    task = get_task("device_mapping")
    heads = {name: TaskHead.load(folder, task, encoder=encoder) for name, folder in ready_heads(task).items()}
    folder = dataset_folder("device_mapping")
    kernels = read_archive(folder, "kernels_ir")
    rows = defaultdict(list)
    for row in read_table(folder, "cgo17-nvidia.669.csv"):
        rows[row["src"]].append(row)

    published: dict[str, IRModule] = {}
    lines, refused = [], []
    with tempfile.TemporaryDirectory() as place:
        for number, (source, table_rows) in enumerate(rows.items()):
            path = Path(place, f"{number}.cl")
            path.write_text(source, encoding="utf-8")
            files = [ir_name(row["benchmark"], row["dataset"], kernels) or "" for row in table_rows]
            try:
                module = parse_ir(compile_source(path, "cl", **compiling), name=str(path))
            except CompileError as error:
                refused.append((files[0], str(error).partition("error: ")[2].partition(". Mend the source")[0]))
                continue
            try:
                module = module if arguments.as_read else bring(module, OPENCL_X86)
            except MirencError as error:
                print(f"not brought: {files[0]}: {error}")
                continue
            for file in files:
                if file not in published:
                    published[file] = parse_ir(kernels[file], name=file)
            vector = encoder.embed(module, form="plain")
            cosine = [_cosine(vector, encoder.embed(published[file], form="plain")) for file in files]
            matches = {
                name: [
                    _preferred(head, module, context) == _preferred(head, published[file], context)
                    for file, row in zip(files, table_rows, strict=True)
                    for context in [{column: row[column] for column in task.context.names}]
                ]
                for name, head in heads.items()
            }
            lines.append(
                {"files": files, "cosine": cosine, **{f"same_{name}": agreement for name, agreement in matches.items()}}
            )

    best_cosines = np.array([max(line["cosine"]) for line in lines])
    all_cosines = np.array([value for line in lines for value in line["cosine"]])
    print(f"sources: {len(rows)}, compiled {len(lines)}, refused {len(refused)}; rows compared {len(all_cosines)}")
    for title, values in (("source and its nearest file", best_cosines), ("all rows", all_cosines)):
        print(
            f"cosine, {title}: median {np.median(values):.4f}, mean {values.mean():.4f}, "
            f"10th percentile {np.quantile(values, 0.1):.4f}"
        )
    for name in heads:
        same_rows = [value for line in lines for value in line[f"same_{name}"]]
        nearest_same = [line[f"same_{name}"][int(np.argmax(line["cosine"]))] for line in lines]
        print(
            f"same decision, {name}: {sum(same_rows)} of {len(same_rows)} rows ({np.mean(same_rows):.1%}), "
            f"{sum(nearest_same)} of {len(nearest_same)} sources ({np.mean(nearest_same):.1%})"
        )
    if arguments.output:
        with arguments.output.open("w", encoding="utf-8") as stream:
            for line in lines:
                print(json.dumps(line), file=stream)
            for file, reason in refused:
                print(json.dumps({"files": [file], "refused": reason}), file=stream)


def _preferred(head: TaskHead, module: IRModule, context: dict[str, str]) -> str:
    (prediction,) = head.predict(module, context)
    return prediction.preferred


def _cosine(a: np.ndarray, b: np.ndarray) -> float:
    return float(a @ b / np.linalg.norm(a) / np.linalg.norm(b))


if __name__ == "__main__":
    main()
