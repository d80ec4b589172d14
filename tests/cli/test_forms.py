"""`--form`: what is written says it, what is searched is brought to it, and IR that passes cannot take is told."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from command_line import Run
from unoptimised_ir import GROWS, SUM

from mirenc.encoder import Encoder
from mirenc.search import read_vectors

O0 = Path(__file__).resolve().parents[1] / "fixtures" / "ir" / "clang-19" / "O0"
QUERY, OTHER = O0 / "numeric.ll", O0 / "exceptions.ll"


def cosine(one: np.ndarray, other: np.ndarray) -> float:
    return float(one @ other / np.linalg.norm(one) / np.linalg.norm(other))


def test_queries_are_brought_to_the_form_of_the_index(
    run: Run, model_dir: Path, encoder: Encoder, tmp_path: Path
) -> None:
    index = tmp_path / "x.npz"
    run("embed", "--no-cache", "--model", model_dir, "--form", "Oz", "-o", index, QUERY, OTHER).ok()
    table = read_vectors(index)
    assert (table.maker.form, table.maker.model_digest) == ("Oz", encoder.digest_in("Oz"))
    of_size, usual = (encoder.embed(QUERY, form=form) for form in ("Oz", None))
    assert cosine(usual, table.vectors[0]) < 1 - 1e-4
    search = ("search", "--model", model_dir, "--json", QUERY, index)
    report = json.loads(run(*search).ok().out)
    assert (report["form"], report["model_digest"]) == ("Oz", encoder.digest_in("Oz"))
    (one,) = report["found"]
    assert [match["file"] for match in one["matches"]] == [str(QUERY), str(OTHER)]
    expected = [cosine(of_size, row) for row in table.vectors]
    assert [match["cosine"] for match in one["matches"]] == pytest.approx(expected, abs=1e-5)
    assert json.loads(run(*search, "--form", "Oz").ok().out) == report
    run(*search, "--form", "O2").failed(
        f"{index} holds vectors of the form Oz, not O2", f"mirenc embed FOLDER --level module -o {index} --form O2"
    )


def test_an_index_of_plain_ir_is_searched_on_request(
    run: Run, model_dir: Path, encoder: Encoder, tmp_path: Path
) -> None:
    index = tmp_path / "x.npz"
    run("embed", "--no-cache", "--model", model_dir, "--form", "plain", "-o", index, QUERY, OTHER).ok()
    search = ("search", "--model", model_dir, "--json", QUERY, index)
    run(*search).failed(
        "vectors of unchanged IR (form plain)",
        f"Embed the files again: mirenc embed FOLDER --level module -o {index}.",
        "Or search these vectors: --form plain",
    )
    report = json.loads(run(*search, "--form", "plain").ok().out)
    assert (report["form"], report["model_digest"]) == ("plain", encoder.digest)
    (one,) = report["found"]
    plain = encoder.embed([QUERY, OTHER], form="plain")
    assert [match["file"] for match in one["matches"]] == [str(QUERY), str(OTHER)]
    expected = [cosine(plain[0], row) for row in plain]
    assert [match["cosine"] for match in one["matches"]] == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("level", ["module", "function"])
def test_ir_that_passes_cannot_take_is_embedded_as_it_is(
    spawn: Run, model_dir: Path, encoder: Encoder, tmp_path: Path, level: str
) -> None:
    files = [tmp_path / name for name in ("a.ll", "b.ll", "c.ll")]
    for file, text in zip(files, (SUM, GROWS, SUM.replace("@sum", "@total")), strict=True):
        file.write_text(text, encoding="utf-8")
    index = tmp_path / "x.npz"
    # In a process of its own: pytest takes what is logged.
    limited = ("--no-cache", "--max-bytes", "2000", "--model", model_dir, "--level", level)
    result = spawn("embed", *limited, "-o", index, *files)
    assert (result.code, result.out, len(result.error_lines)) == (0, "", 1)
    (line,) = result.error_lines
    assert line.startswith(
        f"mirenc: warning: {files[1]}: cannot be brought to the form O2, so it stays in the form plain: "
    )
    table = read_vectors(index)
    assert [source["file"] for source in table.sources] == [str(file) for file in files]
    assert [source["own_form"] for source in table.sources] == ["O2", "plain", "O2"]
    rows = {"module": ["", "", ""], "function": ["sum", "square", "grow", "total", "square"]}[level]
    assert table.labels["symbol"] == rows
    at = [row for row, source in enumerate(table.source_row) if source == 1]
    expected = np.atleast_2d(encoder.embed(GROWS, level=level, form="plain"))
    np.testing.assert_allclose(table.vectors[at], expected, atol=1e-5)
    assert np.abs(table.vectors[: len(at)] - expected).max() > 1e-3
