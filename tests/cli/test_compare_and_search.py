"""``mirenc compare`` and ``mirenc search``: the cosines that Python gives, with names; foreign vectors are refused."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from command_line import SOURCE, Run

from mirenc.encoder import Encoder
from mirenc.search import compare, index as make_index, nearest
from mirenc.search.rerank import rerank
from mirenc.search.vectors import VECTOR_SUFFIXES

FIXTURES = Path(__file__).parents[1] / "fixtures" / "ir" / "clang-19"
O0, O2 = FIXTURES / "O0", FIXTURES / "O2"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three modules at O2."""
    target = tmp_path / "project"
    target.mkdir()
    for name in ("numeric", "sorting", "structs"):
        shutil.copy(O2 / f"{name}.ll", target)
    return target


@pytest.fixture
def straight(tmp_path: Path) -> Path:
    """A module without a loop."""
    path = tmp_path / "straight.ll"
    path.write_text(SOURCE, encoding="utf-8")
    return path


# -- compare ---------------------------------------------------------------------------------------------
def test_two_files_give_one_number(run: Run, model_dir: Path, encoder: Encoder) -> None:
    files = [O2 / "sorting.ll", O2 / "numeric.ll"]
    expected = compare(np.stack([encoder.embed(file) for file in files]))[0, 1]
    assert run("compare", "--model", model_dir, *files).ok().out == f"{expected:.4f}\n"


def test_several_files_give_a_matrix(run: Run, model_dir: Path, encoder: Encoder, folder: Path) -> None:
    files = [str(path) for path in sorted(folder.iterdir())]
    expected = compare(encoder.embed(files))  # together, as the command does
    lines = run("compare", "--model", model_dir, folder).ok().out.splitlines()
    assert lines[0].split() == ["1", "2", "3"]
    assert [line.split()[0] for line in lines[1:]] == ["1", "2", "3"]
    assert [line.split()[-1] for line in lines[1:]] == files
    assert [line.split()[1:-1] for line in lines[1:]] == [[f"{value:.4f}" for value in row] for row in expected]
    report = json.loads(run("compare", "--model", model_dir, "--json", folder).ok().out)
    assert (report["model"], report["model_digest"]) == ("random", encoder.digest_in("O2"))
    assert (report["level"], report["files"]) == ("module", files)
    np.testing.assert_allclose(report["cosines"], expected, atol=1e-7)


def test_functions_of_two_files_are_paired(run: Run, model_dir: Path, encoder: Encoder) -> None:
    files = [str(O0 / "sorting.ll"), str(O2 / "sorting.ll")]
    first, second = (encoder.embed_parts(file, level="function") for file in files)
    cosines = compare(first.vector, second.vector)
    report = json.loads(run("compare", "--model", model_dir, "--json", "-l", "function", *files).ok().out)
    assert report["files"] == files
    assert [match["name"] for match in report["matches"]] == first.names
    for row, match in enumerate(report["matches"]):
        best = int(cosines[row].argmax())
        assert match["nearest"] == second.names[best]
        assert match["cosine"] == pytest.approx(cosines[row, best], abs=1e-6)
        assert match["mutual"] == (cosines[:, best].argmax() == row)
    lines = run("compare", "--model", model_dir, "-l", "function", *files).ok().out.splitlines()
    assert " ".join(lines[0].split()) == " ".join(["cosine", *files])  # a folder's name may have a space
    for line, match in zip(lines[1:], report["matches"], strict=True):
        arrow = "<->" if match["mutual"] else "->"
        assert line.split() == [f"{match['cosine']:.4f}", match["name"], arrow, match["nearest"]]


def test_compare_refuses_what_it_cannot_pair(run: Run, model_dir: Path, folder: Path) -> None:
    run("compare", "--model", model_dir, O2 / "sorting.ll").refused("1 file to compare; give at least two")
    run("compare", "--model", model_dir, "-l", "function", folder).refused("3 files; at level function two")
    run("compare", "--model", model_dir, "-l", "page", folder).refused("'page' is not one of 'module', 'function'")
    broken = folder / "broken.ll"
    broken.write_text("no IR", encoding="utf-8")
    run("compare", "--model", model_dir, broken, O2 / "sorting.ll").failed("broken.ll")


def test_of_several_files_the_readable_are_compared(run: Run, model_dir: Path, folder: Path) -> None:
    (folder / "broken.ll").write_text("no IR", encoding="utf-8")
    result = run("compare", "--model", model_dir, "--json", folder)
    assert result.code == 1
    assert np.shape(json.loads(result.out)["cosines"]) == (3, 3)
    assert "broken.ll" in result.error_lines[0]
    assert "1 of 4 files failed" in result.error_lines[1]


def test_a_file_is_compared_with_itself(run: Run, model_dir: Path) -> None:
    file = str(O2 / "sorting.ll")
    assert run("compare", "--model", model_dir, file, file).ok().out == "1.0000\n"
    report = json.loads(run("compare", "--model", model_dir, "--json", file, file, file).ok().out)
    assert report["files"] == [file] * 3
    np.testing.assert_allclose(report["cosines"], np.ones((3, 3)), atol=1e-6)
    report = json.loads(run("compare", "--model", model_dir, "--json", "-l", "function", file, file).ok().out)
    assert report["files"] == [file] * 2
    assert all(match["cosine"] == pytest.approx(1, abs=1e-6) for match in report["matches"])


def test_files_without_a_row_do_not_compare(run: Run, model_dir: Path, straight: Path) -> None:
    loops = O2 / "sorting.ll"
    for files in ((straight, loops), (loops, straight)):
        for words in ((), ("--json",)):
            result = run("compare", "--model", model_dir, "-l", "loop", *files, *words)
            result.failed(f"{straight} has no loop. Compare at another level")
            assert result.out == ""


def test_of_several_unreadable_files_nothing_is_compared(run: Run, model_dir: Path, tmp_path: Path) -> None:
    result = run("compare", "--model", model_dir, *(tmp_path / f"{name}.ll" for name in "abc"))
    assert (result.code, result.out) == (1, "")
    assert "3 of 3 files failed" in result.error_lines[-1]


# -- search ----------------------------------------------------------------------------------------------
@pytest.mark.parametrize("suffix", [*VECTOR_SUFFIXES, ""])
def test_the_same_is_found_in_vectors_and_in_a_folder(
    run: Run, model_dir: Path, encoder: Encoder, folder: Path, tmp_path: Path, suffix: str
) -> None:
    index = tmp_path / f"vectors{suffix}" if suffix else folder
    if suffix:
        run("embed", "--model", model_dir, "-l", "function", "-o", index, folder).ok()
    files = sorted(folder.iterdir())
    parts = [encoder.embed_parts(file, level="function") for file in files]
    labels = [(str(file), name) for file, part in zip(files, parts, strict=True) for name in part.names]
    query = encoder.embed_parts(O0 / "sorting.ll", level="function")
    table = make_index(encoder, folder, level="function")
    ((rows, cosines),) = rerank([(query.vector, query.vector)], table, 2)

    level = [] if suffix else ["-l", "function"]
    result = run("search", "--model", model_dir, O0 / "sorting.ll", index, "-k", 2, "--json", *level).ok()
    report = json.loads(result.out)
    assert (report["model_digest"], report["level"], report["part"]) == (encoder.digest_in("O2"), "function", "both")
    assert (report["query"], report["index"], report["rows"]) == (str(O0 / "sorting.ll"), str(index), len(labels))
    assert [entry["name"] for entry in report["found"]] == query.names
    for entry, best, values in zip(report["found"], rows, cosines, strict=True):
        assert [(match["file"], match["name"]) for match in entry["matches"]] == [labels[row] for row in best]
        np.testing.assert_allclose([match["cosine"] for match in entry["matches"]], values, atol=1e-6)

    lines = run("search", "--model", model_dir, O0 / "sorting.ll", index, "-k", 2, *level).ok().out.splitlines()
    assert lines[0] == f"{O0 / 'sorting.ll'}  {query.names[0]}"
    assert lines[1].split() == ["1", f"{cosines[0, 0]:.4f}", *labels[rows[0, 0]]]
    assert len(lines) == 3 * len(query.names)
    # One function has the company that it has among all; and the cosines alone.
    search = (*("search", "--model", model_dir, O0 / "sorting.ll", index, "-k", 2, "--json"), *level)
    assert json.loads(run(*search, "-f", "^swap$").ok().out)["found"] == [
        entry for entry in report["found"] if entry["name"] == "swap"
    ]
    plain = nearest(query.vector, table.vectors, 2)[0]
    entries = json.loads(run(*search, "--no-rerank").ok().out)["found"]
    assert [[match["name"] for match in one["matches"]] for one in entries] == [
        [labels[row][1] for row in best] for best in plain
    ]


def test_only_functions_are_ranked_again(run: Run, model_dir: Path, folder: Path) -> None:
    search = ("search", "--model", model_dir, folder / "sorting.ll", folder, "--rerank")
    run(*search).refused("only functions are re-ranked")


def test_a_module_finds_itself_first(run: Run, model_dir: Path, folder: Path) -> None:
    query = folder / "sorting.ll"
    lines = run("search", "--model", model_dir, query, folder).ok().out.splitlines()
    assert lines[0] == str(query)
    assert lines[1] == f"   1  1.0000  {query}"
    assert len(lines) == 4


def test_halves_are_searched_with_their_like(
    run: Run, model_dir: Path, encoder: Encoder, folder: Path, tmp_path: Path
) -> None:
    run("embed", "--model", model_dir, "--part", "text", "-o", tmp_path / "x.npz", folder).ok()
    report = json.loads(run("search", "--model", model_dir, O0 / "sorting.ll", tmp_path / "x.npz", "--json").ok().out)
    expected = compare(
        encoder.embed([O0 / "sorting.ll"], part="text"), encoder.embed(sorted(folder.iterdir()), part="text")
    )
    assert report["part"] == "text"
    np.testing.assert_allclose(
        [match["cosine"] for match in report["found"][0]["matches"]], -np.sort(-expected[0]), atol=1e-6
    )


@pytest.mark.needs("mirenc-base")
def test_plain_means_are_searched_with_plain_means(run: Run, folder: Path, tmp_path: Path) -> None:
    index = tmp_path / "x.jsonl"
    run("embed", "--model", "mirenc-base", "--no-whiten", "-o", index, folder).ok()  # it would whiten
    matches = json.loads(run("search", folder / "sorting.ll", index, "--json").ok().out)["found"][0]["matches"]
    assert matches[0]["file"] == str(folder / "sorting.ll")
    assert matches[0]["cosine"] == pytest.approx(1, abs=1e-6)
    assert min(match["cosine"] for match in matches) > 0.8  # plain means are all alike


def test_features_are_searched_with_features(run: Run, model_dir: Path, folder: Path, tmp_path: Path) -> None:
    index = tmp_path / "x.npz"
    run("embed", "--model", model_dir, "--purpose", "features", "--hide-names", "-o", index, folder).ok()
    words = ("search", "--model", model_dir, folder / "sorting.ll", index, "--json")
    matches = json.loads(run(*words).ok().out)["found"][0]["matches"]
    assert matches[0]["file"] == str(folder / "sorting.ll")
    assert matches[0]["cosine"] == pytest.approx(1, abs=1e-6)


def test_some_functions_of_the_query(run: Run, model_dir: Path, folder: Path) -> None:
    words = ("search", "--model", model_dir, O0 / "sorting.ll", folder, "-l", "function", "-k", 1, "--json")
    entries = json.loads(run(*words, "--function", "^s.*h$|swap").ok().out)["found"]
    assert [entry["name"] for entry in entries] == ["search", "swap"]  # the form O2 inlines swap: its row comes last
    run(*words, "--function", "nobody").failed("nobody")


def test_vectors_of_another_model_are_refused(run: Run, model_dir: Path, folder: Path, tmp_path: Path) -> None:
    index = tmp_path / "x.parquet"
    run("embed", "--model", model_dir, "-o", index, folder).ok()
    for words in ((), ("--model", "mirenc-tiny")):
        failed = run("search", O0 / "sorting.ll", index, *words)
        failed.failed("holds vectors of random", "cannot be compared", "--model")


def test_the_file_names_its_model(run: Run, folder: Path, tmp_path: Path) -> None:
    index = tmp_path / "x.npz"
    run("embed", "--model", "mirenc-tiny", "-o", index, folder).ok()  # not the default
    assert json.loads(run("search", O2 / "sorting.ll", index, "--json").ok().out)["model"] == "mirenc-tiny"


def test_search_refuses_what_it_cannot_read(run: Run, model_dir: Path, folder: Path, tmp_path: Path) -> None:
    index = tmp_path / "x.npz"
    run("embed", "--model", model_dir, "-o", index, folder).ok()
    query = O0 / "sorting.ll"
    run("search", "--model", model_dir, query, index, "-l", "function").refused("holds vectors of level module")
    run("search", "--model", model_dir, query, folder, "-l", "page").refused("'page' is not one of")
    run("search", "--model", model_dir, query, folder, "-k", 0).refused("-k")
    run("search", "--model", model_dir, query, tmp_path / "no.npz").failed("no.npz: does not exist")
    run("search", "--model", model_dir, tmp_path / "no.ll", index).failed("no.ll")


def test_swapped_arguments_are_told(run: Run, model_dir: Path, folder: Path, tmp_path: Path) -> None:
    index = tmp_path / "x.npz"
    run("embed", "--model", model_dir, "-o", index, folder).ok()
    for words in ((index, O0 / "sorting.ll"), (O0 / "sorting.ll", index, folder)):
        run("search", "--model", model_dir, *words).failed(
            f"{index} is a file of vectors, so it can be the INDEX, but not the QUERY. Type: mirenc search FILE {index}"
        )


def test_a_bad_file_of_the_folder_is_listed(run: Run, model_dir: Path, folder: Path) -> None:
    (folder / "broken.ll").write_text("no IR", encoding="utf-8")
    result = run("search", "--model", model_dir, O0 / "sorting.ll", folder, "--json")
    assert result.code == 1
    assert len(json.loads(result.out)["found"][0]["matches"]) == 3
    assert "broken.ll" in result.error_lines[0]


def test_an_index_without_rows_is_refused(run: Run, model_dir: Path, straight: Path, tmp_path: Path) -> None:
    search = ("search", "--model", model_dir, O2 / "sorting.ll")
    run(*search, straight.parent, "-l", "loop").failed(f"{straight.parent} has no loop. Embed")
    for suffix in VECTOR_SUFFIXES:
        index = tmp_path / f"x{suffix}"
        run("embed", "--model", model_dir, "-l", "loop", "-o", index, straight).ok()
        result = run(*search, index)
        result.failed(str(index), "Embed the files at another level")
        assert result.out == ""


def test_a_query_without_rows_is_refused(run: Run, model_dir: Path, straight: Path, folder: Path) -> None:
    words = ("search", "--model", model_dir, straight, folder, "-l", "loop")
    run(*words).failed(f"{straight} has no loop to search for. Search at another level")
    run(*words, "-f", "^second$").failed(f"{straight} has no loop in a function like '^second$' to search for")


def test_an_index_of_unreadable_files_says_so(run: Run, model_dir: Path, tmp_path: Path) -> None:
    for name in ("a.ll", "b.ll"):
        (tmp_path / name).write_text("no IR", encoding="utf-8")
    result = run("search", "--model", model_dir, O2 / "sorting.ll", tmp_path)
    assert (result.code, result.out) == (1, "")
    assert "2 of 2 files failed" in result.error_lines[-1]


# -- equals ----------------------------------------------------------------------------------------------
TWINS = "".join(f"define i32 @{name}(i32 %x) {{\n  %y = mul i32 %x, 3\n  ret i32 %y\n}}\n" for name in "abc")


@pytest.mark.parametrize("options", [[], ["--no-rerank"]])
def test_functions_of_equal_files_and_equal_functions_of_a_file(
    run: Run, model_dir: Path, tmp_path: Path, options: list[str]
) -> None:
    for name in "xyz":
        (tmp_path / f"{name}.ll").write_text(TWINS)
    for name in "xyz":
        query = tmp_path / f"{name}.ll"
        words = ["search", query, tmp_path, "--level", "function", "--model", model_dir, "-k", 2, "--json", *options]
        entries = json.loads(run(*words).ok().out)["found"]
        best = [(one["name"], one["matches"][0]["file"], one["matches"][0]["name"]) for one in entries]
        assert best == [(function, str(query), function) for function in "abc"]
        # After it the first of the index that is not it.
        second = [(one["matches"][1]["file"], one["matches"][1]["name"]) for one in entries]
        expected = ["b" if (name, function) == ("x", "a") else "a" for function in "abc"]
        assert second == [(str(tmp_path / "x.ll"), function) for function in expected]


def test_equal_functions_of_two_files_are_paired_by_their_symbols(run: Run, model_dir: Path, tmp_path: Path) -> None:
    for name in "xy":
        (tmp_path / f"{name}.ll").write_text(TWINS)
    words = ["compare", tmp_path / "x.ll", tmp_path / "y.ll", "-l", "function", "--model", model_dir, "--json"]
    matches = json.loads(run(*words).ok().out)["matches"]
    assert [(one["name"], one["nearest"], one["mutual"]) for one in matches] == [(name, name, True) for name in "abc"]
