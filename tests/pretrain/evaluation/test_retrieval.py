"""Function retrieval: ranks by hand, and which functions are in the pool."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from mirenc.encoder import Encoder
from mirenc.llvm import parse_ir, read_ir
from mirenc.pretrain.evaluation import NoFigureError
from mirenc.pretrain.evaluation.retrieval import (
    FunctionPair,
    FunctionView,
    bag_vectors,
    collect_pairs,
    evaluate_retrieval,
    find_level_pairs,
    function_views,
    rank_figures,
    ranks,
    retrieval_figures,
)


def test_ranks_by_hand() -> None:
    queries = np.array([[1.0, 0.0], [1.0, 1.0], [3.0, 3.1]])
    candidates = np.array([[5.0, 0.0], [0.1, 1.0], [3.0, 2.0]])
    # Cosines: 1, 0.10, 0.83; 0.71, 0.77, 0.98; 0.70, 0.79, 0.98.
    assert ranks(queries, candidates).tolist() == [1, 2, 1]
    assert ranks(sp.csr_matrix(queries), sp.csr_matrix(candidates)).tolist() == [1, 2, 1]


def test_equals_share_the_mean_of_their_ranks() -> None:
    assert ranks(np.ones((4, 3)), np.ones((4, 3))).tolist() == [2.5] * 4
    assert ranks(np.zeros((2, 3)), np.eye(2, 3)).tolist() == [1.5, 1.5]  # no direction at all


def test_many_rows_are_ranked_in_blocks() -> None:
    vectors = np.random.default_rng(0).normal(size=(2100, 8))
    assert (ranks(vectors, 2 * vectors) == 1).all()
    shifted = np.roll(vectors, 1, axis=0)
    assert ranks(vectors, shifted).mean() > 500


def test_figures_of_ranks() -> None:
    figures = rank_figures(np.array([1.0, 2.0, 4.0, 20.0]))
    assert (figures["recall_at_1"], figures["recall_at_10"]) == (0.25, 0.75)
    assert figures["mrr"] == pytest.approx((1 + 1 / 2 + 1 / 4 + 1 / 20) / 4)


def test_bags_share_their_columns() -> None:
    matrix = bag_vectors([{"add": 2, "ret": 1}, {}, {"ret": 3}])
    assert matrix.toarray().tolist() == [[2, 1], [0, 0], [0, 3]]


def test_pairs_of_levels(tmp_path: Path) -> None:
    names = ["p/O0/a.ll", "p/O2/a.ll", "p/Oz/a.ll", "p/O0/sub/b.bc", "p/O2/sub/b.bc", "q/O0/a.ll", "O0/a.ll", "O2/a.ll"]
    files = [tmp_path / name for name in names]
    assert find_level_pairs(tmp_path, files) == [(files[0], files[1]), (files[3], files[4])]


SOURCE = """
define i32 @long(i32 %x) {
  %a = add i32 %x, 1
  %b = mul i32 %a, 3
  %c = mul i32 %b, 5
  %d = sub i32 %c, 7
  ret i32 %d
}
define i32 @short(i32 %x) {
  %a = add i32 %x, 1
  %b = mul i32 %a, 3
  %c = sub i32 %b, 7
  ret i32 %c
}
declare i32 @declared(i32)
"""


def test_views_of_functions(encoder: Encoder) -> None:
    views = function_views(encoder, parse_ir(SOURCE))
    assert views.keys() == {"long"}
    view = views["long"]
    assert view.opcodes == {"add": 1, "mul": 2, "sub": 1, "ret": 1}
    assert view.statements.total() == 5
    embedded = encoder.embed_parts(SOURCE, level="function", form="plain")
    np.testing.assert_array_equal(view.text, embedded.text[0])
    np.testing.assert_array_equal(view.graph, embedded.graph[0])
    renamed = function_views(encoder, parse_ir(SOURCE.replace("%a", "%other")))["long"]
    assert renamed.sequence == view.sequence
    assert function_views(encoder, parse_ir(SOURCE.replace("5", "6")))["long"].sequence != view.sequence


def test_equal_candidates_are_kept_once(encoder: Encoder, tmp_path: Path) -> None:
    pairs = []
    for number, text in enumerate((SOURCE, SOURCE, SOURCE.replace("5", "6"))):
        level_files = (tmp_path / f"{number}.O0.ll", tmp_path / f"{number}.O2.ll")
        for path in level_files:
            path.write_text(text, encoding="utf-8")
        pairs.append(level_files)
    broken = tmp_path / "broken.ll"
    broken.write_text("nonsense\n", encoding="utf-8")
    collected = collect_pairs(encoder, [*pairs, (broken, broken)])
    assert len(collected) == 2
    assert {pair.name for pair in collected} == {"long"}
    assert len(collect_pairs(encoder, pairs, limit=1)) == 1


def view(position: int, opcode: str, statement: str, *, graph: int | None = None) -> FunctionView:
    rows = np.eye(12, dtype=np.float32)
    at = position if graph is None else graph
    joined = np.concatenate([rows[position], rows[at]])
    return FunctionView(rows[position], rows[at], joined, Counter([opcode]), Counter([statement]), bytes([position]))


def test_retrieval_figures_by_hand(tmp_path: Path) -> None:
    # Text finds all; graph finds none, each query's graph being the next candidate's; opcodes are all the same;
    # statements find all but two, which have their statement in common.
    statement = ["same", "same", *map(str, range(2, 12))]
    views = [(view(n, "add", words, graph=(n + 1) % 12), view(n, "add", words)) for n, words in enumerate(statement)]
    pairs = [FunctionPair((tmp_path / "0", tmp_path / "2"), str(n), *pair_views) for n, pair_views in enumerate(views)]
    figures = retrieval_figures(pairs)
    assert (figures["functions"], figures["files"]) == (12, 1)
    assert figures["text"] == {"recall_at_1": 1, "recall_at_10": 1, "mrr": 1}
    # One candidate is nearer, the ten others are as far as the own one: rank 1 + 1 + 10 / 2.
    assert figures["graph"] == {"recall_at_1": 0, "recall_at_10": 1, "mrr": pytest.approx(1 / 7)}
    # Own and next candidate are equally near to "both": text of the one, graph of the other.
    assert figures["both"] == {"recall_at_1": 0, "recall_at_10": 1, "mrr": pytest.approx(1 / 1.5)}
    assert figures["opcode_histogram"]["mrr"] == pytest.approx(1 / 6.5)
    assert figures["bag_of_statements"]["recall_at_1"] == pytest.approx(10 / 12)
    assert figures["bag_of_statements"]["mrr"] == pytest.approx((10 + 2 / 1.5) / 12)


def test_too_little_to_rank(encoder: Encoder, levels_folder: Path) -> None:
    with pytest.raises(NoFigureError, match="no pairs of files PROJECT/O0"):
        evaluate_retrieval(encoder, [])
    with pytest.raises(NoFigureError, match="0 different functions"):
        retrieval_figures([])


def test_retrieval_of_the_fixtures(encoder: Encoder, levels_folder: Path) -> None:
    pairs = find_level_pairs(levels_folder, sorted(levels_folder.rglob("*.ll")))
    assert len(pairs) == 5
    figures = evaluate_retrieval(encoder, pairs)
    names = [
        [{header.name for header in read_ir(path).headers if header.last - header.first >= 5} for path in level_pair]
        for level_pair in pairs
    ]
    assert 10 <= figures["functions"] <= sum(len(query & candidate) for query, candidate in names)
    for part in ("text", "graph", "both", "opcode_histogram", "bag_of_statements"):
        assert 0 < figures[part]["mrr"] <= 1
    # Its statements name the functions it calls: far better than chance.
    assert figures["bag_of_statements"]["recall_at_1"] > 0.3


def test_names_in_quotes_are_functions_too(encoder: Encoder) -> None:
    body = "\n".join(
        f"  %v{number} = add i32 %{'v' + str(number - 1) if number else 'x'}, {number}" for number in range(6)
    )
    text = "".join(f"define i32 @{name}(i32 %x) {{\n{body}\n  ret i32 %v5\n}}\n" for name in ('"odd name$_0"', "plain"))
    views = function_views(encoder, parse_ir(text))
    assert set(views) == {'"odd name$_0"', "plain"}
    assert np.array_equal(views["plain"].text, views['"odd name$_0"'].text)
