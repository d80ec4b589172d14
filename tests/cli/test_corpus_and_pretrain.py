"""corpus and pretrain against wrong input: one clear line, and nothing done by half or in silence."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from command_line import SOURCE, Run, archive
from llvmlite import binding

from mirenc.base.writing import only_one
from mirenc.pretrain.corpus import Corpus
from mirenc.pretrain.corpus.functions import Functions

pytest.importorskip("torch")


@pytest.fixture
def ir_projects(tmp_path: Path) -> Path:
    """Two projects of one module each."""
    top = tmp_path / "projects"
    for number, name in enumerate(("one/a.ll", "two/b.ll")):
        (top / name).parent.mkdir(parents=True)
        (top / name).write_text(SOURCE.replace("10", str(10 + number)) + f"define i32 @own() {{ ret i32 {number} }}\n")
    return top


@pytest.fixture
def build(ir_projects: Path, tmp_path: Path) -> tuple[object, ...]:
    """Words of a build that works."""
    return ("corpus", "build", ir_projects, "-o", tmp_path / "corpus", "--vocab-size", "300", "-j", "1")


def test_excluded_ir_may_be_a_file_and_must_be_there(
    run: Run, build: tuple[object, ...], ir_projects: Path, tmp_path: Path
) -> None:
    """A kernel that is not read would go into the corpus unseen."""
    # Functions of eight instructions and more count.
    long = (
        "define i32 @long(i32 %x) {\n"
        + "".join(f"  %v{n} = add i32 %x, {n}\n" for n in range(9))
        + "  ret i32 %v8\n}\n"
    )
    for path in (ir_projects / "one/a.ll", tmp_path / "kernel.ll"):
        path.write_text(long)
    run(*build, "--exclude-ir", tmp_path / "kernel.ll").ok()
    assert Corpus.load(tmp_path / "corpus").projects == ["two"]
    (tmp_path / "bare").mkdir()
    run(*build, "--exclude-ir", tmp_path / "none").failed("none: no such file")
    run(*build, "--exclude-ir", tmp_path / "bare").failed("bare: is a folder without IR files")


def test_objects_and_libraries_are_ir(run: Run, build: tuple[object, ...], ir_projects: Path, tmp_path: Path) -> None:
    def bitcode(number: int) -> bytes:
        text = SOURCE + f"define i32 @other() {{ ret i32 {number} }}\n"
        return bytes(binding.parse_assembly(text).as_bitcode())

    for path in ir_projects.rglob("*.ll"):
        path.unlink()
    (ir_projects / "two" / "b.o").write_bytes(bitcode(1))
    library = ir_projects / "one" / "lib.a"
    for numbers in ((2, 3), (2, 4, 5)):  # a library that changes is read again
        library.write_bytes(archive(*((f"{number}.o", bitcode(number)) for number in numbers)))
        run(*build).ok()
        names = Corpus.load(tmp_path / "corpus").names
        assert names == [*(f"one/lib.a({number}.o)" for number in numbers), "two/b.o"]


@pytest.mark.parametrize(
    ("option", "value"),
    [("--levels", "O2"), ("--compiler", "clang"), ("--cflags", "-O"), ("--cuda-path", "x")],
)
def test_an_option_without_effect_is_refused(
    run: Run, build: tuple[object, ...], tmp_path: Path, option: str, value: str
) -> None:
    run(*build, option, value).failed(f"{option} has no effect on it", f"Leave {option} out")
    assert not (tmp_path / "corpus").exists()


def test_flags_are_words_of_a_shell(run: Run, build: tuple[object, ...]) -> None:
    run(*build, "--cflags", '-DX="a').refused("No closing quotation")


def test_the_output_is_no_part_of_the_source(run: Run, ir_projects: Path) -> None:
    for output in (ir_projects, ir_projects / "one" / "corpus"):
        run("corpus", "build", ir_projects, "-o", output).failed("is in the input folder")


def test_two_builds_do_not_share_a_folder(run: Run, build: tuple[object, ...], tmp_path: Path) -> None:
    run(*build).ok()
    with only_one(tmp_path / "corpus"):
        run(*build).failed("another run is at work there")
    assert len(Corpus.load(tmp_path / "corpus")) == 2


@pytest.mark.needs("C compiler")
def test_only_what_was_made_here_is_read(run: Run, tmp_path: Path) -> None:
    """OUTPUT/ir may be somebody's own folder: what it holds stays there and does not come in."""
    (tmp_path / "code" / "p").mkdir(parents=True)
    (tmp_path / "code" / "p" / "a.c").write_text("int f(int x) { return x + 1; }\n")
    (tmp_path / "corpus" / "ir" / "mine").mkdir(parents=True)
    (tmp_path / "corpus" / "ir" / "mine" / "b.ll").write_text(SOURCE)
    result = run(
        *("corpus", "build", tmp_path / "code", "-o", tmp_path / "corpus"),
        *("--vocab-size", "300", "--levels", "O0, O2", "-j", "1"),
    )
    assert result.code == 0, result.err
    assert Corpus.load(tmp_path / "corpus").names == ["p/O0/a.c.ll", "p/O2/a.c.ll"]
    assert (tmp_path / "corpus" / "ir" / "mine" / "b.ll").read_text() == SOURCE


@pytest.mark.needs("C compiler")
def test_sources_that_do_not_compile_are_named(run: Run, tmp_path: Path) -> None:
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "good.c").write_text("int f(int x) { return x + 1; }\n")
    (tmp_path / "code" / "bad.c").write_text("#error told so\n")
    words = ("--vocab-size", "300", "--levels", "O0", "-j", "1")
    result = run("corpus", "build", tmp_path / "code", "-o", tmp_path / "corpus", *words)
    assert result.code == 1
    assert "warning: code/bad.c: not compiled: " in result.err
    assert "error: 1 of 2 files failed (listed above); the other was delivered" in result.err
    assert Corpus.load(tmp_path / "corpus").names == ["code/O0/good.c.ll"]


@pytest.mark.parametrize("name", ["a/b", "..", ".", "", "taken"])
def test_a_name_that_is_no_folder_s_is_refused_before_training(run: Run, tmp_path: Path, name: str) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "taken").write_text("")
    (tmp_path / "run.toml").write_text("")
    words = ("pretrain", tmp_path / "run.toml", "-c", tmp_path / "none", "-o", tmp_path / "run", "--name", name)
    run(*words).failed("cannot name a folder")


@pytest.mark.parametrize("line", ["seed = -1", "seed = 99999999999999999999", "threads = 100000"])
def test_numbers_that_no_run_takes(run: Run, tmp_path: Path, line: str) -> None:
    (tmp_path / "run.toml").write_text(line)
    result = run("pretrain", tmp_path / "run.toml", "-c", tmp_path / "none", "-o", tmp_path / "run")
    assert result.code == 1
    assert result.err.startswith(f"mirenc: error: {tmp_path}/run.toml: {line.split()[0]}: Input should be ")


def test_a_domain_that_is_not_there_is_refused_before_training(run: Run, tmp_path: Path) -> None:
    (tmp_path / "run.toml").write_text("seed = 1\n", encoding="utf-8")
    (tmp_path / "maps.toml").write_text('[[domains]]\nfolder = "nowhere"\n', encoding="utf-8")
    words = (tmp_path / "run.toml", "-c", tmp_path, "-o", tmp_path / "out")
    run("pretrain", *words, "--maps", tmp_path / "maps.toml").failed("maps.toml: domain nowhere: no such folder")


def test_your_code_is_learned_on_top_of_a_packaged_model(run: Run, build: tuple[object, ...], tmp_path: Path) -> None:
    recipe = tmp_path / "recipe.toml"
    stage = "steps = 1\nbatch = 2\nlearning_rate = 1e-3\n"
    recipe.write_text(
        f'start_from = "mirenc-tiny"\nheld_out_share = 0.4\n[mlm]\n{stage}[gae]\nsteps = 0\nbatch = 2\n'
        "learning_rate = 1e-3\n[igm]\nsteps = 0\nbatch = 2\nlearning_rate = 1e-3\n"
    )
    words = ("pretrain", recipe, "-c", tmp_path / "corpus", "-o", tmp_path / "run", "--name", "mine")
    run(*build).ok()
    run(*words).failed("not built with the tokenizer of mirenc-tiny", "--tokenizer mirenc-tiny")
    run(*build, "--tokenizer", "mirenc-tiny").ok()
    done = run(*words)
    assert done.code == 0
    assert re.fullmatch(r"mirenc: mlm 1/1 loss \d+\.\d+, [\d,]+ tokens/s, 0:00:00 left of mlm\n", done.err)
    assert "From the weights of mirenc-tiny" in (tmp_path / "run" / "mine" / "MODEL_CARD.md").read_text()
    run(*build, "--tokenizer", tmp_path / "none.json").failed("none.json")


def test_functions_in_two_forms_are_read_with_a_corpus_s_tokenizer(
    run: Run, build: tuple[object, ...], ir_projects: Path, tmp_path: Path
) -> None:
    run(*build).ok()
    tokenizer = tmp_path / "corpus" / "tokenizer.json"
    words = ("corpus", "functions", ir_projects, "-o", tmp_path / "functions", "--tokenizer", tokenizer)
    run(*words).failed("each program exists in one form only", "--in-form O2")
    assert "2 projects" in run(*words, "--in-form", "plain", "--in-form", "O2").ok().out
    functions = Functions.load(tmp_path / "functions", Corpus.load(tmp_path / "corpus").tokenizer)
    assert [form.form for form in functions.forms] == ["plain", "O2"] * 2
    assert functions.forms[0].functions == ["first"]  # the others have fewer than five instructions
    (tmp_path / "bare").mkdir()
    run("corpus", "functions", tmp_path / "bare", "-o", tmp_path / "x", "--tokenizer", tokenizer).failed("no IR here")
