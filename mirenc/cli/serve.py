"""``mirenc serve inliner``: a user's own build through a compiler that makes objects smaller."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Annotated

import typer
from typer import Argument, Option

from mirenc.base.errors import ConfigError, ToolchainError
from mirenc.base.writing import only_one
from mirenc.cli import common

app = typer.Typer(no_args_is_help=True)
_FOLDER = "Folder for the compiler and the decisions that it found."


@app.callback()
def _() -> None:
    """Run your own build with a compiler that makes objects smaller."""


@app.command()
def inliner(
    folder: Annotated[Path, Argument(metavar="FOLDER", help=_FOLDER)],
    command: Annotated[list[str], Argument(metavar="-- COMMAND...", help="The build, for example -- make -j2.")],
    lists: Annotated[int, Option("--lists", "-k", help="How many pass lists are tried for each source.", min=1)] = 7,
    budget: Annotated[int, Option(help="Total number of compilations for each source.", min=1)] = 20,
    replay: Annotated[bool, Option("--replay", help="Do not search; apply the decisions in FOLDER.")] = False,
    compiler: Annotated[str, Option(help="The clang to use; its libLLVM must be installed, too.")] = "clang-19",
) -> None:
    """Run a build with a compiler that tries clang -Oz, other pass lists and other inlining on each C or C++ source.

    For each source, the smallest object is kept that `mirenc suggest FILE --try --inline` finds. This takes 2 to 8
    seconds of processor time for each. FOLDER/decisions.jsonl records what was found, so that the same command searches
    again only for sources that have changed. With --replay it does not search at all.

    During the build, the variables CC and CXX, and the commands cc, c++, gcc, g++, clang and clang++ on PATH, run this
    compiler. If your build calls its compiler by another name, pass CC=FOLDER/bin/cc to the build; that compiler also
    works outside of mirenc serve. -Oz is used whatever level the build asks for.

    LLVM's verifier checks that each module is well-formed IR. Run your own tests to see that the program still behaves
    as before.

    mirenc serve inliner smaller -- cc -c foo.c -o foo.o
    mirenc serve inliner smaller --replay -- cc -c foo.c -o foo.o
    """
    from mirenc.decide.registry import get_task
    from mirenc.decide.task_head import TaskHead, ready_heads
    from mirenc.llvm.passes.find_llvm import SharedEngine
    from mirenc.tools.inline.compiler import DECISIONS, Settings, write_compiler
    from mirenc.tools.run.compilers import major_version, tool_beside
    from mirenc.tools.suggest import TASK, fixed_lists

    if folder.exists() and not folder.is_dir():
        raise ConfigError(f"{folder} is a file. Name a folder")
    if replay and not (folder / DECISIONS).is_file():
        raise ConfigError(f"{folder} has no {DECISIONS}. Run once without --replay first")
    if re.search(r"\s", str(folder.resolve())):
        raise ConfigError(f"{folder.resolve()} has a space, which a build's $(CC) cannot have. Name another folder")
    bin_folder = (folder / "bin").resolve()  # on PATH where somebody put it there
    path = os.pathsep.join(item for item in os.get_exec_path() if Path(item).resolve() != bin_folder)
    compiler = shutil.which(compiler, path=path) or compiler
    clang, version = tool_beside(compiler, "clang"), int(major_version(compiler))
    with SharedEngine(version) as engine:
        engine.knows("")  # it starts, or says what to install
    task = get_task(TASK)
    pipelines = tuple(item.pipeline for item in fixed_lists(TaskHead.load(ready_heads(task)[""], task), lists))
    builds = max(0, budget - 1 - len(pipelines))
    with only_one(folder):
        environment = write_compiler(folder, Settings(str(clang), version, pipelines, builds, replay))
        raise typer.Exit(_build(folder, command, environment))


def _build(folder: Path, command: list[str], environment: dict[str, str]) -> int:
    """Run the build, say what came of it, and return its exit code."""
    from mirenc.llvm.passes.size_after_passes import CHECKED
    from mirenc.tools.inline.compiler import LOG

    if shutil.which(command[0], path=environment["PATH"]) is None:
        raise ToolchainError(f"command {command[0]!r} is not on PATH. Give a build, for example -- make -j2")
    result = subprocess.run(command, env=os.environ | environment, check=False)
    lines = [json.loads(line) for line in (folder / LOG).read_text(encoding="utf-8").splitlines()]
    if not lines:
        hint = f"or the build needs the argument CC={folder / 'bin' / 'cc'}"
        common.warn(f"the build compiled no source with $CC or $CXX: all was up to date (type: make clean), {hint}")
        return result.returncode
    for line in lines:
        if "problem" in line:
            common.warn(f"{line['source']}: the object of clang -Oz was kept, because {line['problem']}")
    oz_bytes, object_bytes = (sum(line[name] for line in lines) for name in ("oz", "bytes"))
    share = 100 * (1 - object_bytes / max(oz_bytes, 1))
    saving = f"{oz_bytes - object_bytes:,} fewer than with -Oz ({share:.1f} %)"
    common.say(f"{len(lines)} sources: {object_bytes:,} bytes of code, data and tables for unwinding, {saving}")
    common.say(f"{CHECKED}: run its tests")
    return result.returncode
