"""inspect, graph, tokenizer, corpus and models: what they write and show is what the library has."""

from __future__ import annotations

import importlib.metadata
import json
from importlib.metadata import EntryPoints
from pathlib import Path

import numpy as np
import pytest
from command_line import Run

import mirenc
from mirenc import cli
from mirenc.base.arrays import unpadded
from mirenc.encoder.weights import load_files
from mirenc.llvm import read_ir, statements_of
from mirenc.model.graph import build_graph
from mirenc.model.tokenizer import IRTokenizer
from mirenc.pretrain.corpus import Corpus

FIXTURES = Path(__file__).resolve().parents[1] / "fixtures"
VERBS = ("embed", "inspect", "graph", "corpus", "pretrain", "models")


# -- help ----------------------------------------------------------------------------------------------
def test_version(run: Run) -> None:
    assert run("--version").ok().out == f"mirenc {mirenc.__version__}\n"


def test_help_lists_every_verb_in_its_group_with_a_whole_sentence(run: Run) -> None:
    shown = run("--help").ok().out
    for title, verbs in cli.GROUPS.items():
        section = shown.partition(f"\n{title}:\n")[2].partition("\n\n")[0]
        assert [line.split()[0] for line in section.splitlines() if line[2:3] != " "] == list(verbs)
    assert "..." not in shown.partition("[ARGS]...")[2]
    for verb in VERBS:
        help_text = run(verb, "-h").ok().out
        assert help_text.startswith("Usage: mirenc " + verb)
        assert "--help" in help_text
    assert run("corpus", "build", "--help").ok().out.startswith("Usage: mirenc corpus build")


@pytest.mark.parametrize("verb", cli.VERBS)
def test_a_verb_built_alone_is_that_of_the_whole_command_line(
    run: Run, verb: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone = run(verb, "--help").ok().out
    full_app = cli.make_app()
    monkeypatch.setattr(cli, "make_app", lambda _: full_app)
    assert run(verb, "--help").ok().out == alone


def test_a_verb_that_is_none_names_those_that_are_near(run: Run) -> None:
    result = run("embde", "x.ll")
    assert result.code == 2
    assert "no such verb: embde; did you mean 'embed'?" in result.err
    assert "no such verb: find; did you mean 'search'" in run("find", "x.ll").err  # a word of its help


def test_a_verb_starts_without_the_others(spawn: Run) -> None:
    code = (
        "import sys; sys.argv[1:] = ['embed', '--help']; import atexit; from mirenc.cli import VERBS, main; "
        "atexit.register(lambda: print([v for v in VERBS if f'mirenc.cli.{v}' in sys.modules])); main()"
    )
    assert spawn(shell=f'"$1" -c "{code}"').out.splitlines()[-1] == "['embed']"


def test_without_a_verb_there_is_help(run: Run) -> None:
    result = run()
    assert result.code == 2
    assert "embed" in result.out + result.err


def test_help_starts_without_the_heavy_packages(spawn: Run) -> None:
    """The time of `mirenc --help` is that of its imports."""
    heavy = "numpy", "torch", "tokenizers", "llvmlite", "pyarrow", "scipy"
    code = (
        "import sys; from mirenc.cli import make_app; make_app()(['--help'], standalone_mode=False); "
        f"sys.exit(str(sorted(set(sys.modules) & set({heavy!r}))))"
    )
    result = spawn(shell=f'"$1" -c "{code}"')
    assert "embed" in result.out
    assert result.err.strip() == "[]"


# -- inspect -------------------------------------------------------------------------------------------
def test_inspect_as_json(run: Run, model_dir: Path, ir: Path) -> None:
    facts = json.loads(run("inspect", "--model", model_dir, "--json", "-n", "0", ir).ok().out)
    module = read_ir(ir)
    graph = build_graph(module)
    tokenizer = load_files(model_dir).tokenizer
    assert (facts["file"], facts["content_hash"]) == (str(ir), module.content_hash)
    assert (facts["model"], facts["normalisation"]) == ("random", "locals")
    assert [facts[name] for name in ("functions", "defined", "blocks", "instructions")] == [3, 2, 4, 6]
    assert facts["opcodes"] == {"ret": 3, "call": 1, "icmp": 1, "br": 1}
    assert sum(facts["nodes"].values()) == graph.node_count
    assert sum(facts["edges"].values()) == graph.edge_index.shape[1]
    statements = statements_of(module, "locals")
    assert facts["statements"] == len(statements)
    assert facts["distinct_statements"] == len(set(statements.texts))
    assert [entry["statement"] for entry in facts["listing"]] == [
        statements[number] for number in range(len(statements))
    ]
    for entry in facts["listing"]:
        assert entry["tokens"][0] == "[CLS]"
        assert entry["tokens"] == [tokenizer.vocab[token] for token in tokenizer.encode(entry["statement"])]
    mean = sum(len(entry["tokens"]) for entry in facts["listing"]) / len(statements)
    assert facts["mean_tokens"] == pytest.approx(mean, abs=0.005)
    assert facts["truncation_rate"] == 0


def test_inspect_counts_every_opcode(run: Run, model_dir: Path) -> None:
    many = FIXTURES / "ir" / "clang-19" / "O0" / "classes.ll"
    facts = json.loads(run("inspect", "--model", model_dir, "--json", many).ok().out)
    assert (sum(facts["opcodes"].values()), len(facts["opcodes"])) == (facts["instructions"], 21)


def test_inspect_as_text(run: Run, model_dir: Path, ir: Path) -> None:
    shown = run("inspect", "--model", model_dir, "-n", "2", ir).ok().out
    lines = shown.splitlines()
    assert lines[0] == f"file                 {ir}"
    assert "instructions         6" in lines
    assert "truncation rate      0.00 %" in lines
    total = len(statements_of(read_ir(ir), "locals"))
    assert lines[-1] == f"... {total - 2} more; -n 0 shows all"
    assert run("inspect", "--model", model_dir, "-n", "0", ir).ok().out.splitlines()[-1] != lines[-1]


def test_inspect_one_function(run: Run, model_dir: Path, ir: Path) -> None:
    facts = json.loads(run("inspect", "--model", model_dir, "--json", "-f", "second", ir).ok().out)
    assert [entry["statement"] for entry in facts["listing"]] == ["ret void"]
    run("inspect", "--model", model_dir, "-f", "third", ir).failed("matches 'third'; it has: first, second")
    run("inspect", "--model", model_dir, "-f", "a(", ir).failed("'a(' is not a regular expression")


def test_inspect_lists_loops(run: Run, model_dir: Path) -> None:
    file = FIXTURES / "loops" / "places.ll"
    facts = json.loads(run("inspect", "--model", model_dir, "--json", "--loops", file).ok().out)
    loops = facts["loop_list"]
    assert facts["loops"] == len(loops) == 4
    assert "listing" not in facts
    assert loops[1] == {
        "function": "nest",
        "symbol": "nest",
        "header": "%inner",
        "depth": 2,
        "instructions": 2,
        "file": "nest.c",
        "line": 7,
    }
    lines = run("inspect", "--model", model_dir, "--loops", "-f", "^nest$", file).ok().out.splitlines()
    assert "loops                4" in lines
    assert [line.split() for line in lines[-3:]] == [
        ["nest"],
        ["%outer", "6", "instructions", "nest.c:5"],
        ["%inner", "2", "instructions", "nest.c:7"],
    ]


INLINED = """define internal i32 @twice(i32 %a) {
  %b = mul i32 %a, 2
  ret i32 %b
}

define i32 @user(i32 %a) {
  %b = call i32 @twice(i32 %a)
  %c = call i32 @twice(i32 %b)
  ret i32 %c
}
"""


def test_inspect_in_a_form(run: Run, model_dir: Path, tmp_path: Path) -> None:
    file = tmp_path / "inlined.ll"
    file.write_text(INLINED)
    inspect = ("inspect", "--model", model_dir, "--form", "O2", file)
    facts = json.loads(run(*inspect, "--json").ok().out)
    assert (facts["form"], facts["deleted"]) == ("O2", ["twice"])
    assert facts["before"] == {"functions": 2, "defined": 2, "blocks": 2, "instructions": 5}
    assert (facts["defined"], facts["blocks"], facts["instructions"]) == (1, 1, 2)  # user: a shift and the return
    lines = run(*inspect).ok().out.splitlines()
    assert "before               functions 2, defined 2, blocks 2, instructions 5" in lines
    assert "deleted              twice" in lines
    # A deleted function can be looked at, too.
    alone = json.loads(run(*inspect, "--json", "-f", "^twice$").ok().out)
    assert [entry["statement"].split(" = ")[-1][:7] for entry in alone["listing"]] == ["shl i32", "ret i32"]
    plain = json.loads(run("inspect", "--model", model_dir, file, "--json").ok().out)
    assert plain["form"] == "plain"
    assert "before" not in plain
    run("inspect", "--form", "O7", file).refused("--form")


def test_inspect_reads_standard_input(run: Run, model_dir: Path, ir: Path) -> None:
    facts = json.loads(run("inspect", "--model", model_dir, "--json", "-", stdin=ir.read_bytes()).ok().out)
    assert (facts["file"], facts["content_hash"]) == ("<stdin>", read_ir(ir).content_hash)


# -- graph ---------------------------------------------------------------------------------------------
def test_graph_as_json(run: Run, ir: Path, tmp_path: Path) -> None:
    shown = run("graph", ir).ok().out
    shown_graph = json.loads(shown)
    graph = build_graph(read_ir(ir))
    assert [node["text"] for node in shown_graph["nodes"]] == [graph.texts[row] for row in graph.node_text_row]
    assert shown_graph["nodes"][0]["text"] == "[external]"
    assert {edge["flow"] for edge in shown_graph["edges"]} == {"control", "data", "call"}
    assert [[edge[end] for edge in shown_graph["edges"]] for end in ("source", "target")] == graph.edge_index.tolist()
    # br's true branch has position 0, its false branch 1.
    (branch,) = [node["id"] for node in shown_graph["nodes"] if node["text"] == "br"]
    after = [edge for edge in shown_graph["edges"] if edge["source"] == branch and edge["flow"] == "control"]
    assert sorted(edge["position"] for edge in after) == [0, 1]
    result = run("graph", ir, "-o", tmp_path / "g.json")
    assert (result.code, result.out) == (0, "")
    assert (tmp_path / "g.json").read_text(encoding="utf-8") == shown
    assert [path.name for path in tmp_path.glob("g.*")] == ["g.json"]


def test_graph_as_dot(run: Run, ir: Path, tmp_path: Path) -> None:
    assert run("graph", ir, "-o", tmp_path / "g.dot").code == 0
    lines = (tmp_path / "g.dot").read_text(encoding="utf-8").splitlines()
    graph = build_graph(read_ir(ir))
    assert (lines[0], lines[-1]) == ("digraph program {", "}")
    assert sum(" -> " in line for line in lines) == graph.edge_index.shape[1]
    assert sum("shape=" in line for line in lines) == graph.node_count
    assert sum("shape=diamond" in line for line in lines) == 2  # 10 and 0


def test_graph_as_arrays(run: Run, ir: Path, tmp_path: Path) -> None:
    assert run("graph", "--normalisation", "none", ir, "-o", tmp_path / "g.npz").code == 0
    graph = build_graph(read_ir(ir), normalisation="none")
    with np.load(tmp_path / "g.npz", allow_pickle=False) as stored:
        np.testing.assert_array_equal(stored["edge_index"], graph.edge_index)
        np.testing.assert_array_equal(stored["node_kind"], graph.node_kind)
        assert [stored["texts"][row] for row in stored["node_full_text_row"]] == [
            graph.texts[row] for row in graph.node_full_text_row
        ]


def test_a_long_constant_does_not_decide_what_all_texts_take(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mirenc.base.arrays._COLUMN", 1000)
    text = f'@s = constant [1000 x i8] c"{"x" * 1000}"\ndefine ptr @f() {{\n  ret ptr @s\n}}\n'
    (tmp_path / "x.ll").write_text(text, encoding="utf-8")
    assert run("graph", tmp_path / "x.ll", "-o", tmp_path / "g.npz").code == 0
    graph = build_graph(text)
    assert max(map(len, graph.texts)) > 1000
    with np.load(tmp_path / "g.npz", allow_pickle=False) as stored:
        assert max(map(len, stored["texts"].tolist())) == 256
        assert unpadded(stored, ["texts", "functions"]) == {"texts": graph.texts, "functions": graph.functions}


@pytest.mark.parametrize("verb", ["graph", "inspect", "embed"])
def test_call_edges_that_are_left_out_are_told(run: Run, model_dir: Path, tmp_path: Path, verb: str) -> None:
    """A function with 200 returns, called 300 times: 60,000 edges back, of which 8 a node are kept."""
    cases = " ".join(f"i32 {number}, label %r{number}" for number in range(1, 200))
    f = f"define void @f(i32 %x) {{\n  switch i32 %x, label %r0 [ {cases} ]\n"
    f += "".join(f"r{number}:\n  ret void\n" for number in range(200)) + "}\n"
    g = "define void @g() {\n" + "  call void @f(i32 1)\n" * 300 + "  ret void\n}\n"
    path = tmp_path / "x.ll"
    path.write_text(f + g, encoding="utf-8")
    left_out = build_graph(read_ir(path)).call_edges_left_out
    assert left_out > 0
    words = {
        "graph": [],
        "inspect": ["--model", model_dir, "--json"],
        "embed": ["--model", model_dir, "--form", "plain"],
    }
    result = run(verb, path, *words[verb])
    assert result.code == 0
    assert result.err == (
        f"mirenc: warning: {path}: {left_out:,} edges from exits of functions back to their calls are left out of its "
        "graph\n"
    )
    facts = json.loads(result.out)
    assert facts.get("counts", facts)["call_edges_left_out"] == left_out


def test_graph_writes_no_pickle(run: Run, ir: Path, tmp_path: Path) -> None:
    run("graph", "-o", tmp_path / "g.pt", ir).failed(".pt is a pickle, which runs code when it is read. Write .npz")
    assert not list(tmp_path.glob("g.*"))


def test_graph_into_what_a_link_leads_to(run: Run, ir: Path, tmp_path: Path) -> None:
    (tmp_path / "far").mkdir()
    (tmp_path / "g.json").symlink_to(tmp_path / "far" / "real.json")
    run("graph", "-o", tmp_path / "g.json", ir)
    assert (tmp_path / "g.json").is_symlink()
    assert "nodes" in json.loads((tmp_path / "far" / "real.json").read_text())


# -- corpus --------------------------------------------------------------------------------------------
@pytest.fixture
def projects(tmp_path: Path, ir: Path) -> Path:
    """Two projects; one holds the same module twice."""
    top = tmp_path / "projects"
    for name, source in (
        ("one/a.ll", ir),
        ("one/sub/copy.ll", ir),
        ("two/b.ll", FIXTURES / "handwritten" / "functions.ll"),
    ):
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_bytes(source.read_bytes())
    return top


def test_corpus_build(run: Run, projects: Path, tmp_path: Path) -> None:
    output = tmp_path / "new" / "corpus"
    shown = run("corpus", "build", projects, "-o", output, "--vocab-size", "300").ok().out
    corpus = Corpus.load(output)
    assert shown == (
        f"{output}: {corpus!r}\n"
        "3 files: 2 in the corpus (0 without graph); left out: 1 duplicates, "
        "0 that share a function with --exclude-ir, 0 unreadable\n"
    )
    assert (corpus.names, corpus.projects) == (["one/a.ll", "two/b.ll"], ["one", "two"])
    module = read_ir(projects / "one" / "a.ll")
    texts = statements_of(module, "locals")
    decoded = [
        corpus.tokenizer.decode(corpus.text_ids[corpus.text_start[row] : corpus.text_start[row + 1]])
        for row in corpus[0].statement_row
    ]
    expected = [corpus.tokenizer.decode(corpus.tokenizer.encode(texts[number])) for number in range(len(texts))]
    assert decoded == expected
    np.testing.assert_array_equal(corpus[0].edge_index, build_graph(module).edge_index)


def test_corpus_with_a_given_tokenizer(
    run: Run, model_dir: Path, projects: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tokenizer = model_dir / "tokenizer.json"
    run("corpus", "build", projects, "-o", tmp_path / "corpus", "--tokenizer", tokenizer).ok()
    assert Corpus.load(tmp_path / "corpus").tokenizer.vocab == IRTokenizer.from_file(tokenizer).vocab
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda **_: EntryPoints())
    words = ("corpus", "build", projects, "-o", tmp_path / "other", "--tokenizer", "mirenc-base")
    run(*words).failed("pip install ./models/mirenc-base")


def test_corpus_of_good_and_bad_files(run: Run, projects: Path, tmp_path: Path) -> None:
    (projects / "two" / "bad.ll").write_text("nonsense\n", encoding="utf-8")
    result = run("corpus", "build", projects, "-o", tmp_path / "corpus", "--vocab-size", "300")
    assert result.code == 1
    assert result.error_lines[0].startswith(f"mirenc: warning: {projects}/two/bad.ll: line 1, column 1: ")
    assert result.error_lines[1].startswith("mirenc: error: 1 of 4 files failed (listed above)")
    assert len(Corpus.load(tmp_path / "corpus")) == 2


def test_corpus_of_nothing(run: Run, tmp_path: Path) -> None:
    (tmp_path / "bare").mkdir()
    run("corpus", "build", tmp_path / "bare", "-o", tmp_path / "corpus").failed("no IR or source")
    (tmp_path / "bare" / "bad.ll").write_text("nonsense\n", encoding="utf-8")
    run("corpus", "build", tmp_path / "bare", "-o", tmp_path / "corpus").failed("bad.ll: line 1, column 1: ")


# -- models --------------------------------------------------------------------------------------------
def test_models_show_and_verify(run: Run, model_dir: Path) -> None:
    assert run("models", "show", model_dir).ok().out == "# random\n\n"
    lines = run("models", "verify", model_dir).ok().out.splitlines()
    assert lines[0] == "random: 5 files as released"
    assert lines[1].startswith("random: vectors of golden.json reproduced (largest difference: ")
    run("models", "show", "none").failed("unknown model 'none'")


def test_models_list_is_what_is_at_hand(run: Run) -> None:
    lines = run("models", "list").ok().out.splitlines()
    assert [line.split()[0] for line in lines] == mirenc.list_models()
    for line in lines:
        files = load_files(line.split()[0])
        lexical = f"+{files.config.lexical.width}" if files.config.lexical is not None else ""
        parts = f"{files.config.text.hidden}+{files.config.graph.width}{lexical}"
        assert f" {parts} dimensions  {files.parameter_count:,} parameters  {files.digest[:12]}" in line


# -- pretrain ------------------------------------------------------------------------------------------
def test_pretrain_names_what_it_misses(run: Run, tmp_path: Path) -> None:
    """That it trains is for tests/pretraining; here: its words when it cannot."""
    config = tmp_path / "p.toml"
    words = ("pretrain", config, "--corpus", tmp_path / "none", "-o", tmp_path / "run")
    run(*words).failed(f"{config}: no such file")
    config.write_text("sed = 1\n", encoding="utf-8")
    run(*words).failed(f"{config}: unknown key 'sed'; did you mean 'seed'?")
    config.write_text("seed = [\n", encoding="utf-8")
    result = run(*words)
    assert (result.code, result.err.count("\n")) == (1, 1)
    assert result.err.startswith(f"mirenc: error: {config}: not TOML: ")
    config.write_text("", encoding="utf-8")
    run(*words).failed(f"{tmp_path}/none is not a corpus", "mirenc corpus build")
