"""Heads as C: every kind compiles without a warning and answers as Python does, and the comparison can fail."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from every_head import CHOOSERS, COSTS, FEATURES, HEADS, fit, fitted
from sklearn.base import clone

from mirenc.base.errors import HeadError, ToolchainError
from mirenc.decide import BoostedRegressor, CautiousEnsembleHead, EnsembleHead, PairHead, RidgeRegressor, save_head
from mirenc.decide.export.c_source import CWriter, c_source, c_test, pair_head, prototype
from mirenc.llvm.inputs.compile_source import find_compiler

STRICT = ("-std=c99", "-O1", "-Wall", "-Wextra", "-pedantic", "-Werror")
NAMES = [f"feature_{column}" for column in range(FEATURES.shape[1])]
REFUSED = ("cost", "cost of one scale", "label", "mlp", "landmarks", "landmark labels", "pairs, ridge")
MEMBERS = [(name, head) for name, head in CHOOSERS.items() if name not in REFUSED]
EXPORTED = {name: head for name, head in HEADS.items() if name not in REFUSED and "ensemble" not in name}
EXPORTED |= {"ensemble": EnsembleHead(MEMBERS), "cautious ensemble": CautiousEnsembleHead(MEMBERS[:3], default=1)}


def compilers() -> list[list[str]]:
    """A clang, of Debian's or ziglang's, and a gcc where there is one."""
    try:
        commands = [find_compiler("c")]
    except ToolchainError:
        commands = []
    return commands + [["gcc"] for _ in range(1) if shutil.which("gcc")]


def written(head: Any, folder: Path, settings: np.ndarray | None = None) -> list[str]:
    """Files of a head and its test."""
    pairs = pair_head(head)
    if settings is None and pairs is not None:
        settings = np.random.default_rng(1).normal(size=(head.n_choices_, len(pairs.setting_middle_)))
    files = {"head.c": c_source(head, "head", NAMES, ("a", "b */ c"), "a line")}
    files["test.c"] = c_test(head, "head", FEATURES.min(axis=0), FEATURES.max(axis=0), settings)
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    return list(files)


def ran(compiler: list[str], folder: Path, *files: str) -> subprocess.CompletedProcess[str]:
    built = subprocess.run(
        [*compiler, *STRICT, *files, "-lm", "-o", "test"], cwd=folder, capture_output=True, text=True
    )
    assert (built.returncode, built.stderr) == (0, "")
    return subprocess.run([folder / "test"], capture_output=True, text=True)


@pytest.mark.needs("C compiler")
@pytest.mark.parametrize("name", EXPORTED)
def test_c_answers_as_python_without_a_warning(name: str, tmp_path: Path) -> None:
    files = written(fit(clone(EXPORTED[name]), name), tmp_path)
    for compiler in compilers():
        done = ran(compiler, tmp_path, *files)
        assert done.stdout.startswith("0 of 1000 choices differ")
        assert done.returncode == 0, done.stdout


@pytest.mark.needs("C compiler")
@pytest.mark.parametrize("change", ["weights", "choice", "refusal"])
def test_the_comparison_fails_for_another_head(change: str, tmp_path: Path) -> None:
    head = fitted("ridge")
    files = written(head, tmp_path)
    text = (tmp_path / "head.c").read_text(encoding="utf-8")
    if change == "weights":
        head.weights_ = head.weights_ * (1 + 1e-6)
        text = c_source(head, "head", NAMES)
    elif change == "choice":
        text = text.replace("score[i] > score[choice]", "score[i] < score[choice]")
    else:
        text = text.replace("return -1", "return 0")
    (tmp_path / "head.c").write_text(text, encoding="utf-8")
    assert ran(compilers()[0], tmp_path, *files).returncode == 1


@pytest.mark.needs("C compiler")
def test_so_many_settings_as_are_given_and_no_more_than_were_learned(tmp_path: Path) -> None:
    head = PairHead(RidgeRegressor(), 2, components=3).fit(FEATURES, COSTS)  # settings are columns of their own
    files = written(head, tmp_path, np.eye(4)[:2])
    done = ran(compilers()[0], tmp_path, *files)
    assert done.returncode == 0, done.stdout
    (tmp_path / "test.c").write_text(f"""#include <math.h>
{prototype(head, "head")};
int main(void)
{{
    double x[9] = {{0}}, settings[20] = {{0}}, score[4];
    if (head(x, settings, 0, score) != -1 || head(x, settings, 5, score) != -1) return 1;
    settings[15] = NAN;
    return head(x, settings, 4, score) != -1 || head(x, settings, 3, score) != 0;
}}
""")
    assert ran(compilers()[0], tmp_path, *files).returncode == 0


def test_arrays_stand_there_once_in_the_narrowest_type() -> None:
    to = CWriter()
    names = [to.table(one) for one in ([0.5, np.inf], np.array([0.5, np.inf]), [0.1], [0, 255], [-1, 2], [70000])]
    assert names == ["t0", "t0", "t1", "t2", "t3", "t4"]
    kinds = re.findall(r"const (\D+) t\d", to.declarations)
    assert kinds == ["float", "double", "unsigned char", "short", "int"]
    assert "0.5, INFINITY" in to.declarations
    assert "0.10000000000000001" in to.declarations


def test_numbers_are_the_same_after_printing_and_reading() -> None:
    values = np.random.default_rng(0).normal(size=200) * 10.0 ** np.arange(-100, 100)
    for kind, numbers in ((np.float64, values), (np.float32, values[70:130])):
        to, written = CWriter(), numbers.astype(kind)
        to.table(written)
        read = to.declarations.partition("{")[2].partition("}")[0].split(",")
        np.testing.assert_array_equal(np.array(read, dtype=np.float64).astype(kind), written)


@pytest.mark.parametrize("name", REFUSED)
def test_a_head_of_another_kind_is_refused(name: str) -> None:
    with pytest.raises(HeadError, match=r"cannot be exported; available: ridge heads, tree heads, pair heads"):
        c_source(fitted(name), "head", NAMES)


def test_every_column_has_a_name() -> None:
    with pytest.raises(HeadError, match="8 names of features; the head has 9"):
        c_source(fitted("ridge"), "head", NAMES[:8])


def test_a_boosted_head_alone_is_a_probability(tmp_path: Path) -> None:
    """As a head for branches is: no task, names in ``extra``."""
    head = BoostedRegressor(9, trees=3).fit(FEATURES, 1 / (1 + COSTS[:, 0]))
    save_head(head, tmp_path, extra={"features": NAMES})
    text = c_source(head, "branch", NAMES)
    assert "int branch(const double *features, double *score);" in text
    assert '"feature_8",' in text
