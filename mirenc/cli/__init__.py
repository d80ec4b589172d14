"""The command line: data to stdout or ``-o``, log and progress to stderr.

Exit code 0: done; 1: ``mirenc: error: <found>. <what to do>``, followed by the lines that LLVM or the compiler printed
about the place; 2: usage. One file a verb, imported when it is asked for; a verb imports what it needs when it runs, so
that each starts at once.
"""

import errno
import gc
import importlib
import io
import itertools
import os
import sys
import warnings
from typing import Annotated, Any, NoReturn

import typer
from typer import Option
from typer.core import TyperGroup

from mirenc import __version__
from mirenc.base.errors import MirencError, SearchModelWarning, did_you_mean
from mirenc.base.shown import printable
from mirenc.cli.messages import diagnostic_text

GROUPS = {
    "Vectors and search": ("embed", "compare", "search", "diff", "map", "inspect", "graph", "mcp"),
    "Decisions": ("tasks", "predict", "fit", "evaluate", "datasets", "export"),
    "Compilers and programs": ("sizes", "suggest", "serve", "profile", "measure", "label", "tune", "cc", "cmake-dir"),
    "Models and training": ("models", "cache", "corpus", "pretrain"),
}
"""Verbs in the order of the help. The module of that name has a function of that name, or an ``app`` of verbs."""
VERBS = tuple(itertools.chain.from_iterable(GROUPS.values()))

_PATHS = "-o --output --data --head -c --c --onnx --corpus --apply --plot --work --ir-dir --task-file --counts".split()


class _Verbs(TyperGroup):
    """Lists its verbs under the titles of `GROUPS`, each with the first sentence of its help, whole."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        for command in self.commands.values():
            _complete_help(command)

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except typer.BadParameter as error:
            error.message = error.message.removeprefix("Value error, ")  # pydantic's, which some versions of typer show
            raise

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if (verb := args[0]) not in self.commands and verb[0] != "-":
            help_texts = {name: str(command.short_help) for name, command in self.commands.items()}
            ctx.fail(f"no such verb: {verb}; {did_you_mean(verb, help_texts) or 'mirenc -h lists them'}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        for title, verbs in GROUPS.items():
            commands = {verb: self.get_command(ctx, verb) for verb in verbs}
            with formatter.section(title):
                formatter.write_dl([(verb, command.short_help) for verb, command in commands.items() if command])


def _complete_help(command: Any) -> None:
    """Set examples apart, which end a verb's docstring, and call values by the names of their options, in capitals."""
    for verb in getattr(command, "commands", {}).values():
        _complete_help(verb)
    command.help, separator, examples = (command.help or "").partition("\n\nmirenc ")
    command.short_help = command.get_short_help_str(200)  # lists of verbs below another show it whole, too
    if separator:
        lines = f"mirenc {examples}".splitlines()
        command.epilog = "\n".join(["Examples:", "", "\b", *(f"    {line.strip()}" for line in lines)])
    for parameter in command.params:
        kind = getattr(parameter, "type_descriptor", None) or parameter.type  # typer's from 0.29 on, and before
        if not getattr(kind, "choices", None):
            parameter.metavar = parameter.metavar or parameter.name.upper()
        if parameter.param_type_name == "argument":
            parameter.display_type_rich = lambda ctx: None  # beside the name a type says nothing


def make_app(verb: str | None = None) -> typer.Typer:
    """The command line: all of it, or with one verb alone, which is built in 4 ms instead of 31."""
    app = typer.Typer(
        name="mirenc",
        cls=_Verbs,
        help="Embed LLVM IR as vectors: find functions in other builds, compare builds, make predictions about code.",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_options)
    for name in (verb,) if verb in VERBS else VERBS:
        file = name.replace("-", "_")
        module = importlib.import_module(f"{__name__}.{file}")
        if hasattr(module, "app"):
            app.add_typer(module.app, name=name)
        else:
            app.command(name, context_settings=getattr(module, "SETTINGS", None))(getattr(module, file))
    return app


def _version(requested: bool) -> None:
    if requested:
        typer.echo(f"mirenc {__version__}")
        raise typer.Exit


def _options(
    version: Annotated[bool, Option("--version", callback=_version, is_eager=True, help="Show the version.")] = False,
) -> None:
    """Options before the verb."""


def main() -> None:
    """Entry point: errors of mirenc's and of the system's become one line on stderr and exit code 1."""
    _open_streams()
    # On the command line the search model is the default of `index`, or the model was named.
    warnings.simplefilter("ignore", SearchModelWarning)
    warnings.formatwarning = lambda message, *_, **__: f"mirenc: warning: {message}\n"
    # Looking for plugins reads the metadata of every installed package: a tenth of a small file's start.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    if sys.argv[1:2] == ["embed"]:
        # All that it multiplies is on one thread each; the others wait in a loop, beside LLVM and workers that start.
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # Typer would take an empty path for the working folder.
    if any(not word and (previous in _PATHS or previous[:1] != "-") for previous, word in itertools.pairwise(sys.argv)):
        _fail("'': is not a file name. Give a path, or - for standard input")
    if sys.argv[1:2] == ["predict"] and "--aux" in sys.argv:
        _fail("--aux is called --context now. Type: --context NAME=VALUE")
    try:
        try:
            make_app(sys.argv[1] if len(sys.argv) > 1 else None)(prog_name="mirenc")
        except SystemExit:
            # Before Python ends: what it cannot flush then, it reports in its own way. Nor need it look for garbage.
            sys.stdout.flush()
            gc.freeze()
            raise
    except MirencError as error:
        _fail(str(error), diagnostic_text(error))
    except MemoryError:
        _fail("out of memory. Give fewer or smaller inputs, or --level module")
    except BrokenPipeError:
        _drop_output()  # the reader of stdout is gone (`| head`)
        sys.exit(1)
    except OSError as error:
        _drop_output()
        if error.errno == errno.EBADF and error.filename is None:
            _fail("output: standard output is closed. Name a file with -o, or leave it open")
        place = "output" if error.filename is None else error.filename
        _fail(f"{place}: {error.strerror or error}. Check the path, its permissions and the free space")
    except KeyboardInterrupt:
        print("mirenc: interrupted", file=sys.stderr)
        sys.exit(130)


def _open_streams() -> None:
    """Let stdout print any file name, and replace streams that the caller closed (`mirenc ... >&-`)."""
    # The replacement of stdout cannot be written to: otherwise data would be lost without a word.
    for name, mode, access in (("stdin", "r", os.O_RDONLY), ("stdout", "w", os.O_RDONLY), ("stderr", "w", os.O_WRONLY)):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.open(os.devnull, access), mode, encoding="utf-8"))  # noqa: SIM115 - open to the end
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def _drop_output() -> None:
    """Discard what is left in stdout's buffer: Python would report a second error when it flushes it at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _fail(message: str, detail: str = "") -> NoReturn:
    print(f"mirenc: error: {printable(' '.join(message.split()))}\n{detail}", end="", file=sys.stderr)
    sys.exit(1)
