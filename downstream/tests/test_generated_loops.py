"""The generated loops are the same everywhere, compile without a warning, and compute the same after every reset.

Why: what is measured on them is only worth something if a variant that computes something else can be told, and if a
group is never on both sides of a fold under two names.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Iterable
from itertools import chain
from pathlib import Path
from random import Random

import loop_source as source
import pytest
from generate_loops import generate
from kernel_files import KernelText
from loop_source import LETTERS, SIZES, draw_size, fill_value, structures

import mirenc.tools.measure
from mirenc.decide.tables.measured import MeasuredKernel
from mirenc.decide.tasks.vectorization import Vectorization
from mirenc.llvm.inputs.compile_source import find_compiler
from mirenc.tools.measure.vectorization import VectorizationMethod, scalar_loops
from mirenc.tools.run.compilers import Toolchain

HEADERS = Path(mirenc.tools.measure.__file__).parent
STRUCTURES = tuple(chain.from_iterable(structures().values()))
SOME = (*range(4), *range(104, 112), *range(254, 256))
WARNINGS = ("-std=c11", "-D_DEFAULT_SOURCE", "-Wall", "-Wextra", "-Werror")
# -fsanitize-trap needs no run-time library, which a clang without its compiler-rt lacks.
UNDEFINED = ("-fsanitize=undefined", "-fsanitize-trap=undefined")
ADDRESS = ("-fsanitize=address", "-fno-omit-frame-pointer")
STRUCT = re.compile(r"^struct \w+ \{.*?^\};\n", re.MULTILINE | re.DOTALL)

MAIN = """
#include <stdlib.h>
#include <string.h>
#include "mirenc_measure.h"

int main(void)
{
    char *first[8] = {0};
    if (mirenc_setup(mirenc_sizes[0]))
        return 2;
    for (int turn = 0; turn < 2; turn++) {
        int index = 0;
        void *data;
        long count;
        mirenc_reset();
        mirenc_call((mirenc_kernel)FUNCTION);
        for (; (count = mirenc_output(index, &data)) >= 0; index++) {
            long bytes = count * (strchr("ld", mirenc_types[index]) ? 8 : strchr("if", mirenc_types[index]) ? 4
                                  : mirenc_types[index] == 'h' ? 2 : 1);
            if (turn == 0) {
                first[index] = malloc(bytes);
                memcpy(first[index], data, bytes);
            } else if (memcmp(first[index], data, bytes)) {
                return 3;
            }
        }
        if (index == 0 || index != (int)strlen(mirenc_types))
            return 4;
    }
    for (int index = 0; first[index]; index++)
        free(first[index]);
    return 0;
}
"""


@pytest.fixture(scope="module")
def kernels() -> list[MeasuredKernel]:
    return list(generate(2000, seed=0))


Check = Callable[[Iterable[MeasuredKernel]], None]


@pytest.fixture(scope="module")
def check(compiler: str, tmp_path_factory: pytest.TempPathFactory) -> Check:
    """Builds kernels with their drivers, runs each twice, stops at undefined behaviour and, if it can, bad addresses.

    All are one program, asked for one kernel at a time: starting a compiler takes longer than compiling a kernel.
    """
    default_compiler = find_compiler("c")
    flags = [*WARNINGS, *UNDEFINED]
    probe = tmp_path_factory.mktemp("probe") / "probe.c"
    probe.write_text("int main(void) { return 0; }\n", encoding="utf-8")
    linked = [*default_compiler, *ADDRESS, probe, "-o", probe.with_suffix("")]
    # ziglang has no such run-time library, and takes half a minute to say so.
    if compiler != "zig" and subprocess.run(linked, capture_output=True, check=False).returncode == 0:
        flags += ADDRESS

    def build_and_run(kernels: Iterable[MeasuredKernel]) -> None:
        folder, chosen = tmp_path_factory.mktemp("loops"), list(kernels)
        for number, kernel in enumerate(chosen):
            names = ("main", kernel.function, *re.findall(r"\bmirenc_(?!kernel|measure)\w+", MAIN), "mirenc_function")
            apart = [f"#define {name} {name}_{number}\n" for name in dict.fromkeys(names)]
            driver = kernel.driver
            for twice in STRUCT.findall(kernel.source):
                driver = driver.replace(twice, "")
            parts = (*apart, f"#define FUNCTION {kernel.function}\n", kernel.source, driver, MAIN)
            (folder / f"{number}.c").write_text("".join(parts), encoding="utf-8")
        numbers = range(len(chosen))
        declared = "".join(f"int main_{number}(void);\n" for number in numbers)
        entries = ", ".join(f"main_{number}" for number in numbers)
        text = "int main(int count, char **given)\n{\n    return count == 2 ? entries[atoi(given[1])]() : 1;\n}\n"
        table = f"#include <stdlib.h>\n{declared}static int (*const entries[])(void) = {{{entries}}};\n"
        (folder / "main.c").write_text(table + text, encoding="utf-8")
        sources = [*(f"{number}.c" for number in numbers), "main.c"]
        command = [*default_compiler, *flags, f"-I{HEADERS}", *sources, "-o", "program", "-lm"]
        built = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
        assert built.returncode == 0, built.stderr
        for number, kernel in enumerate(chosen):
            ran = subprocess.run([folder / "program", str(number)], capture_output=True, text=True, check=False)
            assert ran.returncode == 0, f"{kernel.name}\n{ran.stderr}\n{kernel.source}"

    return build_and_run


def shape(one: KernelText) -> str:
    """A template without types, numbers and names: what is left is its structure."""
    text = re.sub(r"\((?:T|U)\)", "", "\n".join((*one.parameters, *one.body)))
    text = re.sub(r"\b(?:const|T|U|I|J|X|C|u?int\d+_t|size_t|int|unsigned|char|long)\b\s*", "", text)
    text = re.sub(r"\b\d+u?(?:\.\d+)?\b", "0", text)
    words = "for while if else return switch case break continue default struct void".split()
    names: dict[str, str] = {}
    name = re.compile(r"[A-Za-z_]\w*(?!\w*\()")
    text = name.sub(lambda match: match[0] if match[0] in words else names.setdefault(match[0], f"v{len(names)}"), text)
    return re.sub(r"\s|@", "", text).replace("++i", "i++")


def test_the_same_seed_gives_the_same_kernels_on_any_machine(kernels: list[MeasuredKernel]) -> None:
    """Those that are shipped, by which measured tables have their kernels, were written elsewhere."""
    assert list(generate(300, seed=0)) == kernels[:300]
    assert list(VectorizationMethod().own_kernels(10**6)) == kernels


def test_another_seed_gives_others() -> None:
    sources = {kernel.source for kernel in generate(100, seed=0)}
    assert len(sources & {kernel.source for kernel in generate(100, seed=1)}) < 20


def test_names_are_unique_and_kernels_differ(kernels: list[MeasuredKernel]) -> None:
    assert len({kernel.name for kernel in kernels}) == len(kernels) == 2000
    assert len({(kernel.source, kernel.driver) for kernel in kernels}) == 2000


def test_at_least_150_groups_in_a_dozen_families(kernels: list[MeasuredKernel]) -> None:
    assert len({kernel.group for kernel in kernels}) >= 150
    assert len({kernel.family for kernel in kernels}) >= 12


def test_any_beginning_is_spread_over_groups(kernels: list[MeasuredKernel]) -> None:
    assert len({kernel.group for kernel in kernels[: len(STRUCTURES)]}) == len(STRUCTURES)
    assert len({kernel.family for kernel in kernels[:60]}) >= 12


def test_no_two_groups_differ_by_type_size_or_names_only() -> None:
    shapes: dict[str, str] = {}
    for one in STRUCTURES:
        other = shapes.setdefault(shape(one), one.name)
        assert other == one.name, f"{other!r} and {one.name!r} are one structure"


def test_line_is_a_loop_at_the_start_of_its_line(kernels: list[MeasuredKernel]) -> None:
    for kernel in kernels:
        line = kernel.source.split("\n")[kernel.line - 1].strip()
        assert re.match(r"(for|while) \(", line), f"{kernel.name}: {line}"


def test_the_function_does_not_tell_the_structure(kernels: list[MeasuredKernel]) -> None:
    for kernel in kernels:
        assert f"{kernel.function}(" in kernel.source
        assert f'mirenc_function[] = "{kernel.function}"' in kernel.driver
        assert kernel.group.replace(" ", "_") != kernel.function
    names = {name: {one.function for one in kernels if one.group == name} for name in ("gather", "convert", "sum")}
    assert all(len(functions) > 3 for functions in names.values())


def test_every_hole_is_filled(kernels: list[MeasuredKernel]) -> None:
    for kernel in kernels:
        left = re.findall(r"@|_F\b|\b[TUIJX]\b", kernel.source + kernel.driver)
        assert not left, f"{kernel.name}: {left}"


def test_trip_count_is_given_where_the_source_says_it(kernels: list[MeasuredKernel]) -> None:
    known = [kernel for kernel in kernels if kernel.context["trip_count"]]
    assert 0.05 < len(known) / len(kernels) < 0.4
    plain = [kernel for kernel in known if kernel.group == "gather"]
    for kernel in plain:
        assert f"< {kernel.context['trip_count']};" in kernel.source
    for kernel in kernels:
        if re.search(r"\bn\b", kernel.source.split("\n")[kernel.line - 1]) and kernel.group == "gather":
            assert kernel.context["trip_count"] == 0


@pytest.mark.needs("clang")
def test_a_head_is_asked_about_the_trip_counts_that_it_learned_from(kernels: list[MeasuredKernel]) -> None:
    """What the generator says of a loop, which heads learn from, is what a question reads from the loop's IR."""
    task, compiler = Vectorization(), find_compiler("c")[0]
    constant = [kernel for kernel in kernels if kernel.context["trip_count"]]
    others = [kernel for kernel in kernels if not kernel.context["trip_count"]]
    uneven = [kernel for kernel in constant if kernel.group == "unrolled by hand"]  # i + 3 < n; i += 4
    assert uneven
    for kernel in [*constant[:: len(constant) // 12], *others[:: len(others) // 12], *uneven]:
        module = scalar_loops(kernel.source, Toolchain(compiler))
        loop = next(one for one in task.regions(module) if (one.symbol, one.line) == (kernel.function, kernel.line))
        context = task.context.from_ir(module, loop)
        assert context == {**kernel.context, "taken": "unknown", "rarer": "unknown"}, kernel.name


def test_all_ranges_of_trip_counts_and_few_millions(kernels: list[MeasuredKernel]) -> None:
    sizes = [kernel.size for kernel in kernels]
    for low, high in ((1, 7), (8, 31), (32, 255), (1000, 5000), (20000, 66000)):
        assert sum(low <= size <= high for size in sizes) >= 40
    assert 0 < sum(size >= 1000000 for size in sizes) < 60


@pytest.mark.needs("C compiler")
def test_compiles_without_a_warning_and_computes_the_same_after_reset(
    kernels: list[MeasuredKernel], check: Check
) -> None:
    check(kernels[number] for number in SOME)


@pytest.mark.slow
@pytest.mark.needs("C compiler")
def test_every_other_structure_runs_clean(kernels: list[MeasuredKernel], check: Check) -> None:
    check(kernels[number] for number in set(range(len(STRUCTURES))) - set(SOME))


@pytest.mark.parametrize("kind", sorted(SIZES))
def test_sizes_are_shares_of_one(kind: str) -> None:
    assert sum(SIZES[kind].values()) == pytest.approx(1)
    assert draw_size(kind, Random(1)) >= 1


@pytest.mark.parametrize("text", STRUCTURES, ids=lambda text: text.name)
def test_headers_say_what_is_allowed(text: KernelText) -> None:
    keys, words = text.keys, text.words
    assert sum(line.count("@") for line in text.body) == 1  # one loop is decided about
    assert keys["sizes"] in SIZES
    assert {keys["rows"], keys["constant"]} <= {"yes", "no"}
    assert keys["order"] in ("1", "2", "3")
    assert keys["weight"] in ("1", "2", "3", "4")
    assert {*"/".join(words["T"]).split("/")} <= LETTERS.keys()
    assert {*re.findall(r"[A-Za-z_]\w*", keys["trip"])} <= {"n", "unknown", *words}
    for value in text.data.values():
        fill = value.partition(": ")[2] or "plain"
        for one in words.get(fill.partition(" ")[0], (fill,)):
            assert fill_value(one, "int"), one


def test_a_count_that_cannot_be_reached_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "loops").mkdir()
    (tmp_path / "loops" / "one.c").write_text(
        "// T: int\n\n// name: only\n// sizes: fixed\n// rows: no\n// weight: 4\n// x: 5\n"
        "void kernel(T *x)\n{\n    @for (int i = 0; i < 5; i++)\n        x[i] = 1;\n}\n"
    )
    monkeypatch.setattr(source, "HERE", tmp_path)
    structures.cache_clear()
    try:
        with pytest.raises(ValueError, match=r"The generator has \d+ different kernels, not \d+\. Ask for fewer"):
            list(generate(10_000_000, seed=0))
    finally:
        structures.cache_clear()
