"""Measure loops of other suites: ``python measure.py SOURCES FOLDER [--compile-only]``.

SOURCES is a folder with the unpacked sources of pixman, portaudio19 and sundials (``apt-get source``). README.md says
which functions are taken, and was written before any was opened.
"""

from __future__ import annotations

import itertools
import json
import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "branches"))
from measure_loops import timed

from mirenc.base.errors import MirencError
from mirenc.decide.tables.measured import MeasuredKernel
from mirenc.llvm import parse_ir
from mirenc.llvm.inputs.compile_source import compile_source
from mirenc.llvm.inputs.dialect import SCALAR_LOOPS
from mirenc.tools.measure.vectorization import VectorizationMethod, _loops_of

MOST = 24
SIZES = (40, 3000)
PART = "avx2"
WORK = 3000  # elements that a call of the driver goes through

_HEAD = """
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "mirenc_measure.h"
static uint32_t state = 2463534242u;
static uint32_t next(void)
{{
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return state >> 3;
}}
static long n;
// Of a hundred elements: in long runs, or at random.
static long percent(long i) {{ return {percent}; }}
const char mirenc_function[] = "{function}";
const long mirenc_sizes[] = {{{size}, 0}};
"""
_PIXELS = """
const char mirenc_types[] = "i";
static uint32_t *target, *before, *source, *mask;
static uint32_t pixel(long i)
{{
    long kind = percent(i);
    uint32_t alpha = kind < 40 ? 0 : kind < 80 ? 255 : next() % 256, word = alpha;
    for (int channel = 0; channel < 3; channel++)
        word = word << 8 | (alpha ? next() % (alpha + 1) : 0);
    return word;
}}
int mirenc_setup(long size)
{{
    n = size;
    uint32_t **all[] = {{&target, &before, &source, &mask}};
    for (int one = 0; one < 4; one++) {{
        *all[one] = malloc(n * sizeof(uint32_t));
        for (long i = 0; i < n; i++)
            (*all[one])[i] = pixel(i);
    }}
    return 0;
}}
void mirenc_reset(void) {{ memcpy(target, before, n * sizeof(uint32_t)); }}
void mirenc_call(mirenc_kernel kernel)
{{
    for (int repeat = 0; repeat < {repeats}; repeat++)
        ((void (*)(void *, int, void *, void *, void *, int))kernel)(0, 0, target, source, {mask}, n);
}}
long mirenc_output(int index, void **data)
{{
    *data = target;
    return index == 0 ? n : -1;
}}
"""
_AUDIO = """
const char mirenc_types[] = "b";
static char *target, *source;
int mirenc_setup(long size)
{{
    n = size;
    target = calloc(n, 4);
    source = malloc(4 * n);
    for (long i = 0; i < n; i++) {{
        float value = (next() % 2001 / 1000.0f - 1) * (percent(i) < 40 ? 1.5f : 0.9f);
        uint32_t word = next();
        memcpy(source + 4 * i, {real} ? (void *)&value : (void *)&word, 4);
    }}
    return 0;
}}
void mirenc_reset(void) {{ memset(target, 0, 4 * n); }}
void mirenc_call(mirenc_kernel kernel)
{{
    for (int repeat = 0; repeat < {repeats}; repeat++)
        ((void (*)(void *, int, void *, int, unsigned, void *))kernel)(target, 1, source, 1, n, 0);
}}
long mirenc_output(int index, void **data)
{{
    *data = target;
    return index == 0 ? 4 * n : -1;
}}
"""
_VECTORS = """
#include <nvector/nvector_serial.h>
const char mirenc_types[] = "dd";
enum {{ ALL = 20 }};
static double *values, *before, result, numbers[ALL];
static struct _N_VectorContent_Serial contents[ALL];
static struct _generic_N_Vector vectors[ALL];
static N_Vector V[ALL];
int mirenc_setup(long size)
{{
    n = size;
    values = malloc(ALL * n * sizeof(double));
    before = malloc(ALL * n * sizeof(double));
    for (int one = 0; one < ALL; one++) {{
        contents[one].length = n;
        contents[one].data = values + one * n;
        vectors[one].content = &contents[one];
        V[one] = &vectors[one];
        numbers[one] = 1.25 + one;
        for (long i = 0; i < n; i++)
            before[one * n + i] = percent(i) < 40 ? 0 : (0.5 + next() % 1501 / 1000.0) * (next() % 2 ? 1 : -1);
    }}
    return 0;
}}
void mirenc_reset(void) {{ memcpy(values, before, ALL * n * sizeof(double)); }}
void mirenc_call(mirenc_kernel kernel)
{{
    typeof({function}) *call = (typeof({function}) *)kernel;
    for (int repeat = 0; repeat < {repeats}; repeat++)
        {call};
}}
long mirenc_output(int index, void **data)
{{
    *data = index == 0 ? values : &result;
    return index == 0 ? ALL * n : index == 1 ? 1 : -1;
}}
"""


_DEFINITION = re.compile(
    r"^(?:static )?(?:force_inline |inline )?\w[\w *]*\s(?P<name>\w+)\s*\([^;{}#]*\)\s*\{.*?^\}\n",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True)
class Suite:
    """A file of a source package, the form of its functions' definitions, and what drives one."""

    name: str
    file: str  # below the folder of sources
    function: str  # of a definition; group ``name``
    driver: Callable[[re.Match[str], int], str]
    include: tuple[str, ...]


def _pixels(match: re.Match[str], repeats: int) -> str:
    return _PIXELS.format(repeats=repeats, mask="mask" if match["name"].endswith("_ca") else "0")


def _audio(match: re.Match[str], repeats: int) -> str:
    return _AUDIO.format(repeats=repeats, real=int(match["name"].startswith("Float32")))


def _vectors(match: re.Match[str], repeats: int) -> str:
    """Vectors in the order of the parameters, four to an array, and a number for each other one."""
    place, words = itertools.count(), []
    for parameter in match["parameters"].split(","):
        kind = re.sub(r"\s*\w+\s*$", "", parameter.strip()).replace(" ", "")
        vector = f"V[{next(place)}]"
        if kind == "N_Vector*":
            for _ in range(3):
                next(place)
            vector = vector.replace("V[", "&V[")
        values = {"int": "4", "realtype": "1.25", "realtype*": "numbers"}
        words.append(vector if "N_Vector" in kind else values.get(kind, "0"))
    call = f"call({', '.join(words)})"
    text = _VECTORS.format(
        repeats=repeats,
        function=match["name"],
        call=call if match["returns"] == "void" else f"result = {call}",
    )
    return text.replace(
        "const char mirenc_types",
        f"{match['returns']} {match['name']}({match['parameters']});\nconst char mirenc_types",
    )


SUITES = (
    Suite(
        "pixman",
        "pixman-0.42.2/pixman/pixman-combine32.c",
        r"^(?:static void\n(?P<name>combine_(?!mask)\w+) \(|PDF_SEPARABLE_BLEND_MODE \((?P<mode>\w+)\))",
        _pixels,
        ("pixman-0.42.2/pixman",),
    ),
    Suite(
        "portaudio19",
        "portaudio19-19.6.0/src/common/pa_converters.c",
        r"^static void (?P<name>(?!\w*Dither)\w+_To_\w+)\(",
        _audio,
        ("portaudio19-19.6.0/src/common", "portaudio19-19.6.0/include"),
    ),
    Suite(
        "sundials",
        "sundials-6.4.1+dfsg1/src/nvector/serial/nvector_serial.c",
        r"^(?:static )?(?P<returns>void|int|realtype|booleantype) (?P<name>\w+_Serial)\((?P<parameters>[^)]*)\)\s*\{",
        _vectors,
        ("sundials-6.4.1+dfsg1/include",),
    ),
)


def flags_of(*suites: Suite) -> tuple[str, ...]:
    """What suites are compiled with in the folder of sources: a table has these flags, and no folder of a machine."""
    folders = [folder for suite in suites for folder in suite.include]
    return ("-I.", *(f"-I{folder}" for folder in folders), "-DPACKAGE", "-DPIXMAN_NO_TLS")


def write_configuration(sources: Path) -> None:
    """The headers that a build of sundials writes: double precision, 64-bit indices."""
    text = next(sources.glob("sundials-*/include/sundials/sundials_config.in")).read_text(encoding="utf-8")
    for old, new in (
        (r"#cmakedefine.*", ""),
        ("@PRECISION_LEVEL@", "#define SUNDIALS_DOUBLE_PRECISION 1"),
        ("@INDEX_TYPE@", "#define SUNDIALS_INT64_T 1"),
        ("@SUNDIALS_CINDEX_TYPE@", "int64_t"),
        (r"@\w+@", ""),
    ):
        text = re.sub(old, new, text)
    (sources / "sundials").mkdir(exist_ok=True)
    (sources / "sundials/sundials_config.h").write_text(text, encoding="utf-8")
    words = "\n".join(f"#define SUNDIALS_{word}" for word in ("EXPORT", "NO_EXPORT", "DEPRECATED_EXPORT"))
    (sources / "sundials/sundials_export.h").write_text(f"{words}\n", encoding="utf-8")


def functions(suite: Suite, text: str) -> Iterator[re.Match[str]]:
    """Definitions of a file in their order; one that a macro makes has two."""
    for match in re.finditer(suite.function, text, re.MULTILINE):
        if mode := match.groupdict().get("mode"):
            for end in ("u", "ca"):
                named = re.search(rf"combine_(?P<name>{mode}_{end})", f"combine_{mode}_{end}")
                assert named is not None
                yield named
        else:
            yield match


def trimmed(text: str, name: str) -> str:
    """A file without the functions that one does not reach, and with that one open to others."""
    definitions = {match["name"]: match for match in _DEFINITION.finditer(text)}
    reached, work = (
        set(),
        [definitions[name][0] if name in definitions else text[text.index("#define PDF_SEP") :].split("\n\n")[0]],
    )
    if name not in definitions:
        work.append(" ".join(one for one in definitions if one.startswith("blend_")))
    while work:
        new = {word for word in re.findall(r"\w+", work.pop()) if word in definitions} - reached
        reached |= new
        work += [definitions[one][0] for one in new]
    for one, match in definitions.items():
        if one not in reached:
            text = text.replace(match[0], "")
    mode = re.sub(r"^combine_|_u$|_ca$", "", name)
    text = re.sub(rf"^PDF_SEPARABLE_BLEND_MODE \((?!{mode}\)).*", "", text, flags=re.MULTILINE)
    text = re.sub(r"^PaUtil(?:Converter|Zeroer)Table .*?^\};", "", text, flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"static void(\s*\\\n\s*combine_ ## name)", r"void\1", text)
    return re.sub(rf"^static (\w+\s+{name}\b)", r"\1", text, flags=re.MULTILINE)


def chosen(suite: Suite, sources: Path) -> list[MeasuredKernel]:
    """The loops of a suite that are measured, one for each of at most `MOST` functions."""
    path = sources / suite.file
    text = path.read_text(encoding="utf-8")
    method = VectorizationMethod()
    flags = flags_of(suite)
    toolchain = replace(method.find_compiler(None), cflags=flags)
    kernels = []
    for match in functions(suite, text):
        name = f"combine_{match['name']}" if match.string is not text else match["name"]
        code = trimmed(text, name)
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder, path.name)
            copy.write_text(code, encoding="utf-8")
            try:
                module = parse_ir(
                    compile_source(copy, "c", compiler=toolchain.compiler, cflags=flags, dialect=SCALAR_LOOPS)
                )
                loops = _loops_of(copy, module, name, toolchain)
            except MirencError as error:
                print(suite.name, name, error, file=sys.stderr)
                continue
        kernels.append((name, code, loops, match))
    step = -(-len(kernels) // MOST) or 1
    print(suite.name, len(kernels), "functions, every", step, file=sys.stderr)
    taken = []
    for place, (name, code, loops, match) in enumerate(kernels[::step]):
        size = SIZES[place % 2]
        percent = "i * 5 < n * 2 ? 0 : i * 5 < n * 4 ? 50 : 90" if place // 2 % 2 else "next() % 100"
        head = _HEAD.format(percent=percent, function=name, size=size)
        driver = head + suite.driver(match, WORK // size)
        for loop in loops:
            kernel = MeasuredKernel(
                name=f"{name}:{loop.line}",
                group=f"{suite.name} {name}",
                family=suite.name,
                language="c",
                source=code,
                driver=driver,
                function=name,
                line=loop.line,
                size=size,
                context={"trip_count": 0},
            )
            ir, region = method.scalar_ir(kernel, toolchain)
            if "run_trip_count" in method.run_context(replace(kernel, ir=ir, region=region), toolchain):
                taken.append(kernel)
    return taken


def main() -> None:
    """Build, or measure."""
    sources, folder = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    write_configuration(sources)
    os.chdir(sources)
    kernels_file = folder / "kernels.json"
    if not kernels_file.is_file():
        folder.mkdir(parents=True, exist_ok=True)
        kernels = [asdict(kernel) for suite in SUITES for kernel in chosen(suite, sources)]
        kernels_file.write_text(json.dumps(kernels), encoding="utf-8")
    samples = [(MeasuredKernel(**fields), PART) for fields in json.loads(kernels_file.read_text(encoding="utf-8"))]
    timed(samples, folder, compile_only="--compile-only" in sys.argv, cflags=flags_of(*SUITES))


if __name__ == "__main__":
    main()
