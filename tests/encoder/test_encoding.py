"""Small modules are encoded as one: their vectors are those of each alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from same_vectors import assert_same_vectors

from mirenc.encoder import Encoder, encoding, load
from mirenc.encoder.encoding import forward_all, model_pools, statement_vectors
from mirenc.encoder.prepare import Prepared, prepare
from mirenc.llvm import read_ir
from mirenc.model.runtime import Pooled

FIXTURES = Path(__file__).parents[1] / "fixtures"
FILES = ("handwritten/functions.ll", "ir/clang-14/O2/reduce.ll", "handwritten/functions.ll", "ir/clang-14/O0/reduce.ll")


def prepared(encoder: Encoder, level: str) -> list[Prepared]:
    return [prepare(read_ir(FIXTURES / file), encoder.tokenizer, (level,), "sqrt") for file in FILES]


def both_ways(encoder: Encoder, modules: list[Prepared]) -> tuple[list[Pooled], list[Pooled]]:
    """Vectors of modules, each by itself and all together."""
    samples = [module.sample for module in modules]
    pools = [model_pools(module.pools, encoder.runtime.config) for module in modules]
    vectors = statement_vectors(encoder.runtime, None, samples, pools, remembered={})
    alone = [
        encoder.runtime.forward(sample, pools_of_sample, text_vectors=known)
        for sample, pools_of_sample, known in zip(samples, pools, vectors, strict=True)
    ]
    return alone, list(forward_all(encoder.runtime, samples, pools, vectors))


@pytest.mark.parametrize("level", ["module", "function", "loop"])
@pytest.mark.parametrize("model", ["mirenc-tiny", "mirenc-fast"])
@pytest.mark.parametrize("backend", ["numpy", "torch"])
def test_vectors_are_those_of_each_alone(model: str, backend: str, level: str) -> None:
    encoder = load(model, cache=False, backend=backend)
    modules = prepared(encoder, level)
    for one, other, module in zip(*both_ways(encoder, modules), modules, strict=True):
        for single, joined in zip(one, other, strict=True):
            assert single.shape == joined.shape
            assert len(joined) == module.pools.text.groups
            assert_same_vectors(joined, single)


def test_large_modules_are_encoded_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    encoder = load("mirenc-fast", cache=False)
    modules = prepared(encoder, "module")
    sizes = [len(module.sample.node_row) for module in modules]
    calls: list[int] = []
    forward = encoder.runtime.forward

    def counted(sample, pools, part="both", *, text_vectors=None):  # type: ignore[no-untyped-def]
        calls.append(len(sample.node_row))
        return forward(sample, pools, part, text_vectors=text_vectors)

    monkeypatch.setattr(encoder.runtime, "forward", counted)
    arguments = [module.sample for module in modules], [module.pools for module in modules]
    vectors = statement_vectors(encoder.runtime, None, *arguments, remembered={})
    for most, expected in ((None, [sum(sizes)]), (sizes[0] + sizes[1], None), (1, sizes)):
        calls.clear()
        if most is not None:
            monkeypatch.setattr(encoding, "SLICE", most)
        assert len(list(forward_all(encoder.runtime, *arguments, vectors))) == 4
        assert sum(calls) == sum(sizes)
        assert calls == expected if expected else calls[0] == most
    assert list(forward_all(encoder.runtime, [], [], [])) == []


def test_a_text_that_only_the_second_module_needs_has_its_vector() -> None:
    """At level function the first module has a definition as a text of its table that no vector is made of."""
    encoder = load("mirenc-fast", cache=False)
    first = "@x = global i32 7\ndefine i32 @f() {\n  %v = load i32, ptr @x\n  ret i32 %v\n}\n"
    texts = [prepare(encoder.read(first), encoder.tokenizer, (level,), "sqrt") for level in ("function", "module")]
    for one, other in zip(*both_ways(encoder, texts), strict=True):
        assert_same_vectors(other.text, one.text)
        assert_same_vectors(other.graph, one.graph)
