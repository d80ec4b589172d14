"""`mirenc models evaluate`: a folder of IR to figures, and clear words where that does not go."""

import json
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest
from command_line import Result
from typer.testing import CliRunner

from mirenc.base.errors import MirencError
from mirenc.cli import make_app
from mirenc.encoder.weights import load_files, seal
from mirenc.pretrain.corpus import Corpus
from mirenc.pretrain.evaluation import Baselines


def run(*words: object) -> Result:
    """A command that is expected to work."""
    done = CliRunner().invoke(make_app(), ["models", "evaluate", *map(str, words)])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return Result(done.exit_code, done.stdout, done.stderr)


def refused(*words: object) -> str:
    """The message of a command that is expected to fail."""
    with pytest.raises(MirencError) as raised:
        run(*words)
    return str(raised.value)


def test_json(model_folder: Path, levels_folder: Path) -> None:
    report = json.loads(run(model_folder, "--ir", levels_folder, "--json").ok().out)
    files = load_files(model_folder)
    assert (report["model"], report["digest"], report["files"]) == ("random", files.digest, 10)
    assert report["data"]["modules"] + report["duplicates"] == 10
    assert report["baselines"] == "fitted on this folder"
    assert report["mlm"]["unseen"] is None
    assert report["matching"]["modules"] == report["data"]["modules"]
    assert report["retrieval"]["functions"] >= 10
    assert set(report["missing"]) >= {"mlm.unseen"}


def test_the_model_s_own_baselines(
    model_folder: Path, levels_folder: Path, levels_corpus: Corpus, tmp_path: Path
) -> None:
    own_folder = Path(shutil.copytree(model_folder, tmp_path / "own"))
    Baselines.fit(levels_corpus, np.array([0])).save(own_folder)
    seal(own_folder)
    report, other = (
        json.loads(run(folder, "--ir", levels_folder, "--json").ok().out) for folder in (own_folder, model_folder)
    )
    assert report["baselines"] == "fitted on the training modules"
    mine, theirs = report["mlm"]["distinct"], other["mlm"]["distinct"]
    assert mine["accuracy"] == theirs["accuracy"]
    # Baselines that know one module only are worse than those that know the answers.
    assert mine["accuracy_neighbours"] < theirs["accuracy_neighbours"]
    assert report["matching"]["accuracy_random_size"] is None  # one module gives no size baseline


def test_table(model_folder: Path, levels_folder: Path) -> None:
    shown = run(model_folder, "--ir", levels_folder).ok().out
    for words in ("random: 10 modules of 2 projects", "MLM accuracy, distinct", "data flow", "Matching", "O0 ->"):
        assert words in shown
    assert "Baselines fitted on this folder" in shown


def test_folder_without_levels(model_folder: Path, levels_folder: Path, tmp_path: Path) -> None:
    for level in ("O0", "O2"):
        shutil.copy(levels_folder / "clang-14" / level / "numeric.ll", tmp_path / f"{level}.ll")
    report = json.loads(run(model_folder, "--ir", tmp_path, "--json").ok().out)
    assert report["retrieval"] is None
    assert "PROJECT/O0" in report["missing"]["retrieval"]


def test_a_bad_file_is_named_an_empty_one_counted_and_the_others_are_measured(
    model_folder: Path, levels_folder: Path, tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(levels_folder / "clang-19", tmp_path / "p"))
    (folder / "data.ll").write_text("@table = constant i32 1\n", encoding="utf-8")
    result = run(model_folder, "--ir", tmp_path, "--json")
    assert (result.code, result.err) == (0, "mirenc: 1 of 5 files has no function body and is left out\n")
    (folder / "data.ll").write_text("nonsense\n", encoding="utf-8")
    result = run(model_folder, "--ir", tmp_path, "--json")
    assert result.code == 1
    assert json.loads(result.out)["files"] == 5
    assert result.error_lines[0].startswith(f"mirenc: warning: {folder}/data.ll: ")
    assert "1 of 5 files failed" in result.error_lines[1]


def test_missing_ir_and_unknown_models_are_refused(model_folder: Path, levels_folder: Path, tmp_path: Path) -> None:
    assert "is a folder without IR files" in refused(model_folder, "--ir", tmp_path)
    shutil.copy(levels_folder / "clang-14" / "O0" / "numeric.ll", tmp_path / "one.ll")
    assert "one IR file only" in refused(model_folder, "--ir", tmp_path)
    assert "unknown model 'none'" in refused("none", "--ir", levels_folder)
    run(model_folder, "--ir", tmp_path / "nowhere").refused("nowhere")


def test_without_the_train_extra(model_folder: Path, levels_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mirenc.model.torch_runtime", None)
    for name in ("mirenc.pretrain.evaluation", "mirenc.pretrain.evaluation.evaluate"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    assert "pip install 'mirenc[train]'" in refused(model_folder, "--ir", levels_folder)
