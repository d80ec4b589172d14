"""Vectors of loops and blocks: worked out from those of their instructions, and what must not move them."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from command_line import Run
from same_vectors import assert_same_vectors

from mirenc.base.errors import ConfigError
from mirenc.encoder import Encoder
from mirenc.llvm import parse_ir, regions_of
from mirenc.model.graph import Flow, NodeKind
from mirenc.model.pooling import Pools, make_pool
from mirenc.model.sample import make_sample
from mirenc.search import VECTOR_SUFFIXES, read_vectors

PLACES = Path(__file__).resolve().parents[1] / "fixtures" / "loops" / "places.ll"
# Two loops, one inside the other, and a function without any.
NEST = """
define i32 @nest(ptr %a, i32 %n) {
entry:
  br label %outer
outer:
  %i = phi i32 [ 0, %entry ], [ %i2, %latch ]
  br label %inner
inner:
  %j = phi i32 [ 0, %outer ], [ %j2, %inner ]
  %at = getelementptr i32, ptr %a, i32 %j
  store i32 %i, ptr %at
  %j2 = add i32 %j, 1
  %more = icmp slt i32 %j2, %n
  br i1 %more, label %inner, label %latch
latch:
  %i2 = add i32 %i, 3
  %again = icmp slt i32 %i2, %n
  br i1 %again, label %outer, label %exit
exit:
  ret i32 %i2
}
define void @_Z5plainv() {
  ret void
}
"""
ENTRY, OUTER, INNER, LATCH, EXIT = range(1), range(1, 3), range(3, 9), range(9, 12), range(12, 13)


def node_vectors(encoder: Encoder, text: str) -> np.ndarray:
    sample = make_sample(parse_ir(text), encoder.tokenizer)
    node, none = np.arange(len(sample.node_row)), np.zeros(0, np.int64)
    pools = Pools(make_pool(none, none, len(node), "count"), make_pool(node, node, len(node), "count"))
    return encoder.runtime.forward(sample, pools, "graph").graph


def test_loops_and_blocks_by_name(encoder: Encoder) -> None:
    loops = encoder.embed_parts(NEST, level="loop")
    assert loops.names == ["nest:%outer", "nest:%inner"]
    assert [(region.header, region.depth) for region in loops.regions] == [("%outer", 1), ("%inner", 2)]
    blocks = encoder.embed_parts(NEST, level="block")
    headers = ["%entry", "%outer", "%inner", "%latch", "%exit", "%0"]
    assert [region.header for region in blocks.regions] == headers
    assert blocks.functions == ["nest"] * 5 + ["plain"]
    assert blocks.vector.shape == (6, encoder.dimension)


def test_text_of_a_region_is_the_mean_of_its_statements(encoder: Encoder) -> None:
    each = encoder.embed(NEST, level="instruction", part="text")
    loops = encoder.embed(NEST, level="loop", part="text")
    outer = [*OUTER, *INNER, *LATCH]  # a loop holds the loops inside it
    np.testing.assert_allclose(loops, [each[outer].mean(0), each[list(INNER)].mean(0)], rtol=1e-5, atol=1e-6)
    blocks = encoder.embed(NEST, level="block", part="text")
    expected = [each[list(rows)].mean(0) for rows in (ENTRY, OUTER, INNER, LATCH, EXIT, range(13, 14))]
    np.testing.assert_allclose(blocks, expected, rtol=1e-5, atol=1e-6)


def test_graph_of_a_region_is_the_mean_of_its_nodes_and_of_what_they_read(encoder: Encoder) -> None:
    sample = make_sample(parse_ir(NEST), encoder.tokenizer)
    nodes = node_vectors(encoder, NEST)
    for level, regions in (("loop", ([*OUTER, *INNER, *LATCH], INNER)), ("block", (ENTRY, OUTER, INNER, LATCH, EXIT))):
        vectors = encoder.embed(NEST, level=level, part="graph")
        for row, rows in zip(vectors, regions, strict=False):
            members = set(sample.instruction_node[list(rows)].tolist())
            for source, target, flow in zip(*sample.edge_index.tolist(), sample.edge_flow.tolist(), strict=True):
                reads = flow == Flow.DATA and sample.node_kind[source] == NodeKind.VARIABLE
                if reads and target in sample.instruction_node[list(rows)]:
                    members.add(source)
            np.testing.assert_allclose(row, nodes[sorted(members)].mean(0), rtol=1e-5, atol=1e-5)


def test_a_function_that_is_one_block_has_its_vector(encoder: Encoder) -> None:
    """Function and block are the same instructions there."""
    function = encoder.embed(NEST, level="function", form="plain", function="plain")
    block = encoder.embed(NEST, level="block", function="plain")
    assert function.shape == block.shape == (1, encoder.dimension)
    assert_same_vectors(block, function)


def test_function_takes_some_rows_of_all(encoder: Encoder) -> None:
    for level in ("function", "block", "instruction"):
        every, selected = (
            encoder.embed_parts(NEST, level=level),
            encoder.embed_parts(NEST, level=level, function="^nest$"),
        )
        rows = [row for row, function in enumerate(every.functions) if function == "nest"]
        assert_same_vectors(selected.vector, every.vector[rows])
        assert selected.regions == [every.regions[row] for row in rows]
    # Mangled and demangled names will do.
    for pattern in ("_Z5plain", r"^plain\b"):
        assert encoder.embed(NEST, level="function", function=pattern).shape[0] == 1
    with pytest.raises(ConfigError, match=r"no function with a body in .* matches 'none'"):
        encoder.embed(NEST, function="none")
    with pytest.raises(ConfigError, match="is not a regular expression"):
        encoder.embed(NEST, function="(")


def test_a_module_of_some_functions_is_the_mean_of_their_instructions(encoder: Encoder) -> None:
    vector = encoder.embed(NEST, form="plain", function="nest", part="text")
    each = encoder.embed(NEST, level="instruction", function="nest", part="text")
    np.testing.assert_allclose(vector, each.mean(0), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("level", ["module", "function", "loop", "block", "instruction"])
def test_debug_information_moves_no_vector(encoder: Encoder, level: str) -> None:
    text = PLACES.read_text(encoding="utf-8")
    attached = r",? !(?:dbg|llvm\.loop) !\d+(?=, !| \{|$)"  # what looks like one in a string stays
    bare = re.sub(attached, "", text, flags=re.MULTILINE)
    assert bare != text
    with_places, without = (encoder.embed_parts(each, level=level) for each in (text, bare))
    np.testing.assert_array_equal(with_places.vector, without.vector)
    assert with_places.names == without.names
    if level != "module":
        assert any(region.line for region in with_places.regions)
        assert not any(region.line or region.file for region in without.regions)


@pytest.mark.parametrize("suffix", VECTOR_SUFFIXES)
def test_outputs_say_where_a_loop_is(run: Run, model_dir: Path, tmp_path: Path, suffix: str) -> None:
    output = tmp_path / f"x{suffix}"
    run("embed", "--no-cache", "--model", model_dir, "-l", "loop", "-f", "nest", "-o", output, PLACES).ok()
    expected = [
        (region.name, region.function, region.symbol, region.header, region.depth, region.file, region.line)
        for region in regions_of(parse_ir(PLACES.read_text(encoding="utf-8")), "loop", function="nest").regions
    ]
    assert len(expected) > 1
    keys = ("name", "function", "symbol", "header", "depth", "source_file", "source_line")
    labels = read_vectors(output).labels
    assert list(zip(*(labels[key] for key in keys), strict=True)) == expected
