"""Options and helpers that several verbs share."""

from __future__ import annotations

import functools
import inspect
import os
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from typer import Argument, Option

from mirenc.base.errors import ConfigError, IRFileError, TaskError
from mirenc.base.progress import progress as progress
from mirenc.base.writing import check_output as check_output
from mirenc.cli.failures import Failures as Failures
from mirenc.cli.messages import say as say, say_written as say_written, warn as warn, warn_left_out as warn_left_out
from mirenc.cli.tables import print_rows as print_rows, print_table as print_table

if TYPE_CHECKING:
    from mirenc.decide.task import Task
    from mirenc.encoder import Encoder
    from mirenc.llvm import ReadOptions
    from mirenc.llvm.inputs.input import Input as IRInput
    from mirenc.llvm.passes.optimise import Form
    from mirenc.search import Maker, VectorTable

    Reading = ReadOptions
else:
    Reading = Any  # `reads` evaluates annotations

Sureness = Callable[[float], float | None]
_INPUTS = "IR (.ll .bc, also .gz .xz .zst), source (.c .cpp .cl .cu), objects and libraries with bitcode in them (.o "
_INPUTS += ".a .so), folders of these, compile_commands.json, or - for stdin."
Inputs = Annotated[list[str], Argument(metavar="INPUT", help=_INPUTS)]
_INPUT = "IR or source file, a module of a library as in lib.a(x.o), or - for stdin."
Input = Annotated[str, Argument(metavar="INPUT", help=_INPUT)]
_INDEX = "File that `mirenc embed -o` wrote, folder of IR or sources, or compile_commands.json."
Index = Annotated[str, Argument(metavar="INDEX", help=_INDEX)]
Model = Annotated[str | None, Option("--model", "-m", help="Name or folder of a model (`mirenc models list`).")]
_SEARCH_MODEL = "Model name or folder. [default: mirenc-search to search functions and smaller parts, else mirenc-fast]"
SearchModel = Annotated[str | None, Option("--model", "-m", help=_SEARCH_MODEL)]
_MAP = "Name of a whitening map that you fitted (`mirenc models adapt`)."
Map = Annotated[str | None, Option("--map", metavar="NAME", help=_MAP)]
HideNames = Annotated[bool, Option("--hide-names", help="Ignore the names of functions and types; for stripped code.")]
LevelName = Literal["module", "function", "loop", "block", "instruction"]
Level = Annotated[LevelName, Option("--level", "-l", help="What gets a vector.")]
_FUNCTION = "Only functions whose name, plain or mangled, matches."
Function = Annotated[str | None, Option("--function", "-f", metavar="REGEX", help=_FUNCTION)]
FormChoice = Literal["auto", "plain", "light", "O1", "O2", "O3", "Os", "Oz"]
FORM_HELP = "LLVM passes to run first, so that -O0 and -O2 builds of a function get similar vectors. plain: no passes. "
FORM_HELP += "light: a few passes that simplify each function by itself, without inlining."
FORM_AUTO_HELP = f"{FORM_HELP} auto: plain for loops, blocks and instructions; O2 for modules and functions."
FormName = Annotated[FormChoice, Option("--form", help=FORM_AUTO_HELP)]
JSON = Annotated[bool, Option("--json", help="Print JSON instead of text.")]
_TIMEOUT = "Seconds that LLVM or a compiler may take for one file. [default: 120]"
Timeout = Annotated[float | None, Option(help=_TIMEOUT, min=0.01)]
MemoryLimit = Annotated[str | None, Option(help="Memory for LLVM or a compiler, for example 2G. [default: 8G]")]
MaxBytes = Annotated[str | None, Option(help="Refuse input files above this size, for example 200M. [default: 64M]")]
_COMPILER = "The clang that compiles source files. [default: the first on PATH, then ziglang]"
Compiler = Annotated[str | None, Option(help=_COMPILER)]
CFlags = Annotated[str, Option("--cflags", help="Compiler flags for source files, such as --cflags='-O3 -Iinclude'.")]
TableFolder = Annotated[Path | None, Option("--output", "-o", metavar="FOLDER", help="Folder for the table.")]
_BUDGET = "Stop after this number of minutes. The same command, run again, goes on."
Budget = Annotated[float | None, Option(metavar="MINUTES", help=_BUDGET, min=0.0)]
_JOBS = "How many compilers run at once. [default: one for each core]"
Jobs = Annotated[int | None, Option("--jobs", "-j", help=_JOBS, min=1)]
# Of the verbs about tasks.
_TASK_NAME = "Name of the task, such as device_mapping (`mirenc tasks`)."
TaskName = Annotated[str | None, Argument(metavar="TASK", help=_TASK_NAME)]
TaskFile = Annotated[Path | None, Option(help="A task of your own: a .py file that defines it. The file is executed.")]
_DATA = "Folder of data sets. [default: $MIRENC_DATA, then the user's data folder]"
Data = Annotated[Path | None, Option("--data", "-d", help=_DATA)]
_IRDIR = "Folder of IR files (NAME.ll or NAME.bc), for published tables that come without IR."
IRDir = Annotated[Path | None, Option("--ir-dir", help=_IRDIR)]
Variant = Annotated[str, Option(help="Which variant of the task, as `mirenc tasks` lists them. [default: the first]")]


_UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30}


def byte_count(text: str, option: str) -> int:
    """Bytes of ``512``, ``64M``, ``2G``."""
    from mirenc.llvm.inputs.file_kind import LARGEST_SIZE

    number = text.upper().removesuffix("IB").removesuffix("B")
    unit = number[-1:] if number[-1:] in _UNITS else ""
    try:
        value = float(number.removesuffix(unit)) * _UNITS[unit]
    except ValueError:
        value = -1.0
    if not 1 <= value <= LARGEST_SIZE:
        raise typer.BadParameter(f"{text!r} is not a size; write 500K, 64M or 2G", param_hint=option)
    return int(value)


def split_flags(cflags: str) -> tuple[str, ...]:
    """The words of ``--cflags``."""
    try:
        return tuple(shlex.split(cflags))
    except ValueError as error:
        raise typer.BadParameter(f"{cflags!r}: {error}", param_hint="--cflags") from None


def read_options(
    timeout: Timeout = None,
    memory_limit: MemoryLimit = None,
    max_bytes: MaxBytes = None,
    compiler: Compiler = None,
    cflags: CFlags = "",
) -> Reading:
    """The options of reading as a `ReadOptions`; starts the process in which LLVM runs, with the memory limit."""
    from mirenc.llvm import ReadOptions, start_reader
    from mirenc.llvm.inputs.file_kind import DEFAULT_MAX_BYTES

    options = ReadOptions(
        max_bytes=DEFAULT_MAX_BYTES if max_bytes is None else byte_count(max_bytes, "--max-bytes"),
        timeout=timeout,
        memory_limit=None if memory_limit is None else byte_count(memory_limit, "--memory-limit"),
        compiler=compiler,
        cflags=split_flags(cflags),
    )
    start_reader(memory_limit=options.memory_limit)
    return options


def reads(verb: Callable[..., None], *, sources: bool = True) -> Callable[..., None]:
    """Replace a verb's parameter ``options`` by the options of `read_options`; without ``sources``, by those for IR."""
    signature = inspect.signature(verb, eval_str=True)
    available = inspect.signature(read_options, eval_str=True).parameters
    added = {name: option for name, option in available.items() if sources or name not in ("compiler", "cflags")}
    parameters = [option for name, option in signature.parameters.items() if name != "options"] + [*added.values()]

    @functools.wraps(verb)
    def with_options(**values: Any) -> None:
        options = read_options(**{name: values.pop(name) for name in added})
        verb(**values, options=options)

    with_options.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    with_options.__annotations__ = {option.name: option.annotation for option in parameters}
    return with_options


reads_ir = functools.partial(reads, sources=False)


def find_task(name: str | None, file: Path | None) -> Task:
    """The task of a name, or the one that a file defines. Raises BadParameter, TaskError."""
    from mirenc.decide.registry import get_task, load_task_file

    if name in ("branch_probability", "trip_count"):
        raise TaskError(f"{name} is not a task. Type: mirenc profile INPUT")
    if name == "passes":
        tasks = "pass_list, size_after, oz_benefit and pass_fires"
        raise TaskError(f"there is no task 'passes'; the table of `mirenc label` is for {tasks}. Name one of these")
    if (name is None) == (file is None):
        raise typer.BadParameter("give the name of a task, or --task-file FILE.py", param_hint="TASK")
    return load_task_file(file) if file is not None else get_task(str(name))


def check_folders(*folders: Path | None) -> None:
    """Make folders that will be written to. Raises IRFileError where that cannot be."""
    for folder in filter(None, folders):
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except (FileExistsError, NotADirectoryError):
            raise IRFileError(f"{folder} is a file, or is below one. Name a folder") from None
        if not os.access(folder, os.W_OK | os.X_OK):
            raise IRFileError(f"no permission to write into {folder}. Name another folder")


def table_folder(output: Path | None) -> Path:
    """The folder that a table is written to. Raises BadParameter, ConfigError: none is named, or it is a file."""
    if output is None:
        raise typer.BadParameter("name a folder for the table", param_hint="--output")
    if str(output) == "-":
        raise ConfigError("output '-': a table is a folder, and cannot go to stdout. Name a folder with -o")
    if output.exists() and not output.is_dir():
        raise ConfigError(f"{output} is a file. Name a folder with -o")
    return output


def say_resumed(remaining: int, total: int, item_name: str) -> None:
    """Say how much of a run was done by an earlier one."""
    if remaining < total:
        say(f"{total - remaining} of {total} {item_name} are there already")


def is_project(argument: str) -> bool:
    """Whether an argument of the command line is a folder or a ``compile_commands.json``."""
    from mirenc.llvm.inputs import projects

    return argument not in ("", "-") and projects.is_project(Path(argument))  # Path("") is this folder


def expand(inputs: list[str], options: Reading) -> list[IRInput]:
    """The files that the arguments stand for, in their order; those that are left out are named on stderr."""
    from mirenc.llvm.inputs.input import path_input
    from mirenc.llvm.inputs.projects import expand_inputs

    if inputs.count("-") > 1:
        raise typer.BadParameter("standard input can be read once; give - once", param_hint="INPUT")
    sources = (Path(argument) if is_project(argument) else path_input(argument) for argument in inputs)
    return list(expand_inputs(sources, say, options))


def chosen_form(name: str) -> Form | None:
    """The form that ``--form`` names; None for ``auto``."""
    return None if name == "auto" else name  # type: ignore[return-value]  # the others are forms


def open_index(
    index: str,
    level: LevelName | None,
    default: LevelName,
    model: str | None,
    options: Reading,
    *,
    whitening_map: str | None,
    hide_names: bool,
    form: Form | None = None,
    approximate: bool = False,
) -> tuple[Encoder, VectorTable, Failures]:
    """The encoder, the table and the failed files of an index: a file of vectors, or a folder that is embedded now.

    A folder is embedded at ``level`` or else ``default``. Raises ConfigError: the file's vectors are of another model,
    level or form than is asked for, or there are none.
    """
    from mirenc.encoder import load
    from mirenc.encoder.weights import is_model_name, search_model
    from mirenc.search import VECTOR_SUFFIXES, index as make_index, read_vectors

    failures = Failures(1)
    if Path(index).suffix in VECTOR_SUFFIXES and not os.path.isdir(index):
        if whitening_map is not None or hide_names:
            option = "--map" if whitening_map is not None else "--hide-names"
            raise typer.BadParameter(f"{index} records how it was made; leave {option} out", param_hint=option)
        with progress("reading vectors", None, show=not approximate):  # which has a bar of its own
            table = read_vectors(index, approximate=approximate)
        if level not in (None, table.level):
            raise typer.BadParameter(f"{index} holds vectors of level {table.level}, not {level}", param_hint="--level")
        # The file records its model, so one that has a name need not be named again.
        maker = table.maker
        model_name = maker.model if model is None and is_model_name(maker.model) else model
        encoder = load(model_name, options=options, hide_names=maker.hide_names, whitening_map=maker.map or None)
        table.check_form(form, index)
        table.check_model(encoder, index)
    elif approximate:
        raise typer.BadParameter("only a .parquet file of vectors has one", param_hint="--approximate")
    else:
        # A folder is embedded now; what the cache has of it is not computed again.
        level, files = level or default, expand([index], options)
        name, failures = model or search_model(level), Failures(len(files))
        encoder = load(name, options=options, whitening_map=whitening_map, hide_names=hide_names)
        table = make_index(encoder, files, level=level, form=form, failed=failures.add, progress=True)
    if not len(table):
        raise ConfigError(f"{index} has no {table.level}. Embed the files at another level (--level)")
    return encoder, table, failures


def sureness(encoder: Encoder, maker: Maker) -> Sureness:
    """A function from a cosine to the share of right answers; to None except for functions in the form plain."""
    paired = encoder.files.config.paired
    is_measured = maker.usual and maker.form == "plain" and maker.level == "function" and encoder.whitening_map is None
    return paired.sure if paired is not None and is_measured else lambda cosine: None


def percent(share: float | None) -> str:
    """A share as text; empty where it is None."""
    return "" if share is None else f"{share:.0%}"
