"""The help of every verb: values in capitals, and examples that run; completion in a shell."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from command_line import Run
from small_corpus import FIXTURES, PROJECTS
from small_task import write_task

from mirenc.cli import VERBS, make_app

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
NEEDS: dict[str, list[Any]] = {
    "cc": [pytest.mark.needs("clang-19", "gcc")],
    "export": [pytest.mark.needs("clang-19")],
    "label": [pytest.mark.needs("clang-19"), pytest.mark.needs("libLLVM 19")],
    "measure": [pytest.mark.needs("clang-19"), pytest.mark.slow],
    "predict": [pytest.mark.needs("clang-19")],
    "pretrain": [pytest.mark.slow],
    "serve": [pytest.mark.needs("clang-19"), pytest.mark.needs("libLLVM 19")],
    "sizes": [pytest.mark.needs("clang-19")],
    "suggest": [pytest.mark.needs("libLLVM 19"), pytest.mark.needs("clang-19")],
    "tune": [pytest.mark.needs("clang-19"), pytest.mark.needs("llvm-profdata"), pytest.mark.slow],
}
TORCH = ("corpus", "export", "models", "pretrain")
# Whose examples make what these take.
BEFORE = {"search": ("embed",), "map": ("embed",), "mcp": ("embed",), "pretrain": ("corpus",)}
NETWORK = ("mirenc datasets fetch", "mirenc datasets verify", "mirenc models fetch")
MAIN = (
    "int first(int); int main(void) { int sum = 0; for (int i = 0; i < 9000000; i++) sum += i % 7; return sum == 1; }"
)
RUN = 'preset = "tiny"\nheld_out_share = 0.4\n' + "".join(
    f"[{stage}]\nsteps = 2\nbatch = 2\nlearning_rate = 1e-3\n" for stage in ("mlm", "gae", "igm")
)


def commands(command: Any = None, name: str = "mirenc") -> Iterator[tuple[str, Any]]:
    """Name and command of every verb and of the verbs below it."""
    command = command or typer.main.get_command(make_app())
    for verb, below in command.commands.items():
        if hasattr(below, "commands"):
            yield from commands(below, f"{name} {verb}")
        else:
            yield f"{name} {verb}", below


COMMANDS = dict(commands())


def examples(verb: str) -> list[str]:
    """Lines of the examples of a verb and of those below it."""
    commands = [command for name, command in COMMANDS.items() if name.split()[1] == verb]
    return [line.strip() for one in commands for line in (one.epilog or "").splitlines() if line.startswith("    ")]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The files that examples name; the working folder."""
    for source, name in (("insertion_sort.ll", "foo.ll"), ("saxpy.ll", "bar.ll"), ("vector_add.cl", "kernel.cl")):
        shutil.copy(EXAMPLES / source, tmp_path / name)
    shutil.copy(EXAMPLES / "insertion_sort.c", tmp_path / "foo.c")
    (tmp_path / "loop.c").write_text(MAIN)
    for build in ("src", "old", "new"):
        (tmp_path / build).mkdir()
        shutil.copy(EXAMPLES / ("saxpy.ll" if build == "new" else "dot_product.ll"), tmp_path / build / "foo.ll")
    for project, (compiler, names) in PROJECTS.items():
        for level in ("O0", "O2"):
            (tmp_path / "builds" / project / level).mkdir(parents=True)
            for name in names.split()[:2]:
                shutil.copy(FIXTURES / compiler / level / f"{name}.ll", tmp_path / "builds" / project / level)
    shutil.copy(EXAMPLES / "insertion_sort.ll", tmp_path / "src" / "bar.ll")
    for level in ("O0", "O2"):
        (tmp_path / "code" / level).mkdir(parents=True)
        for number in range(32):
            body = "".join(f"  %v{step} = mul i32 %x, {number + step}\n" for step in range(number + 1))
            text = f"define i32 @f{number}(i32 %x) {{\n{body}  ret i32 %v0\n}}\n"
            (tmp_path / "code" / level / f"{number}.ll").write_text(text)
    sizes = {f"code/O0/{number}.ll": 8 + 4 * number for number in range(12)}
    rows = "".join(f"{file},{size},{size % 3}\n" for file, size in sizes.items())
    (tmp_path / "labels.csv").write_text(f"file,label,group\n{rows}")
    (tmp_path / "tiny.toml").write_text(RUN)
    write_task(tmp_path).rename(tmp_path / "my_task.py")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    return tmp_path


@pytest.mark.parametrize("verb", [pytest.param(verb, marks=NEEDS.get(verb, ())) for verb in VERBS])
@pytest.mark.usefixtures("folder")
def test_examples_run(run: Run, verb: str) -> None:
    if verb in TORCH:
        pytest.importorskip("torch")
    for one in (*BEFORE.get(verb, ()), verb):
        for line in examples(one):
            if line.startswith(NETWORK):
                run(*shlex.split(line)[1:], "--help").ok()
            elif any(word in line for word in (" > ", " && ")):
                shell = f'mirenc() {{ "{sys.executable}" -m mirenc "$@"; }}; python() {{ "{sys.executable}" "$@"; }}\n'
                subprocess.run(["bash", "-euc", shell + line], check=True, capture_output=True)
            else:
                result = run(*shlex.split(line)[1:])
                assert result.code == 0, f"{line}\n{result.err}"


def test_every_verb_has_two_examples() -> None:
    counts = {name: len((command.epilog or "").splitlines()) - 3 for name, command in COMMANDS.items()}
    without_options = {name for name, command in COMMANDS.items() if not command.params}
    assert counts == {name: 1 if name in without_options else 2 for name in COMMANDS}


@pytest.mark.parametrize("name", COMMANDS)
def test_values_are_in_capitals_or_listed(name: str) -> None:
    context = typer.Context(COMMANDS[name], info_name=name)
    for parameter in COMMANDS[name].params:
        shown = parameter.get_help_record(context)[0].split()
        for value in [word for word in shown if word[0] not in "-/."]:
            assert value.partition(".")[0].isupper() or (value[0] == "<" and "|" in value), shown


@pytest.mark.parametrize(
    ("words", "completed"), [("mirenc emb", "embed"), ("mirenc embed --lev", "--level"), ("mirenc models ad", "adapt")]
)
def test_a_shell_completes_verbs_and_options(spawn: Run, words: str, completed: str) -> None:
    environment = {"_MIRENC_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(len(words.split()) - 1)}
    assert os.environ.keys().isdisjoint(environment)
    assign = " ".join(f"{name}={shlex.quote(value)}" for name, value in environment.items())
    assert spawn(shell=f'{assign} "$@"').out.split() == [completed]
