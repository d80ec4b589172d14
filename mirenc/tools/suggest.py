"""Suggest pass lists for code: read it as -Oz would get it, and try fixed lists beside -Oz.

The lists are the same for all code. Nothing is predicted: on unseen projects ten lists that heads chose by the code
saved no more than the ten that did best together in training (``downstream/passes/suggest.md``).
"""

import os
import re
import shlex
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from mirenc.base.errors import ForeignIRError, HeadError, PassError, TaskError
from mirenc.decide.task_head import TaskHead
from mirenc.decide.tasks.pass_tasks import BEFORE_OZ
from mirenc.llvm import IRModule, ReadOptions, regions_of
from mirenc.llvm.analysis.regions import is_called
from mirenc.llvm.inputs.compile_source import ir_compiler, spelled_for
from mirenc.llvm.inputs.containers import split_name
from mirenc.llvm.inputs.file_kind import InputBytes
from mirenc.llvm.inputs.input import Input, path_input
from mirenc.llvm.ir.functions import attributes_of, is_left_alone
from mirenc.llvm.ir.read import load_input, module_of
from mirenc.llvm.passes.extract import extract_functions
from mirenc.llvm.passes.pass_lists import expanded, level
from mirenc.llvm.passes.size_after_passes import Engine, Failed
from mirenc.tools.run.compilers import clang_for

# The words are NAME -o FILE, as of a compiler.
_UNWRAP = "import sys, mirenc.llvm.inputs.file_kind as f; open(sys.argv[3], 'wb').write(f.read_input(sys.argv[1]).data)"
_ADVICE = "Compile with: clang -Oz -Xclang -disable-llvm-passes -S -emit-llvm"
# What clang adds by passes of its own, which no list has: the code would come out without it.
_INSTRUMENTED = re.compile(
    r'^(?:attributes #\d+ = .*"(?P<calls>instrument-function-e)|declare .*@(?P<profile>llvm\.instrprof)'
    r"|!(?P<coverage>llvm\.gcov) = )",
    re.MULTILINE,
)


@dataclass(frozen=True)
class Code:
    """Code for which pass lists are suggested.

    ``name`` is the file as given, ``ir`` text or bitcode that passes run on, ``module`` the same for a model.
    ``symbol``: the function, without ``@``, that ``ir`` was made of; "" for a whole module. ``compiled_by``: the
    command that made it here, without file and output; () for a file that is IR. ``remarks``: what to know of its -Oz.
    ``tools``: what the names of LLVM's tools end with, ``-19``.
    """

    name: str
    ir: bytes
    module: IRModule
    symbol: str = ""
    compiled_by: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    tools: str = ""

    def preparation(self) -> str:
        """The command whose output `command` takes; "" where it takes the file as it is."""
        command = shlex.join([*self.compiled_by, _no_option(self.name), "-o", _ir_name(self.name)])
        return command if self.compiled_by else ""

    def command(self, pipeline: str) -> str:
        """The line that runs a list of passes."""
        # As clang compiles; some passes ask.
        passes = f"opt{self.tools} -relocation-model=pic -passes={shlex.quote(pipeline)}"
        input_name = shlex.quote(_ir_name(self.name) if self.compiled_by else _no_option(self.name))
        stem = _stem(self.name).strip("-") or "stdin"
        if not self.symbol:
            return f"{passes} {input_name} -o {shlex.quote(f'{stem}.opt.bc')}"
        output = shlex.quote(f"{stem}.{self.symbol}.opt.bc")
        return f"llvm-extract{self.tools} --func={shlex.quote(self.symbol)} {input_name} -o - | {passes} -o {output}"


def read_code(
    path: str | os.PathLike[str] | Input,
    *,
    function: str | None = None,
    options: ReadOptions | None = None,
    version: str | None = None,
) -> Code:
    """Read IR, or compile a source to what -Oz begins with.

    ``path``: IR, C, C++, OpenCL C or CUDA; ``-`` is standard input (IR only). ``function``, by its symbol or demangled
    name, is made a module. ``version`` is that of the LLVM that is to read the IR: a source is compiled by no newer
    clang where there is one, unless ``options`` names a compiler; their ``cflags`` come last.

    Raises MirencError as `mirenc.read_ir`; ForeignIRError: passes leave all of it alone, as every function is marked
    optnone, which -O0 does; TaskError: no such function.
    """
    options = options or ReadOptions()
    compiler = options.compiler or (None if version is None else clang_for(version))
    options = replace(options, dialect=BEFORE_OZ, compiler=compiler)
    suffix = "" if version is None else f"-{version.split('.')[0]}"
    tools = suffix if shutil.which(f"opt{suffix}") else ""
    source = path if isinstance(path, Input) else path_input(path)
    contents = load_input(source, options)
    compiled: tuple[str, ...] = ()
    if source.language:  # which is told by the file's suffix, not by an option
        flags = BEFORE_OZ.flags[source.language][len(("-x", source.language)) :]
        command = ir_compiler(source.language, compiler)
        words = (*flags, "-S", "-emit-llvm", *options.cflags)
        compiled = (*command, *spelled_for(command, words))
    elif _is_wrapped(contents):
        compiled = (sys.executable, "-c", _UNWRAP)
    module = module_of(contents, options)
    text = contents.data.decode("utf-8", "surrogateescape") if contents.kind == "text" else module.text
    if function is None:
        return Code(source.name, contents.data, module, "", compiled, _remarks(text, source.name), tools)
    functions = regions_of(module, "function").regions
    matches = [region for region in functions if is_called(function, region.symbol, region.function)]
    if not matches:
        names = ", ".join(region.function for region in functions[:20]) + (" ..." if len(functions) > 20 else "")
        raise TaskError(f"{module.name}: no function {function!r} with a body; it has {names}")
    symbol = matches[0].symbol
    body = dict(extract_functions(text)).get(symbol)
    if body is None:
        problem = f"{function!r} takes the address of another function's block, so it cannot be compiled alone"
        raise TaskError(f"{source.name}: {problem}. Leave --function out")
    part = replace(contents, data=body.encode("utf-8", "surrogateescape"), kind="text")
    return Code(source.name, part.data, module_of(part, options), symbol, compiled, _remarks(body, source.name), tools)


def _stem(name: str) -> str:
    """A file's name without suffix; that of ``lib.a(x.o)`` is ``lib-x``."""
    return "-".join(part.partition(".")[0] for part in re.split(r"[()]", Path(name).name) if part)


def _ir_name(source: str) -> str:
    return _no_option(f"{_stem(source)}.ll")


def _is_wrapped(contents: InputBytes) -> bool:
    """Whether a file is not itself what was read from it: a container, a module of one, or compressed."""
    path = Path(contents.name)
    return split_name(contents.name) is not None or (path.is_file() and path.read_bytes() != contents.data)


def _no_option(name: str) -> str:
    """A file's name as a command takes it: one that begins with a dash gets ./ before it; - is stdin."""
    return f"./{name}" if name.startswith("-") and name != "-" else name


def _remarks(text: str, name: str) -> tuple[str, ...]:
    """Remarks about function attributes that change what -Oz does.

    Raises ForeignIRError: no pass would touch any of them, or clang has still to instrument them.
    """
    attribute_sets = list(attributes_of(text))
    if (match := _INSTRUMENTED.search(text)) or any("sanitize" in attributes for attributes in attribute_sets):
        option_of = {"calls": "-finstrument-functions", "profile": "-fprofile-generate", "coverage": "--coverage"}
        flag = option_of[match.lastgroup or ""] if match else "-fsanitize"
        problem = f"{name}: clang instruments this code with passes that no list contains"
        raise ForeignIRError(f"{problem}, so the result would lack the instrumentation. Compile without {flag}")
    total, optnone_count = len(attribute_sets), sum("optnone" in attributes for attributes in attribute_sets)
    optsize_count = sum("optsize" in attributes and "minsize" not in attributes for attributes in attribute_sets)
    unmarked = total - optnone_count - sum(bool(attributes & {"minsize", "optsize"}) for attributes in attribute_sets)
    if is_left_alone(text):
        problem = "every function is marked optnone, as -O0 does, so passes leave them alone"
        raise ForeignIRError(f"{name}: {problem}. {_ADVICE}")
    remarks = []
    if optnone_count:
        remarks.append(f"{optnone_count} of {total} functions are marked optnone: passes leave them alone")
    if unmarked > 0:
        problem = f"{unmarked} of {total} functions say neither minsize nor optsize"
        remarks.append(f"{problem}: -Oz of this IR is the weak baseline. {_ADVICE}")
    if optsize_count:  # zig cc takes -Oz for -Os
        remarks.append(f"{optsize_count} of {total} functions say optsize without minsize, as at -Os. {_ADVICE}")
    return tuple(remarks)


TASK = "pass_list"
_HOISTING = "gvn-hoist"
# What -Oz runs after gvn-sink where LLVM's own flag puts that into it.
_SINKING = (
    "gvn-sink,simplifycfg<bonus-inst-threshold=1;no-forward-switch-cond;switch-range-to-icmp;no-switch-to-lookup;"
    "keep-loops;no-hoist-common-insts;no-sink-common-insts;speculate-blocks;simplify-cond-branch;"
    "no-speculate-unpredictables>"
)


@dataclass(frozen=True, slots=True)
class FixedList:
    """One pass list: a pipeline as ``opt -passes=`` takes it, and where it comes from, in words."""

    pipeline: str
    origin: str


def _with_gvn(passes: str) -> str:
    """-Oz with other passes where ``-enable-gvn-hoist`` and ``-enable-gvn-sink`` put theirs."""
    return expanded("Oz").replace("early-cse<memssa>,", f"early-cse<memssa>,{passes},")


IDEAS = (
    FixedList(level("Os"), "-Os"),
    FixedList(f"{level('Oz')},{level('Oz')}", "-Oz twice"),
    FixedList(_with_gvn(_HOISTING), "-Oz with gvn-hoist"),
    FixedList(_with_gvn(_SINKING), "-Oz with gvn-sink"),
    FixedList(_with_gvn(f"{_HOISTING},{_SINKING}"), "-Oz with gvn-hoist and gvn-sink"),
    # LLVM's inline threshold is an option of the whole process: no list has it.
    FixedList(expanded("Oz").replace("devirt<4>(inline,", "devirt<4>("), "-Oz without inlining"),
)
"""What people try by hand; always tried, beside the lists that training found."""


def fixed_lists(head: TaskHead, count: int) -> tuple[FixedList, ...]:
    """The first ``count`` lists of a head for ``pass_list``, which its table found, and `IDEAS`.

    Each won most beside -Oz and those before it (`mirenc.decide.tasks.pass_tasks.covering_lists`). Raises HeadError: a
    head of another task; TaskError: a ``count`` below 1.
    """
    if head.task.name != TASK or head.space is None:
        raise HeadError(f"a head for {head.task.name} has no pass lists. Type: mirenc fit {TASK} -o FOLDER")
    if count < 1:
        raise TaskError(f"{count} pass lists are wanted; allowed: 1 or more")
    pipelines = [str(pipeline) for (pipeline,) in head.space.settings if pipeline != level("Oz")][:count]
    return (*(FixedList(pipeline, f"found in training, {rank}") for rank, pipeline in enumerate(pipelines, 1)), *IDEAS)


@dataclass(frozen=True, slots=True)
class Tried:
    """What one list makes of the code: bytes that are loaded with the program (`Optimised`), and instructions.

    Both are None where the list failed, and ``problem`` says why.
    """

    pipeline: str
    loaded_bytes: int | None
    instructions: int | None
    problem: str = ""


@dataclass(frozen=True)
class Outcome:
    """The results of trying pass lists.

    ``engine`` is the LLVM that ran the lists, ``before`` the loaded bytes without any pass, by the code generation of
    -O0, ``oz`` -Oz itself, and ``tried`` the lists in their order; ``best`` is the place of the best, -1 where that is
    -Oz, and ``ir`` its module, as bitcode of the engine's LLVM, whose verifier accepts it.
    """

    engine: str
    before: int
    oz: Tried
    tried: tuple[Tried, ...]
    best: int
    ir: bytes

    @property
    def winner(self) -> Tried:
        """The best of the lists and -Oz."""
        return (*self.tried, self.oz)[self.best]

    @property
    def saved(self) -> int:
        """Bytes less than -Oz; never below 0."""
        return (self.oz.loaded_bytes or 0) - (self.winner.loaded_bytes or 0)


def try_lists(engine: Engine, ir: bytes, pipelines: Sequence[str], default: str) -> Outcome:
    """Run every list and -Oz, the ``default``, on the same module, text or bitcode; the engine verifies every result.

    A list that fails is told, and the others are tried all the same. -Oz is kept unless another is smaller.

    Raises IRParseError: the engine's LLVM refuses the module; PassError: -Oz itself fails on it, or no machine code can
    be made of it; ToolchainError: the engine cannot start.
    """
    (initial,) = engine.run_all(ir, [""], codegen=0)
    if isinstance(initial, Failed):
        raise PassError(f"{engine.name} makes no machine code of the module: {initial.problem}", failed=initial.status)
    oz, *results = (
        Tried(pipeline, None, None, f"{result.status}: {result.problem}")
        if isinstance(result, Failed)
        else Tried(pipeline, result.loaded_bytes, result.instructions)
        for pipeline, result in zip([default, *pipelines], engine.run_all(ir, [default, *pipelines]), strict=True)
    )
    if oz.loaded_bytes is None:
        raise PassError(f"{engine.name} fails on {default} itself ({oz.problem})")
    sizes = [float("inf") if attempt.loaded_bytes is None else attempt.loaded_bytes for attempt in (*results, oz)]
    smallest = min(range(-1, len(results)), key=sizes.__getitem__)
    # Once more for the IR: to keep that of every list costs more than one list of all, and lists of one result share
    # their machine code only where they run together.
    best = engine.run(ir, (*results, oz)[smallest].pipeline).ir
    return Outcome(engine.name, initial.loaded_bytes, oz, tuple(results), smallest, best)
