"""Does the target that a kernel was compiled for change what the device-mapping heads say of it.

Twelve ordinary kernels (tests/fixtures/opencl) compiled for the published dialect, for spir64, and for spir64 and
brought to the dialect: mean cosine to the first, and how many of 24 answers (two GPUs) differ from the first's. And
vector_add.cl, a text of our own, beside the published VectorAdd that the heads were trained on.

    MIRENC_DATA=data python downstream/dialect_ordinary.py [--compiler clang-14]
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

import mirenc
from mirenc.decide.datasets.dataset_files import read_archive
from mirenc.decide.datasets.dataset_registry import dataset_folder
from mirenc.decide.registry import get_task
from mirenc.decide.task_head import TaskHead, ready_heads
from mirenc.llvm import OPENCL_X86, ReadOptions, bring, parse_ir, read_ir

KERNELS = Path(__file__).parent.parent / "tests" / "fixtures" / "opencl"
CONTEXT = {"transfer": "1048576", "wgsize": "128"}  # bytes, work items


def main() -> None:
    """Compile three ways, embed, ask, count."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--compiler", help="a clang; default: what mirenc finds")
    arguments = options.parse_args()
    encoder = mirenc.load()  # the heads' model
    task = get_task("device_mapping")
    heads = {name: TaskHead.load(folder, task, encoder=encoder) for name, folder in ready_heads(task).items()}
    spir, x86 = (ReadOptions(compiler=arguments.compiler, dialect=dialect) for dialect in (None, OPENCL_X86))

    cosine: dict[str, list[float]] = {"spir64": [], "spir64, brought": []}
    flips = 0
    files = sorted(KERNELS.glob("*.cl"))
    for path in files:
        ordinary = read_ir(path, options=x86)
        foreign = read_ir(path, options=spir)
        for title, module in (("spir64", foreign), ("spir64, brought", bring(foreign, OPENCL_X86))):
            vectors = encoder.embed([ordinary, module], form="plain")
            cosine[title].append(_cosine(*vectors))
        for head in heads.values():  # which bring what they are asked about
            answers = [head.predict(module, CONTEXT)[0].preferred for module in (ordinary, foreign)]
            flips += answers[0] != answers[1]
    for title, values in cosine.items():
        print(f"{title:16} mean cosine {np.mean(values):.3f}, least {min(values):.3f}")
    print(f"answers that differ, dialect and spir64 brought: {flips} of {len(files) * len(heads)}")

    name = "nvidia-4.2-VectorAdd-VectorAdd.ll"
    published = parse_ir(read_archive(dataset_folder("device_mapping"), "kernels_ir")[name], name=name)
    head = next(iter(heads.values()))
    path = KERNELS / "vector_add.cl"
    readings = {
        "dialect": read_ir(path, options=x86),
        "spir64": read_ir(path, options=spir),
        "spir64, brought": bring(read_ir(path, options=spir), OPENCL_X86),
    }
    for title, module in readings.items():
        vectors = encoder.embed([published, module], form="plain")
        print(f"vector_add, {title:16} cosine {_cosine(*vectors):.3f}")
    prediction = head.predict(readings["spir64"], CONTEXT)[0]
    print(f"vector_add, as spir64 to the head: distance {prediction.distance:.2f}")


def _cosine(a: np.ndarray, b: np.ndarray) -> float:
    return float(a @ b / np.linalg.norm(a) / np.linalg.norm(b))


if __name__ == "__main__":
    main()
