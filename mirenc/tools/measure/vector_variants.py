"""`build_variants`: one loop of one function, compiled with every setting of the vectorizer into one shared object."""

import hashlib
import math
import re
import signal
import subprocess
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from mirenc.base.errors import CompileError, ToolchainError
from mirenc.base.run_program import run_limited
from mirenc.llvm.passes.loop_hint import PLAIN, Hint
from mirenc.tools.measure.hints import HintedLoop, suffix
from mirenc.tools.measure.runners import Cell
from mirenc.tools.run.compilers import MEMORY_LIMIT, Toolchain, compile_problem

# Up to this many elements at a time a loop compiles in milliseconds, and all copies are compiled as one module.
_JOINT_SIZE = 64
# Where those take less than this share of what one setting may take, the larger ones are one module, too.
_FAST_SHARE = 0.3
_TOOL_SECONDS = 120.0  # seconds for what is no setting's own: the front end, copies together, the linker
_LEVEL = "-O3"
# Floating-point sums keep their order: else a setting would change results, and be no candidate.
_ORDER = ("-mllvm", "-hints-allow-reordering=false")
COMMON_FLAGS = (_LEVEL, *_ORDER)
"""What decides, beside the instruction set and the hint, which code a setting is."""
_BACK_END = ("-x", "ir", "-S", "-fPIC", "-w", "-fno-crash-diagnostics", *_ORDER)
# With source locations for remarks, which do not reach the machine code; functions begin where loops do not shift.
_FRONT_END = ("-fPIC", "-falign-functions=64", "-w", "-Rpass=loop-vectorize", "-Xclang", "-disable-llvm-passes", "-S")
# The shell says last what its children took: "0m0.350000s 0m0.010000s".
_CPU_LIMITED = ("sh", "-c", 'ulimit -t "$0"; "$@"; code=$?; times; exit $code')
_KILLED = 128 + signal.SIGKILL
# What ends a compiler from outside, and says nothing of the setting.
_STOPPED = frozenset(128 + number for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM))

# What LLVM's vectorizer says that it made of each loop.
_REMARK_FLAGS = ("-fsave-optimization-record=yaml", "-foptimization-record-passes=loop-vectorize")
# A long file name breaks the line of the place.
_FIELDS = re.compile(
    r"^DebugLoc:\s+\{.*?,\s+Line: (?P<line>\d+),\s+Column: \d+\s+\}\nFunction:\s+'?(?P<function>[^'\n]+)'?$",
    re.MULTILINE | re.DOTALL,
)
_WIDTH = re.compile(r"- VectorizationFactor: '?(\d+)'?")
_COUNT = re.compile(r"- InterleaveCount: '?(\d+)'?")

# Assembly text. Labels are counted anew in each function, whose constants and jump tables are printed with it.
_BEGIN = re.compile(r"-- Begin function (\S+)")
_LABEL = re.compile(r"\.L[\w.$]+|\bL[A-Z]+\d+_\d+\b")
_DEFINES = re.compile(r"^(\.L[\w.$]+|L[A-Z]+\d+_\d+):")
_COMMENT = re.compile(r"[ \t]*(?:#|//|;)[ \t].*$|[ \t]+(?:#|//)\S.*$")
_COPY = re.compile(r"__mirenc_\w+")
# Between functions: what names and places them, and no code.
_PLACING = re.compile(r"\s*\.(?:section|text|file|type|size|globl|hidden|weak|local|cfi_\w+|loc|ident|addrsig\w*)\b")
_DATA = re.compile(r"\s*\.(?:type\s+\S+,\s*[@%]object|ident|addrsig|bss\b|data\b|lcomm|comm)\b")

_OWN_CHOICE = (0, 0)  # the setting of LLVM's own choice


def hinted_ir(source: Path, toolchain: Toolchain, flags: Sequence[str] = ()) -> str:
    """Unoptimised IR of a source, as `HintedLoop` takes it; else a `CompileError`."""
    command = [toolchain.compiler, _LEVEL, *flags, *toolchain.cflags, *_FRONT_END, "-emit-llvm", str(source)]
    with tempfile.TemporaryDirectory(prefix="mirenc-") as folder:
        output = Path(folder, "hinted.ll")
        if problem := compile_problem([*command, "-o", str(output)], _TOOL_SECONDS):
            failure = f"{source.name} does not build: {problem}"
            raise CompileError(f"{failure}. Mend the source, or give flags that it needs with --cflags")
        return output.read_text(encoding="utf-8", errors="surrogateescape")


def build_variants(
    source: Path,
    function: str,
    line: int,
    hints: Sequence[Hint],
    *,
    flags: Sequence[str],
    toolchain: Toolchain,
    name: str,
) -> tuple[Cell, Cell, list[Cell]]:
    """Compile the loop of a function in a line without hints, twice, and with each; to ``name``, beside the source.

    A `CompileError` where it does not compile without hints, or there is no such loop.
    """
    loop = HintedLoop(hinted_ir(source, toolchain, flags), function, line)
    building = _Building(loop, line, toolchain, flags, source.with_name(name))
    hints_by_label = {f"{hint.width}x{hint.count}x{hint.unroll}": hint for hint in hints}
    small = {label: hint for label, hint in hints_by_label.items() if hint.size <= _JOINT_SIZE}
    large = {label: hint for label, hint in hints_by_label.items() if label not in small}
    plain_copies: dict[str, Hint | None] = {"default": None, "copy": None}
    if building.compile({**plain_copies, **small}, "small", _TOOL_SECONDS):  # one of them breaks the compiler
        large = hints_by_label
        if problem := building.compile(plain_copies, "small", _TOOL_SECONDS):
            raise CompileError(f"{source.name} does not build: {problem}. Mend the source, or leave out --cflags")
    elif building.seconds < _FAST_SHARE * toolchain.timeout and not building.compile(large, "large", toolchain.timeout):
        large = {}
    for label in sorted(large, key=lambda label: large[label].size):
        building.compile_alone(label, large[label])
    building.link()
    return building.cells["default"], building.cells["copy"], [building.cells[label] for label in hints_by_label]


class _Building:
    """Builds cells by label; the names of their files begin with ``stem``."""

    def __init__(self, loop: HintedLoop, line: int, toolchain: Toolchain, flags: Sequence[str], stem: Path) -> None:
        self.loop, self.line, self.timeout, self.stem = loop, line, toolchain.timeout, stem
        self.command = [toolchain.compiler, _LEVEL, *flags, *toolchain.cflags]
        self.cells: dict[str, Cell] = {}
        self.library = self._file("so")
        self.assembly: list[Path] = []
        self.seconds = 0.0  # of the last back end
        self._single_results: dict[Hint, tuple[str, float]] = {}

    def compile(self, hints_by_label: Mapping[str, Hint | None], file: str, limit: float) -> str:
        """Compile some copies as one module; return the problem, or ""."""
        if problem := self._back_end(self.loop.module([*hints_by_label.items()]), file, limit):
            return problem
        path, record = self._file(f"{file}.s"), self._file(f"{file}.yaml")
        codes = code_digests(path.read_text(encoding="utf-8", errors="replace"))
        remarks = record.read_text(encoding="utf-8", errors="replace") if record.is_file() else ""
        record.unlink(missing_ok=True)
        loop_hints = effective_hints(remarks, self.line)
        new_cells = {}
        for label, hint in hints_by_label.items():
            symbol = self.loop.function + suffix(label)
            parts = [codes[copy] for name in self.loop.symbols if (copy := name + suffix(label)) in codes]
            actual = loop_hints.get(symbol, PLAIN)
            setting = (hint.width, hint.count) if hint else _OWN_CHOICE
            new_cells[label] = Cell(setting, (actual.width, actual.count), digest_of(parts), self.library.name, symbol)
        symbol_of_code = {cell.code: cell.symbol for cell in self.cells.values() if cell.code}
        if all(cell.code in symbol_of_code for cell in new_cells.values()):  # older functions serve
            new_cells = {label: replace(cell, symbol=symbol_of_code[cell.code]) for label, cell in new_cells.items()}
            path.unlink()
        else:
            self.assembly.append(path)
        self.cells |= new_cells
        return ""

    def compile_alone(self, label: str, hint: Hint) -> None:
        """Compile one hint by itself, unless a smaller one shows that it would take too long."""
        estimates = [
            (problem, seconds * hint.size / smaller.size)
            for smaller, (problem, seconds) in self._single_results.items()
            if smaller.width <= hint.width and smaller.count <= hint.count and smaller.unroll <= hint.unroll
        ]
        # Time grows faster than the number of elements.
        if any("over" in problem or seconds > self.timeout for problem, seconds in estimates):
            problem = f"compile: over {self.timeout:g} s"
        else:
            problem = self.compile({label: hint}, label, self.timeout)
            self._single_results[hint] = problem, self.seconds
        if problem:
            setting = hint.width, hint.count
            self.cells[label] = Cell(setting, setting, problem=problem)

    def link(self) -> None:
        """Make the shared object of the assembly files, which are removed."""
        # Each file of one setting has whatever else the source defines.
        options = ["-shared", "-fPIC", "-Wl,--allow-multiple-definition", "-Wl,-s"]
        command = [*self.command, *options, *map(str, self.assembly), "-o", str(self.library), "-lm"]
        if problem := compile_problem(command, _TOOL_SECONDS):
            failure = f"{self.stem.name}: the variants cannot be linked: {problem}"
            raise CompileError(f"{failure}. Define in the source every name that it uses, or remove the uses")
        for path in self.assembly:
            path.unlink()

    def _file(self, ending: str) -> Path:
        return self.stem.with_name(f"{self.stem.name}.{ending}")

    def _back_end(self, text: str, label: str, limit: float) -> str:
        """Write assembly and remarks of IR as ``NAME.LABEL.s`` and ``.yaml``; return the problem, or ""."""
        # The limit is of processor time: a busy machine builds the same cells as a quiet one.
        source, output, record = (self._file(f"{label}.{ending}") for ending in ("ll", "s", "yaml"))
        source.write_text(text, encoding="utf-8", errors="surrogateescape")
        command = [*self.command, *_BACK_END, *_REMARK_FLAGS, f"-foptimization-record-file={record}", str(source)]
        try:
            # In a session of its own: Ctrl-C ends mirenc, and not a compiler whose end would be a setting's fault.
            limited_command = [*_CPU_LIMITED, str(math.ceil(limit)), *command, "-o", str(output)]
            result = run_limited(limited_command, timeout=20 * limit + _TOOL_SECONDS, memory_limit=MEMORY_LIMIT)
            code, self.seconds = result.code, sum(map(_seconds, result.output.decode("utf-8", "replace").split()[-2:]))
        except subprocess.TimeoutExpired:
            code, self.seconds = _KILLED, limit
        source.unlink()
        if code != 0:
            temporary = self.stem.parent.glob(f"{self.stem.name}.{label}-*.tmp")  # of a clang that was ended
            for path in (output, record, *temporary):
                path.unlink(missing_ok=True)
        if code < 0 or code in _STOPPED or (code == _KILLED and self.seconds < limit / 2):
            raise ToolchainError(f"{self.stem.name}: the compiler was ended from outside. Measure again")
        if code == _KILLED or self.seconds > limit:
            return f"compile: over {limit:g} s"
        return "" if code == 0 else "compile: clang fails"


def _seconds(minutes: str) -> float:
    """Seconds of ``0m0.350000s``."""
    match = re.fullmatch(r"(\d+)m([\d.]+)s", minutes)
    return 60 * int(match[1]) + float(match[2]) if match else 0.0


def effective_hints(record: str, line: int) -> dict[str, Hint]:
    """What LLVM's remarks say it made of the loop in a line, by function; an unchanged loop is left out."""
    hints: dict[str, Hint] = {}
    for remark in record.split("\n--- "):
        place = _FIELDS.search(remark)
        if not remark.removeprefix("--- ").startswith("!Passed") or place is None or int(place["line"]) != line:
            continue
        width, count = _WIDTH.search(remark), _COUNT.search(remark)
        hint = Hint(int(width[1]) if width else 1, int(count[1]) if count else 1)
        widest = hints.get(place["function"], PLAIN)  # of several copies of the loop the widest counts
        hints[place["function"]] = max(widest, hint, key=lambda hint: (hint.width * hint.count, hint.width))
    return hints


def code_digests(assembly: str) -> dict[str, str]:
    """Digest of each function of a file that clang wrote with ``-S``, whatever the function and its copy are called."""
    chunks: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in assembly.split("\n"):
        if (begin := _BEGIN.search(line)) is not None:
            lines = chunks.setdefault(begin[1], [])
        elif _DATA.match(line):
            lines = []  # data of the module follow
        lines.append(line)
    return {name: _digest(lines) for name, lines in chunks.items()}


def digest_of(digests: Iterable[str]) -> str:
    """One digest for functions that belong together, in any order."""
    ordered = sorted(digests)
    return ordered[0] if len(ordered) == 1 else _short("\n".join(ordered))


def _digest(lines: list[str]) -> str:
    code_lines = [_COMMENT.sub("", line).rstrip() for line in lines if not _PLACING.match(line)]
    labels: dict[str, str] = {}
    for line in code_lines:
        if (match := _DEFINES.match(line)) is not None:
            labels[match[1]] = f".L{len(labels)}"
    text = "\n".join(line for line in code_lines if line)
    text = _LABEL.sub(lambda match: labels.get(match[0], match[0]), text)
    return _short(_COPY.sub("", text))


def _short(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]
