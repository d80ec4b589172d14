"""What many tests share: the fixtures' IR read once, a small tokenizer and a tiny model with random weights."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from compilers import path_with
from outside_programs import compiler_kinds, needs_old_clang, why_missing
from random_model import random_weights

from mirenc.base.errors import NoFunctionBodyError
from mirenc.encoder import Encoder, load
from mirenc.encoder.golden import write_golden
from mirenc.encoder.weights import save_files
from mirenc.llvm import IRModule, read_ir, statements_of
from mirenc.model.config import ConvolutionConfig, GraphEncoderConfig, MatchingConfig, ModelConfig, TextEncoderConfig
from mirenc.model.sample import IRSample, make_sample
from mirenc.model.tokenizer import IRTokenizer, TokenizerConfig, train_tokenizer

# Before torch is imported: its threads wait for each other, and on a machine that has other work they wait long.
os.environ.setdefault("OMP_NUM_THREADS", "1")

FIXTURES = Path(__file__).resolve().parent / "fixtures"
PATH = os.environ["PATH"]  # with all compilers that there are


class TorchIsMissing:
    """The last finder of modules: if it is asked for torch there is none, and the test that wants it is skipped."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> None:
        if name in {"torch", "torch_geometric"}:
            pytest.skip(f"{name} is not installed", allow_module_level=True)


sys.meta_path.append(TorchIsMissing)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--require-programs",
        action="store_true",
        help="a test whose outside program (clang, llvm2graph-10, ...) is missing fails instead of being skipped",
    )


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test that compiles runs under every kind of compiler: one after the other in its file."""
    if kinds := compiler_kinds({mark.args[0] for mark in metafunc.definition.iter_markers("needs")}):
        metafunc.parametrize("compiler", kinds, indirect=True, scope="module")


def pytest_runtest_setup(item: pytest.Function) -> None:
    """Skip what needs a program that is not here, or fail, as asked for."""
    needs = [mark.args[0] for mark in item.iter_markers("needs")]
    if compiler_kinds(needs):
        kind = item.callspec.params["compiler"]  # so the mark is the function's or the file's, not a parameter's
        needs = [kind, *(each for each in needs if each not in ("clang", "C compiler"))]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", PATH)  # the test before may have been of one kind
        for each in needs:
            if reason := why_missing(each):
                judge = pytest.fail if item.config.getoption("require_programs", default=False) else pytest.skip
                judge(f"needs {each}: {reason}")


@pytest.fixture(scope="session")
def links(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of the links that `path_with` makes."""
    return tmp_path_factory.mktemp("compilers")


@pytest.fixture(scope="module", autouse=True)
def compiler(request: pytest.FixtureRequest, links: Path) -> Iterator[str]:
    """The kind of compiler that there is while a test that compiles runs; "" and all of them for other tests.

    A fixture of more than one test that compiles asks for it, to be made anew for the next kind.
    """
    kind = getattr(request, "param", "")
    with pytest.MonkeyPatch.context() as patch:
        if kind:
            patch.setenv("PATH", path_with(kind, PATH, links))
        yield kind


@pytest.fixture(scope="session", autouse=True)
def cache_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Where the cache lies in tests: no test may read or write the user's own."""
    folder = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MIRENC_CACHE", str(folder))
        yield folder


@pytest.fixture(scope="session")
def fixture_modules() -> dict[str, IRModule]:
    """Every module of the fixtures that LLVM 22 reads without an older clang's help, by its path below them."""
    modules = {}
    paths = (path for folder in ("handwritten", "ir") for path in (FIXTURES / folder).rglob("*"))
    for path in sorted(path for path in paths if path.suffix in {".ll", ".bc"} and not needs_old_clang(path)):
        try:
            modules[path.relative_to(FIXTURES).as_posix()] = read_ir(path)
        except NoFunctionBodyError:
            continue
    assert len(modules) > 150
    return modules


@pytest.fixture(scope="session")
def fixture_statements(fixture_modules: dict[str, IRModule]) -> list[str]:
    """Distinct statements of the fixtures, in both normalisations."""
    levels = ("none", "locals")
    modules = fixture_modules.values()
    return sorted({text for module in modules for level in levels for text in statements_of(module, level).texts})


@pytest.fixture(scope="session")
def tokenizer(fixture_modules: dict[str, IRModule]) -> IRTokenizer:
    """A tokenizer of 512 pieces, trained on the fixtures' statements."""
    texts = {text for module in fixture_modules.values() for text in statements_of(module).texts}
    return train_tokenizer(sorted(texts), TokenizerConfig(vocab_size=512))


@pytest.fixture(scope="session")
def model_config(tokenizer: IRTokenizer) -> ModelConfig:
    """A model of a few thousand parameters; no two widths are equal, so that none can stand for another."""
    return ModelConfig(
        tokenizer=tokenizer.config,
        text=TextEncoderConfig(hidden=32, layers=2, heads=4, feed_forward=48),
        graph=GraphEncoderConfig(hidden=24, out=16),
        matching=MatchingConfig(hidden=12),
    )


@pytest.fixture(scope="session")
def convolution_config(model_config: ModelConfig) -> ModelConfig:
    """The same with convolutions over tokens; three layers, which see further than a short statement goes."""
    text = ConvolutionConfig(embedding=20, channels=28, layers=3, width=5, expansion=2, feed_forward=36, hidden=32)
    return model_config.model_copy(update={"text": text})


@pytest.fixture(scope="session")
def model_weights(model_config: ModelConfig) -> dict[str, np.ndarray]:
    """The tiny model's weights, as drawn; its folder holds them as float16."""
    return random_weights(model_config)


@pytest.fixture(scope="session")
def model_folder(
    tokenizer: IRTokenizer,
    model_config: ModelConfig,
    model_weights: dict[str, np.ndarray],
    tmp_path_factory: pytest.TempPathFactory,
) -> Path:
    """The tiny model as a folder, golden vectors and checksums included. Copy it before changing it."""
    folder = tmp_path_factory.mktemp("models") / "random"
    save_files(
        folder, name="random", config=model_config, tokenizer=tokenizer, weights=model_weights, card="# random\n"
    )
    write_golden(folder)
    return folder


@pytest.fixture(scope="session")
def encoder(model_folder: Path) -> Encoder:
    """The tiny model, ready to embed; it keeps no cache."""
    return load(model_folder, cache=False)


@pytest.fixture(scope="session")
def samples(fixture_modules: dict[str, IRModule], tokenizer: IRTokenizer) -> dict[str, IRSample]:
    """Samples of some modules, small and large, by their path below the fixtures."""
    chosen = [
        "handwritten/exceptions_itanium.ll",
        "handwritten/functions.ll",
        "handwritten/terminators.ll",
        "ir/clang-19/O0/parallel_loops.ll",
        "ir/clang-19/O2/numeric.ll",
        "ir/clang-19/Oz/classes.ll",
        "ir/clang-14/O2/reduce.ll",
    ]
    return {name: make_sample(fixture_modules[name], tokenizer) for name in chosen}
