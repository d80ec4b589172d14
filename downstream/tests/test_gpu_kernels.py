"""The project's own OpenCL and CUDA kernels: enough of them, right in any block, and as people write them."""

import itertools
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from both_languages import Call, CudaKernels, OpenCLKernels
from gpu_kernels import KEYS, SIZES, GpuText, gpu_kernels, variants
from kernel_files import HERE, KernelText, read_folder

from mirenc.decide.tables.measured import MeasuredKernel
from mirenc.decide.tasks.block_size import block_space
from mirenc.llvm import parse_ir
from mirenc.llvm.inputs.compile_source import compile_source
from mirenc.llvm.inputs.dialect import WITHOUT_CUDA
from mirenc.llvm.ir.functions import kernels_of
from mirenc.tools.measure.block_size import LANGUAGES, BlockSizeMethod
from mirenc.tools.measure.gpu_driver import read_driver
from mirenc.tools.measure.sample_process import same_outputs

SUM = """// name: sum
// T: uint
// total: 1
// part: bx
__kernel void sum(__global const T *x, __global T *total, __local T *part, const int n)
{
    const int i = get_global_id(0);
    part[get_local_id(0)] = i < n ? x[i] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_add(total, part[get_local_id(0)]);
}
"""
ROOTS = """// name: roots
// T: float | double
// LOW by T: 0.5 | (T)0.25
__kernel void roots(__global T *y)
{
    y[0] = sqrt(y[0]) * LOW + (T)x;
}
"""


def variants_of(text: str, folder: Path) -> list[GpuText]:
    (folder / "family.c").write_text(text)
    return [one for kernel in read_folder(folder, KEYS)["family"] for one in variants(kernel)]


def test_one_template_is_natural_in_both_languages(tmp_path: Path) -> None:
    (one,) = variants_of(SUM, tmp_path)
    assert one.opencl() == (
        "__kernel void sum(__global const uint *x, __global uint *total, __local uint *part, const int n)\n{\n"
        "    const int i = get_global_id(0);\n"
        "    part[get_local_id(0)] = i < n ? x[i] : 0;\n"
        "    barrier(CLK_LOCAL_MEM_FENCE);\n"
        "    atomic_add(total, part[get_local_id(0)]);\n}\n"
    )
    assert one.cuda() == (
        'extern "C" __global__ void sum'
        "(const unsigned int *__restrict__ x, unsigned int *__restrict__ total, int n)\n{\n"
        "    extern __shared__ unsigned int part[];\n"
        "    const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
        "    part[threadIdx.x] = i < n ? x[i] : 0;\n"
        "    __syncthreads();\n"
        "    atomicAdd(total, part[threadIdx.x]);\n}\n"
    )


def test_functions_and_literals_take_the_type_of_the_kernel(tmp_path: Path) -> None:
    floats, doubles = variants_of(ROOTS, tmp_path)
    assert "y[0] = sqrtf(y[0]) * 0.5 + (float)x;" in floats.cuda()
    assert "y[0] = sqrt(y[0]) * 0.25 + (double)x;" in doubles.cuda()
    assert (floats.name, doubles.name) == ("roots-float", "roots-double")


def test_the_driver_says_what_the_arguments_are(tmp_path: Path) -> None:
    (one,) = variants_of(SUM, tmp_path)
    driver = read_driver(one.driver(64), "here")
    assert driver.local_bytes(64, (32,)) == 128
    assert [one.name for one in driver.arguments if one.output] == ["total"]


TEXTS = [text for texts in read_folder(HERE / "gpu", KEYS).values() for text in texts]
ALL_VARIANTS = [variant for text in TEXTS for variant in variants(text)]


@pytest.mark.parametrize("text", TEXTS, ids=lambda text: text.name)
def test_headers_say_what_is_allowed(text: KernelText) -> None:
    assert text.function == text.name
    assert text.keys["power_of_two"] in ("yes", "no")
    assert all(len(values) == len(text.words["T"]) for word, values in text.words.items() if word.endswith(" by T"))
    if text.keys["sizes"]:
        assert text.keys["sizes"] in SIZES
    else:
        assert [len([int(size) for size in text.keys[key].split(", ")]) for key in ("cpu", "gpu")] == [3, 3]


@pytest.mark.parametrize("language", LANGUAGES)
def test_there_are_enough_and_their_drivers_fit(language: str) -> None:
    kernels = list(gpu_kernels(language))
    assert len({kernel.source for kernel in kernels}) >= 200
    assert len({kernel.group for kernel in kernels}) >= 100
    assert len({kernel.family for kernel in kernels}) >= 10
    assert len({kernel.name for kernel in kernels}) == len(kernels)
    assert all(number == 3 for number in Counter(kernel.name.rpartition(" ")[0] for kernel in kernels).values())
    for kernel in kernels:
        driver = read_driver(kernel.driver, kernel.name)
        assert driver.dimensions == kernel.context["dimensions"]
        assert driver.sizes == (kernel.size,)


def test_the_shipped_kernels_are_these() -> None:
    shipped = list(BlockSizeMethod().own_kernels(10**6))
    assert shipped == [kernel for language in LANGUAGES for kernel in gpu_kernels(language)]


def test_a_seed_gives_one_order_and_any_beginning_is_spread() -> None:
    first = [kernel.name for kernel in itertools.islice(gpu_kernels("cl", 1), 90)]
    assert first == [kernel.name for kernel in itertools.islice(gpu_kernels("cl", 1), 90)]
    assert first != [kernel.name for kernel in itertools.islice(gpu_kernels("cl", 2), 90)]
    assert len({name.split("-")[0] for name in first}) == 90


def one_of_each(language: str) -> list[MeasuredKernel]:
    """The first kernel of each structure, at its least size."""
    kernels: dict[str, MeasuredKernel] = {}
    for kernel in gpu_kernels(language):
        known = kernels.setdefault(kernel.group, kernel)
        if known.source == kernel.source and kernel.size < known.size:
            kernels[kernel.group] = kernel
    return list(kernels.values())


@pytest.mark.needs("clang")
@pytest.mark.parametrize("language", LANGUAGES)
def test_all_structures_compile(language: str, tmp_path: Path) -> None:
    # Files of many kernels: CUDA's shared memory of one name has one type in a file.
    files: dict[str, list[MeasuredKernel]] = defaultdict(list)
    for kernel in one_of_each(language):
        shared = re.search(r"extern __shared__ (.*) \w+\[\]", kernel.source)
        files[shared[1] if shared else ""].append(kernel)
    for number, kernels in enumerate(files.values()):
        path = tmp_path / f"{number}.{'cl' if language == 'cl' else 'cu'}"
        path.write_text("\n".join(kernel.source for kernel in kernels))
        ir = compile_source(path, language, dialect=WITHOUT_CUDA).decode()
        assert set(kernels_of(parse_ir(ir))) == {kernel.function for kernel in kernels}


# More blocks than people try: one thread, and sides that divide nothing.
BLOCKS = {1: [(1,), (7,)], 2: [(1, 1), (7, 3)]}
for dimensions, blocks in BLOCKS.items():
    blocks += [tuple(map(int, setting[:dimensions])) for setting in block_space("cuda", dimensions).settings]
WHOLE_STEPS = ("butterfly", "block_cosines", "copy_chunks")  # which take a multiple of their step alone
PLACES = {text.name: place for place, text in enumerate(ALL_VARIANTS)}


def sizes_of(text: KernelText) -> set[int]:
    """The least of the header's, an odd one, and one smaller than most blocks."""
    least = SIZES[text.keys["sizes"]]["cl"][0] if text.keys["sizes"] else int(text.keys["cpu"].split(",")[0])
    return {least, least // 2} if text.name in WHOLE_STEPS else {least, least // 2 + 1, 17}


@pytest.fixture(scope="module")
def both_languages(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[OpenCLKernels, CudaKernels]]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("POCL_WORK_GROUP_SPECIALIZATION", "0")  # else it compiles a kernel anew for each block
        yield OpenCLKernels(ALL_VARIANTS), CudaKernels(ALL_VARIANTS, tmp_path_factory.mktemp("kernels"))


@pytest.mark.needs("OpenCL")
@pytest.mark.needs("zig")
@pytest.mark.parametrize("text", TEXTS, ids=lambda text: text.name)
def test_both_languages_compute_the_same_in_any_block(
    text: KernelText, both_languages: tuple[OpenCLKernels, CudaKernels]
) -> None:
    """Expected are the outputs of OpenCL in the habitual block, which are not zero."""
    computed = False
    for kernel, size in itertools.product(variants(text), sizes_of(text)):
        place, call = PLACES[kernel.name], Call(kernel, size)
        expected = both_languages[0].outputs(place, call, (256,) if call.driver.dimensions == 1 else (16, 16))
        computed |= any(map(np.any, expected))
        for block in BLOCKS[call.driver.dimensions]:
            if not call.driver.refusal(size, block):
                for kernels in both_languages:
                    name = f"{type(kernels).__name__}: {kernel.name}, n = {size}, in blocks of {block}"
                    assert same_outputs(kernels.outputs(place, call, block), expected), name
    assert computed
