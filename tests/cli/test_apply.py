"""``mirenc predict --apply``: answers written into copies of sources."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mirenc.base.errors import ConfigError, TaskError
from mirenc.cli.answers import Copies
from mirenc.decide.prediction import Choice, Evidence
from mirenc.decide.registry import get_task
from mirenc.llvm.analysis.regions import Region

TASK: Any = get_task("vectorization")
WIDE, DEFAULT = TASK.space.names[TASK.space.settings.index((8, 2))], TASK.space.names[0]
PRAGMA = "#pragma clang loop vectorize_width(8) interleave_count(2)"
SOURCE = b"// caf\xe9\r\nvoid f(int *a) {\r\n  for (int i = 0; i < 9; i++)\r\n    a[i] = 1;\r\n}\r\n"


def setting(choice: str) -> tuple[int, ...]:
    return dict(zip(TASK.space.names, TASK.space.settings, strict=True)).get(choice, (4,))


def answer(choice: str, file: Path, line: int = 3) -> Any:
    region = Region("loop", "f:%3", "f", "%3", 1, str(file), line, "f")
    common: Any = {"context": {}, "machine": "", "distance": 0.0, "evidence": Evidence("default", None)}
    return Choice(
        choice=choice,
        setting=setting(choice),
        default=DEFAULT,
        preference={},
        expected={},
        region=region,
        **common,
    )


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "f.c"
    path.write_bytes(SOURCE)
    return path


def apply(source: Path, *answers: Any) -> bytes:
    folder = source.parent / "out"
    Copies(TASK, folder, [str(source)]).take(str(source), answers)
    assert source.read_bytes() == SOURCE
    return (folder / source.name).read_bytes()


def test_bytes_and_line_ends_stay(source: Path, capsys: pytest.CaptureFixture[str]) -> None:
    written = apply(source, answer(WIDE, source))
    assert written == SOURCE.replace(b"  for", f"  {PRAGMA}\r\n  for".encode())
    assert capsys.readouterr().err == ""


def test_a_pragma_that_is_there_goes_before_what_its_copies_want(
    source: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source.write_bytes(SOURCE.replace(b"  for", b"#pragma clang loop vectorize(enable)\r\n  for"))
    folder = source.parent / "out"
    answers = [answer(DEFAULT, source, 4), answer(WIDE, source, 4)]
    Copies(TASK, folder, [str(source)]).take(str(source), answers)
    assert (folder / source.name).read_bytes() == source.read_bytes()
    assert capsys.readouterr().err == f"mirenc: {source}:4: left alone, it has a pragma already\n"


def test_the_default_writes_nothing(source: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert apply(source, answer(DEFAULT, source)) == SOURCE
    assert capsys.readouterr().err == ""


def test_copies_of_a_loop_that_agree_are_one(source: Path) -> None:
    assert apply(source, answer(WIDE, source), answer(WIDE, source)).count(PRAGMA.encode()) == 1


@pytest.mark.parametrize(
    ("answers", "reason"),
    [
        ([(WIDE, "f.c", 3), (DEFAULT, "f.c", 3)], "f.c:3: left alone, its copies (templates, inlining) want different"),
        ([(DEFAULT, "f.c", 3), (WIDE, "f.c", 3), (WIDE, "f.c", 3)], "want different settings"),
        ([(WIDE, "f.h", 3)], "f.h:3: left alone, it is in another file"),
        ([(WIDE, "f.c", 0)], "f:%3: left alone, its line is not known"),
        ([(WIDE, "f.c", 4)], "f.c:4: left alone, no loop is written on it"),
    ],
)
def test_left_alone(
    source: Path, answers: list[tuple[str, str, int]], reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    choices = [answer(choice, source.parent / file, line) for choice, file, line in answers]
    assert apply(source, *choices) == SOURCE
    assert reason in capsys.readouterr().err


def test_nothing_is_replaced(source: Path) -> None:
    for folder, phrase in ((source.parent, "is there already"), (source, "is a file")):
        with pytest.raises(ConfigError, match=phrase):
            Copies(TASK, folder, [str(source)])
    with pytest.raises(ConfigError, match=r"two sources are called f\.c"):
        Copies(TASK, source.parent / "out", [str(source), f"elsewhere/{source.name}"])
    with pytest.raises(ConfigError, match=r"--apply writes into C and C\+\+ sources, and .*f\.ll is neither"):
        Copies(TASK, source.parent / "out", ["f.ll"])
    assert not (source.parent / "out").exists()


def test_only_tasks_whose_answers_are_lines() -> None:
    task = get_task("thread_coarsening")
    with pytest.raises(TaskError, match="answers of thread_coarsening cannot be written into a source"):
        Copies(task, Path("out"), [])
    assert task.directive_of(answer("4", Path("f.c"))) == ""
