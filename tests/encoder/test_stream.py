"""Many inputs: order, errors, what is encoded once, what workers do, and what is left behind."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from same_vectors import assert_same_vectors

from mirenc.base.cache import Cache
from mirenc.base.errors import (
    ConfigError,
    IRFileError,
    IRParseError,
    IRResourceError,
    ModelError,
    NoFunctionBodyError,
    UnreadableIRWarning,
)
from mirenc.encoder import Encoder, Outcome, batches, load, workers
from mirenc.encoder.embedding import Embedding
from mirenc.encoder.pipeline import Pipeline
from mirenc.encoder.weights import seal
from mirenc.llvm import read_ir
from mirenc.llvm.inputs.input import Input, resolve_input

IR = Path(__file__).resolve().parents[1] / "fixtures" / "ir" / "clang-19"
FILES = sorted((IR / "O0").glob("*.ll"))[:5]
MISSING = Path("none.ll")
TEXT = "define i32 @f(i32 %x) {\n  %y = mul i32 %x, 3\n  ret i32 %y\n}\n"


@pytest.fixture
def children(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The processes that were started, none of which is a copy of this one, whatever threads it has."""
    started: list[Any] = []
    monkeypatch.setattr(workers, "_THREADS_FOLDER", "none")
    honest = workers._Worker.start

    def start(self: Any, **options: Any) -> Any:
        started.append(honest(self, **options))
        return started[-1]

    monkeypatch.setattr(workers._Worker, "start", start)
    return started


def names(outcomes: Iterator[Outcome]) -> list[str]:
    return [outcome.name for outcome in outcomes]


# -- order and kinds -----------------------------------------------------------------------------------
@pytest.mark.parametrize("jobs", [1, 2])
def test_every_kind_of_input_in_its_order(encoder: Encoder, jobs: int, children: list[Any]) -> None:
    inputs = [FILES[0], TEXT, read_ir(FILES[1]), MISSING, FILES[2].read_bytes(), FILES[0], str(FILES[3])]
    outcomes = list(encoder.embed_stream(inputs, jobs=jobs, batch_size=2))
    shown = [str(FILES[0]), "<string>", str(FILES[1]), "none.ll", "<string>", str(FILES[0]), str(FILES[3])]
    assert names(iter(outcomes)) == shown
    for source, (_, embedding, error) in zip(inputs, outcomes, strict=True):
        if source is MISSING:
            assert embedding is None
            assert isinstance(error, IRFileError)
            assert "none.ll: no such file" in str(error)
        else:
            assert error is None
            alone = encoder.embed_parts(source)
            assert_same_vectors(embedding.vector, alone.vector)
            assert (embedding.regions, embedding.counts) == (alone.regions, alone.counts)
            assert (embedding.content_hash, embedding.file_hash) == (alone.content_hash, alone.file_hash)
    assert bool(children) == (jobs > 1)
    assert all(child.poll() is not None for child in children)


@pytest.mark.parametrize("cached", [False, True])
def test_the_number_of_jobs_changes_no_vector(model_folder: Path, tmp_path: Path, cached: bool) -> None:
    """By more than the rounding of a text that is encoded beside other texts."""
    vectors = []
    for jobs in (1, 2, 3):
        fresh = load(model_folder, cache=tmp_path / str(jobs) if cached else False)
        vectors.append(fresh.embed([*FILES, *FILES[::-1]], jobs=jobs, batch_size=3, level="function"))
    for one, two, three in zip(*vectors, strict=True):
        assert_same_vectors(two, one)
        assert_same_vectors(three, one)


def test_workers_read_for_a_model_that_torch_runs(model_folder: Path, children: list[Any]) -> None:
    encoder = load(model_folder, backend="torch", cache=False)
    inputs = [FILES[0], MISSING, FILES[1]]
    one, two = (list(encoder.embed_stream(inputs, jobs=jobs, batch_size=1)) for jobs in (1, 2))
    assert len(children) == 1
    assert [str(outcome.error) for outcome in one] == [str(outcome.error) for outcome in two]
    for alone, read in zip(one[::2], two[::2], strict=True):
        assert alone.embedding is not None
        assert read.embedding is not None
        assert_same_vectors(read.embedding.vector, alone.embedding.vector)


def test_a_folder_is_its_files(encoder: Encoder, tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "empty").mkdir()
    for number, file in enumerate(FILES[:3]):
        shutil.copy(file, tmp_path / ("sub" if number == 2 else "") / f"{number}.ll")
    (tmp_path / "notes.txt").write_text("no IR", encoding="utf-8")
    expected = encoder.embed(FILES[:3])
    for place in (tmp_path, str(tmp_path), [tmp_path]):
        np.testing.assert_array_equal(encoder.embed(place), expected)
    assert len(encoder.embed([tmp_path, FILES[0]])) == 4
    by_file = encoder.embed([tmp_path], level="function")
    assert len(by_file) == 3
    np.testing.assert_array_equal(encoder.embed(tmp_path, level="function"), np.concatenate(by_file))
    with pytest.raises(IRFileError, match="is a folder without IR files"):
        encoder.embed(tmp_path / "empty")


def test_a_stream_takes_only_what_it_needs(encoder: Encoder) -> None:
    """A million files are never in memory, nor their answers."""
    taken = itertools.count()
    outcomes = encoder.embed_stream((TEXT for _ in taken), batch_size=4, jobs=1)
    for _ in range(6):
        next(outcomes)
    assert next(taken) < 50
    outcomes.close()
    taken = itertools.count()
    outcomes = encoder.embed_stream((TEXT for _ in taken), batch_size=4, jobs=2)
    next(outcomes)
    assert next(taken) < 2 * workers._QUEUED_BATCHES * 16 + 50
    outcomes.close()


@pytest.mark.parametrize(("suffix", "sizes"), [(".ll", [6]), (".bc", [6]), (".c", [2, 2, 2]), (".ll.gz", [2, 2, 2])])
def test_what_becomes_larger_ir_counts_for_an_eighth_of_a_mebibyte(
    tmp_path: Path, suffix: str, sizes: list[int]
) -> None:
    """A batch is 256 KiB at most."""
    for number in range(6):
        (tmp_path / f"{number}{suffix}").write_text("x")
    inputs = [resolve_input(path) for path in sorted(tmp_path.iterdir())]
    assert [len(batch) for batch in batches.input_batches(inputs, 64)] == sizes


def test_work_of_less_than_a_second_starts_no_process(encoder: Encoder, children: list[Any]) -> None:
    encoder.embed([TEXT] * 20)
    assert children == []


def test_more_work_starts_a_process(encoder: Encoder, children: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "_SERIAL_SECONDS", 0.0)
    monkeypatch.setattr(workers, "usable_cores", lambda: 2)
    assert encoder.embed([TEXT] * 70, batch_size=16).shape == (70, encoder.dimension)
    assert len(children) == 1


# -- what is done once ---------------------------------------------------------------------------------
@pytest.mark.parametrize("cached", [False, True])
def test_a_statement_of_several_files_is_encoded_once(
    model_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cached: bool
) -> None:
    encoder = load(model_folder, cache=tmp_path if cached else False)
    encoded: list[int] = []
    encode = encoder.runtime.encode_texts
    monkeypatch.setattr(
        encoder.runtime,
        "encode_texts",
        lambda ids, *rest, **named: encoded.append(len(ids)) or encode(ids, *rest, **named),
    )
    other = TEXT.replace("mul", "add")
    encoder.embed([TEXT, other, TEXT, "declare void @g()\n" + TEXT])
    assert encoded == [3]  # mul, add, ret
    encoder.embed("declare void @h()\n" + TEXT)
    assert encoded == ([3] if cached else [3, 2])


def test_the_cache_is_asked_before_anything_is_read(
    model_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inputs = [FILES[0], FILES[1].read_bytes(), TEXT]
    expected = load(model_folder, cache=tmp_path).embed(inputs)
    monkeypatch.setattr("mirenc.encoder.pipeline.module_of", None)
    np.testing.assert_array_equal(load(model_folder, cache=tmp_path).embed(inputs), expected)
    np.testing.assert_array_equal(load(model_folder, cache=tmp_path).embed(inputs, jobs=2, batch_size=1), expected)


def test_what_was_asked_for_is_part_of_what_is_kept(model_folder: Path, tmp_path: Path) -> None:
    two = TEXT + TEXT.replace("@f", "@g").replace("mul", "sub")
    warm = load(model_folder, cache=tmp_path)
    for _ in range(2):
        assert warm.embed_parts(two, level="function").functions == ["f", "g"]
        assert warm.embed_parts(two, level="function", function="g").functions == ["g"]
        assert warm.embed_parts(two, level="block").names == ["f:%0", "g:%0"]


# -- errors --------------------------------------------------------------------------------------------
@pytest.mark.parametrize("jobs", [1, 2])
def test_skipped_inputs_keep_their_place(encoder: Encoder, tmp_path: Path, jobs: int) -> None:
    bad = tmp_path / "bad.ll"
    bad.write_text("define i32 @f() {\n  ret i32 %none\n}\n", encoding="utf-8")
    inputs = [FILES[0], bad, TEXT, "define nonsense\n"]
    with pytest.warns(
        UnreadableIRWarning, match=r"2 of 4 inputs cannot be embedded: .*bad\.ll: line 2.*; input 3: "
    ) as caught:
        vectors = encoder.embed(inputs, on_error="skip", jobs=jobs, batch_size=1)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert np.isnan(vectors[[1, 3]]).all()
    assert_same_vectors(vectors[[0, 2]], encoder.embed([FILES[0], TEXT]))
    with pytest.warns(UnreadableIRWarning):
        rows = encoder.embed(inputs, on_error="skip", level="function", part="text", jobs=jobs, batch_size=1)
    assert [len(each) for each in rows] == [len(read_ir(FILES[0]).defined_functions), 0, 1, 0]
    assert rows[1].shape == (0, encoder.text_dimension)
    with pytest.raises(IRParseError, match=r"bad\.ll: line 2"):
        encoder.embed(inputs, jobs=jobs, batch_size=1)


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_input_without_a_function_body_is_no_error_among_others(encoder: Encoder, jobs: int) -> None:
    empty = "@table = constant [2 x i32] [i32 1, i32 2]\n"
    inputs = [TEXT, empty, FILES[0]]
    with pytest.warns(
        UnreadableIRWarning, match=r"1 of 3 inputs cannot .*: input 1: no function body .* out$"
    ) as caught:
        vectors = encoder.embed(inputs, jobs=jobs, batch_size=1)
    assert (len(caught), caught[0].filename) == (1, __file__)
    assert np.isnan(vectors[1]).all()
    assert_same_vectors(vectors[[0, 2]], encoder.embed([TEXT, FILES[0]]))
    with pytest.warns(UnreadableIRWarning):
        rows = encoder.embed(inputs, level="function", jobs=jobs, batch_size=1)
    assert [len(each) for each in rows] == [1, 0, len(read_ir(FILES[0]).defined_functions)]
    assert [outcome.is_empty for outcome in encoder.embed_stream(inputs, jobs=jobs, batch_size=1)] == [
        False,
        True,
        False,
    ]


def test_of_nothing_but_such_inputs_there_is_nothing_to_embed(encoder: Encoder) -> None:
    empty = "declare void @f()\n"
    for inputs in (empty, [empty], [empty, empty]):
        with pytest.raises(NoFunctionBodyError, match="no function body"):
            encoder.embed(inputs)
    with pytest.warns(UnreadableIRWarning, match="2 of 2 inputs"):
        assert np.isnan(encoder.embed([empty, empty], on_error="skip")).all()


class Deadly(str):
    """A path that ends the process which unpickles it."""

    def __reduce__(self) -> tuple[Any, ...]:
        return os._exit, (3,)


@pytest.fixture
def only_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every batch is left to the workers."""
    monkeypatch.setattr(workers, "_claim_first", lambda waiting: None)


def test_this_process_works_beside_its_workers(
    encoder: Encoder, children: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The only worker is at the first batch until this process has done the others that are waiting."""
    done = threading.Event()
    embed, ask = Pipeline.embed, workers._Worker.ask
    here: list[str] = []

    def counted(self: Pipeline, batch: list[Input], *rest: Any, **words: Any) -> Any:
        here.extend(one.name for one in batch)
        if len(here) == 3:
            done.set()
        return embed(self, batch, *rest, **words)

    def slow(self: Any, batch: list[Input]) -> Any:
        assert done.wait(60)
        return ask(self, batch)

    monkeypatch.setattr(Pipeline, "embed", counted)
    monkeypatch.setattr(workers._Worker, "ask", slow)
    outcomes = list(encoder.embed_stream(FILES[:4], jobs=2, batch_size=1))
    assert here == [str(file) for file in FILES[1:4]]
    assert [outcome.name for outcome in outcomes] == [str(file) for file in FILES[:4]]
    assert len(children) == 1


def test_a_large_input_is_left_to_a_worker(
    encoder: Encoder, children: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batches, "_BATCH_BYTES", 100)
    embed = Pipeline.embed
    here: list[str] = []

    def counted(self: Pipeline, batch: list[Input], *rest: Any, **words: Any) -> Any:
        here.extend(one.name for one in batch)
        return embed(self, batch, *rest, **words)

    monkeypatch.setattr(Pipeline, "embed", counted)
    assert all(outcome.error is None for outcome in encoder.embed_stream(FILES, jobs=2))
    assert here == []
    assert len(children) == 1


@pytest.mark.usefixtures("only_workers")
def test_a_worker_that_dies_costs_one_input(encoder: Encoder, children: list[Any]) -> None:
    inputs = [resolve_input(file) for file in FILES]
    inputs.insert(2, Input("deadly.ll", Deadly("deadly.ll")))
    outcomes = list(encoder.embed_stream(inputs, jobs=2, batch_size=2))
    assert [outcome.error is None for outcome in outcomes] == [True, True, False, True, True, True]
    assert isinstance(outcomes[2].error, IRResourceError)
    assert str(outcomes[2].error).startswith("deadly.ll: the process that read it ended")
    assert len(children) > 1
    expected = encoder.embed(FILES)
    embedded = np.concatenate([outcome.embedding.vector for outcome in outcomes if outcome.embedding is not None])
    assert_same_vectors(embedded, expected)


COPIES = """
import json, os, signal, sys
import numpy as np
import mirenc
folder, kill, *files = sys.argv[1:]
encoder = mirenc.load(folder, cache=False, options=mirenc.ReadOptions(form="plain"))
fork, copies = os.fork, []
def counted():
    if pid := fork():
        copies.append(pid)
        if kill == "kill":
            os.kill(pid, signal.SIGKILL)
    return pid
os.fork = counted
vectors = encoder.embed(files, batch_size=2, jobs=2)
ended = []
for pid in copies:
    try:
        os.waitpid(pid, os.WNOHANG)
    except ChildProcessError:
        ended.append(pid)
print(json.dumps([len(copies), len(ended), vectors.tolist()]))
"""


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="only Linux tells how many threads a process has")
@pytest.mark.parametrize("kill", ["", "kill"])
def test_a_process_of_one_thread_copies_itself(encoder: Encoder, model_folder: Path, kill: str) -> None:
    """Copies give the same vectors, are gone at the end, and one that is killed is replaced, with no input lost."""
    files = [*FILES, FILES[0]]
    command = [sys.executable, "-c", COPIES, str(model_folder), kill, *map(str, files)]
    one_thread = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    ran = subprocess.run(command, env=one_thread, capture_output=True, text=True, check=True)
    copies, ended, vectors = json.loads(ran.stdout)
    assert (copies, ended) == (1, 1)
    assert_same_vectors(np.array(vectors, dtype=np.float32), encoder.embed(files))
    assert ran.stderr == ""


def test_a_model_that_changed_since_it_was_loaded_ends_the_run(
    model_folder: Path, tmp_path: Path, children: list[Any]
) -> None:
    """A worker would make vectors of another model."""
    folder = Path(shutil.copytree(model_folder, tmp_path / "model"))
    encoder = load(folder, cache=False)
    config = (folder / "config.json").read_text(encoding="utf-8")
    (folder / "config.json").write_text(config.replace('"random"', '"other"'), encoding="utf-8")
    seal(folder)
    with pytest.raises(ModelError, match=r"the model was changed while it was used\. Load it again"):
        encoder.embed([TEXT] * 2, batch_size=1, jobs=2)
    assert children


def test_a_closed_stream_leaves_no_process(encoder: Encoder, children: list[Any]) -> None:
    outcomes = encoder.embed_stream([TEXT] * 500, batch_size=2, jobs=2)
    next(outcomes)
    assert children
    outcomes.close()
    assert all(child.poll() is not None for child in children)


def test_an_error_of_the_caller_s_own_leaves_no_process(encoder: Encoder, children: list[Any]) -> None:
    def inputs() -> Iterator[str]:
        yield from [TEXT] * 40
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        encoder.embed(inputs(), jobs=2, batch_size=4)
    assert all(child.poll() is not None for child in children)


@pytest.mark.parametrize(
    ("named", "phrase"),
    [
        ({"level": "basic_block"}, "unknown level 'basic_block'"),
        ({"on_error": "ignore"}, "unknown on_error 'ignore'; available: raise, skip"),
        ({"batch_size": 0}, "batch_size is 0"),
        ({"jobs": 0}, "jobs is 0; allowed: a whole number from 1 up, or None"),
        *(({"jobs": jobs}, f"jobs is {jobs}; allowed: a whole number from 1 up") for jobs in ("2", 2.5, True)),
    ],
)
def test_odd_arguments(encoder: Encoder, named: dict[str, Any], phrase: str) -> None:
    with pytest.raises(ConfigError, match=phrase):
        encoder.embed([TEXT], **named)


def test_an_input_that_is_none(encoder: Encoder) -> None:
    with pytest.raises(ConfigError, match="an input is of type int; allowed: a path, IR text"):
        encoder.embed([TEXT, 3])


# -- who calls -----------------------------------------------------------------------------------------
def test_a_script_without_a_main_guard(model_folder: Path, tmp_path: Path) -> None:
    """Starting a process never runs the user's script again, nor files beside it that are called like modules."""
    script = tmp_path / "script.py"
    script.write_text(
        "import mirenc\nprint('once')\n"
        f"encoder = mirenc.load({str(model_folder)!r}, cache=False)\n"
        f"print(encoder.embed([{str(FILES[0])!r}] * 40, jobs=2, batch_size=20).shape)\n",
        encoding="utf-8",
    )
    (tmp_path / "numpy.py").write_text("raise SystemExit('not this one')\n", encoding="utf-8")
    run = subprocess.run([sys.executable, "-P", script], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert run.stdout == "once\n(40, 48)\n"
    assert run.stderr == ""


def test_vectors_too_large_for_the_cache_are_not_copied_for_it(
    encoder: Encoder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packed: list[str] = []
    honest = Embedding.to_bytes

    def to_bytes(self: Embedding) -> bytes:
        packed.append(self.level)
        return honest(self)

    monkeypatch.setattr(Embedding, "to_bytes", to_bytes)
    cache = Cache("0" * 64, folder=tmp_path)
    cached = Encoder(encoder.files, encoder.runtime, cache=cache, options=encoder.options)
    rows = cached.embed(FILES[0], level="instruction")
    cache.largest = rows.nbytes - 1
    assert_same_vectors(cached.embed(FILES[1], level="module"), encoder.embed(FILES[1], level="module"))
    np.testing.assert_array_equal(cached.embed(FILES[0], level="instruction", function="."), rows)
    assert packed == ["instruction", "module"]


@pytest.mark.parametrize("kind", ["statements", "name"])
def test_an_exception_of_the_callers_progress_ends_the_run(encoder: Encoder, kind: str) -> None:
    class CancelledError(Exception):
        pass

    def progress(done: int, total: int | None, note: str) -> None:
        if ("statements" in note) == (kind == "statements"):
            raise CancelledError

    with pytest.raises(CancelledError):
        list(encoder.embed_stream([TEXT, TEXT.replace("3", "77")], progress=progress, jobs=1))


def test_workers_find_a_model_that_was_named_by_a_relative_path(
    model_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(model_folder.parent)
    encoder = load(model_folder.name, cache=False)
    monkeypatch.chdir(tmp_path)
    assert encoder.embed(FILES[:2], batch_size=1, jobs=2).shape == (2, encoder.dimension)
