"""``mirenc models adapt`` and ``--map``: a map of one's own, from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from command_line import Run
from same_vectors import assert_same_vectors
from small_programs import program

from mirenc.encoder import Encoder, load
from mirenc.encoder.weights import map_path


@pytest.fixture(scope="module")
def code(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Programs at two levels; that memory is volatile at -O0 keeps the levels apart in every form."""
    folder = tmp_path_factory.mktemp("code")
    for number in range(34):
        for level in ("O0", "O2"):
            text = program(number, optimised=level == "O2").replace("store", "store volatile")
            text = text.replace("load", "load volatile")
            (folder / f"{number:02}.{level}.ll").write_text(text, encoding="utf-8")
    return folder


@pytest.fixture(autouse=True)
def maps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MIRENC_MAPS", str(tmp_path / "maps"))


def test_a_map_is_fitted_listed_and_used(
    run: Run, model_dir: Path, encoder: Encoder, code: Path, tmp_path: Path
) -> None:
    words = ("models", "adapt", code, "--name", "mine", "--model", model_dir, "--pairs")
    assert run(*words).ok().out == f"map 'mine' of 68 modules in 68 files, 34 pairs: {map_path('random', 'mine')}\n"
    expected = load(model_dir, cache=False, whitening_map="mine")
    index = tmp_path / "x.npz"
    run("embed", "--model", model_dir, "--map", "mine", "-o", index, code).ok()
    with np.load(index) as stored:
        assert_same_vectors(stored["vectors"], expected.embed(code))
        head = json.loads(str(stored["meta"]))
    assert (head["map"], head["model_digest"]) == ("mine", expected.digest_in("O2"))
    query = code / "07.O0.ll"
    # The index says which map made it; a folder is embedded with the one that is named.
    for words in ((query, index), (query, code, "--map", "mine")):
        answer = json.loads(run("search", "--model", model_dir, *words, "--json").ok().out)
        assert answer["model_digest"] == expected.digest_in("O2")
        assert answer["found"][0]["matches"][0]["file"] == str(query)
    pair = (code / "07.O0.ll", code / "07.O2.ll")
    compared = [run("compare", "--model", model_dir, *more, *pair, "--json").ok() for more in ((), ("--map", "mine"))]
    cosines = [json.loads(each.out)["cosines"][0][1] for each in compared]
    one, other = expected.embed(pair)
    assert cosines[1] == pytest.approx(one @ other / np.linalg.norm(one) / np.linalg.norm(other), abs=1e-5)
    assert cosines[0] != pytest.approx(cosines[1], abs=1e-3)


def test_an_index_of_a_map_that_was_fitted_again_is_refused(
    run: Run, model_dir: Path, code: Path, tmp_path: Path
) -> None:
    adapt = ("models", "adapt", code, "--name", "mine", "--model", model_dir)
    run(*adapt).ok()
    run("embed", "--model", model_dir, "--map", "mine", "-o", tmp_path / "x.npz", code).ok()
    search = ("search", "--model", model_dir, code / "07.O0.ll", tmp_path / "x.npz")
    run(*search).ok()
    run(*search, "--map", "mine").refused("leave --map out")
    run(*search, "--hide-names").refused("leave --hide-names out")
    run(*adapt, "--pairs").ok()
    run(*search).failed(
        "under the map 'mine'", "cannot be compared", "mirenc embed FOLDER --model random --map mine -o"
    )


def test_a_map_of_functions_is_of_the_model_that_embeds_functions(run: Run, code: Path, tmp_path: Path) -> None:
    files = sorted(code.glob("*.ll"))
    run("models", "adapt", *files, "--name", "mine", "--level", "function").ok()
    assert map_path("mirenc-search", "mine").is_file()
    output = tmp_path / "x.npz"
    assert run("embed", files[0], "--level", "function", "--map", "mine", "-o", output).code == 0
    answer = json.loads(run("search", files[0], output, "--json").ok().out)
    assert (answer["model"], answer["found"][0]["matches"][0]["file"]) == ("mirenc-search", str(files[0]))


def test_maps_are_listed_beside_their_model(run: Run) -> None:
    path = map_path("mirenc-tiny", "mine")
    path.parent.mkdir(parents=True)
    path.write_bytes(b"")
    lines = run("models", "list").ok().out.splitlines()
    at = next(number for number, line in enumerate(lines) if line.startswith("mirenc-tiny"))
    assert lines[at + 1].split() == ["maps:", "mine"]


def test_what_cannot_be_fitted_says_why(run: Run, model_dir: Path, code: Path, tmp_path: Path) -> None:
    model_option = ("--model", model_dir)
    run("models", "adapt", code / "07.O0.ll", "-n", "mine", *model_option).failed(
        "1 different modules in 1 files; a map needs"
    )
    run("models", "adapt", code, "-n", "../mine", *model_option).failed("a map cannot be called '../mine'")
    run("models", "adapt", code, "-n", "m" * 101, *model_option).failed("a map cannot be called", "100 at most")
    run("embed", code / "07.O0.ll", "--map", "m" * 300, *model_option).failed("a map cannot be called", "100 at most")
    run("embed", code / "07.O0.ll", "--map", "mine", *model_option).failed("random has no map 'mine'; it has: none")
    (tmp_path / "alone").mkdir()
    for number in range(33):
        text = program(number, optimised=True)
        (tmp_path / "alone" / f"{number}.ll").write_text(text, encoding="utf-8")
    run("models", "adapt", tmp_path / "alone", "-n", "mine", "--pairs", *model_option).failed(
        "0 pairs of modules at two levels; a map needs at least 16"
    )
    (tmp_path / "alone" / "bad.ll").write_text("nonsense\n", encoding="utf-8")
    result = run("models", "adapt", tmp_path / "alone", "-n", "mine", *model_option)
    assert result.code == 1
    assert "bad.ll" in result.err
    assert result.out.startswith("map 'mine' of 33 modules in 33 files: ")
