"""IR of real compilers through the packaged model: every clang, level and language embeds, and versions agree."""

import os
import tarfile
from pathlib import Path

import numpy as np
import pytest
from outside_programs import needs_old_clang

import mirenc
from mirenc.encoder import Encoder

IR = Path(__file__).parent / "fixtures" / "ir"
COMPILERS = ("clang-14", "clang-16", "clang-19", "zig")
LEVELS = ("O0", "O2", "Oz")
COSINE = 0.95


@pytest.fixture(scope="module")
def encoder() -> Encoder:
    """The default model. It keeps a cache: most statements come from every compiler, and need not be encoded again."""
    return mirenc.load()


def files_of(compiler: str, level: str, *, old: bool = False) -> list[Path]:
    """Fixtures of a compiler: those that any machine reads, or those that need an older clang."""
    return [path for path in sorted((IR / compiler / level).glob("*.ll")) if needs_old_clang(path) == old]


def names_in_both(level: str) -> list[str]:
    """Files that clang-14 and clang-19 both wrote."""
    old, new = ({path.name for path in files_of(compiler, level)} for compiler in ("clang-14", "clang-19"))
    return sorted(old & new)


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("level", LEVELS)
def test_every_file_of_a_compiler_embeds(encoder: Encoder, compiler: str, level: str) -> None:
    files = files_of(compiler, level)
    assert files
    vectors = encoder.embed(files)
    assert vectors.shape == (len(files), encoder.dimension)
    assert np.isfinite(vectors).all()
    assert len(np.unique(vectors, axis=0)) == len(files)


@pytest.mark.parametrize("level", LEVELS)
def test_clang_14_and_19_give_close_vectors(encoder: Encoder, level: str) -> None:
    names = names_in_both(level)
    assert len(names) >= 8
    check_close(encoder, level, names)


@pytest.mark.needs("clang-10 to 16")
@pytest.mark.parametrize("level", LEVELS)
def test_what_an_older_clang_upgrades_is_close_too(encoder: Encoder, level: str) -> None:
    names = [path.name for path in files_of("clang-14", level, old=True)]
    assert names == ["functions.ll", "system.ll"]
    check_close(encoder, level, names)


def check_close(encoder: Encoder, level: str, names: list[str]) -> None:
    for name in names:
        files = [IR / "clang-14" / level / name, IR / "clang-19" / level / name]
        # Of each encoder by itself: the lexical view beside them, where a model has one, is no encoder's.
        for part in ("text", "graph"):
            old, new = encoder.embed(files, whiten=False, part=part)
            cosine = float(old @ new / np.linalg.norm(old) / np.linalg.norm(new))
            assert cosine >= COSINE, f"{level}/{name}, {part}: cosine {cosine:.4f}"


@pytest.mark.parametrize("level", LEVELS)
def test_the_same_source_through_another_clang_is_the_nearest(encoder: Encoder, level: str) -> None:
    """Means of any two files have a cosine near 0.95; the whitened vectors, which people get, must do better."""
    names = names_in_both(level)
    old, new = (encoder.embed([IR / clang / level / name for name in names]) for clang in COMPILERS[::2])
    old, new = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True) for vectors in (old, new))
    cosines = old @ new.T
    nearest = [names[column] for column in cosines.argmax(1)]
    wrong = [(name, neighbour) for name, neighbour in zip(names, nearest, strict=True) if name != neighbour]
    assert len(wrong) <= 1, wrong
    others = cosines[~np.eye(len(cosines), dtype=bool)]
    assert np.median(np.diag(cosines)) - np.median(others) > 0.6


@pytest.mark.parametrize(("archive", "count"), [("device_mapping", 669), ("thread_coarsening", 17)])
def test_every_published_kernel_embeds(encoder: Encoder, archive: str, count: int, tmp_path: Path) -> None:
    """Needs the published data (not ours to redistribute): MIRENC_DATA names their folder."""
    data = os.environ.get("MIRENC_DATA")
    if data is None:
        pytest.skip("MIRENC_DATA is not set; it names the folder of the published datasets")
    with tarfile.open(Path(data) / archive / "kernels_ir.tar.xz") as packed:
        packed.extractall(tmp_path, filter="data")
    files = sorted(tmp_path.rglob("*.ll"))
    assert len(files) == count
    vectors = encoder.embed(files)
    assert vectors.shape == (count, encoder.dimension)
    assert np.isfinite(vectors).all()
