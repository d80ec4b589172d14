"""Releases: one command sets versions and checks models; recipe and container file fit what setup.cfg says."""

from __future__ import annotations

import configparser
import datetime
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml
from release import CHECKOUT, VERSIONS, check_models, check_tree, write

import mirenc
from mirenc.encoder.weights import seal

DATE = datetime.date(2026, 11, 28)
MODEL = Path("mirenc/encoder/weights/random")
CHANGES = (
    "# Changelog\n\nText.\n\n## [Unreleased]\n\nNothing yet.\n\n### Added\n\n- A.\n\n## [0.1.0] - 2025-01-01\n\n- B.\n"
)


@pytest.fixture(scope="module")
def settings() -> configparser.ConfigParser:
    parser = configparser.ConfigParser()
    parser.read(CHECKOUT / "setup.cfg", encoding="utf-8")
    return parser


@pytest.fixture
def checkout(tmp_path: Path, model_folder: Path) -> Path:
    """A repository with what a release writes to, a changelog, and a model."""
    for file in VERSIONS:
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(CHECKOUT / file, tmp_path / file)
    (tmp_path / "CHANGELOG.md").write_text(CHANGES)
    shutil.copytree(model_folder, tmp_path / MODEL)
    apart = tmp_path / "models" / "random-2"
    shutil.copytree(model_folder, apart / "random_2")
    (apart / "pyproject.toml").write_text('[project]\nname = "random-2"\nversion = "1"\n')
    git(tmp_path, "init", "--quiet")
    commit(tmp_path)
    return tmp_path


def git(folder: Path, *words: str) -> None:
    name = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *name, *words], cwd=folder, check=True)


def commit(folder: Path) -> None:
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "x")


@pytest.mark.needs("git")
def test_a_release_sets_versions_and_moves_the_changelog(checkout: Path) -> None:
    assert check_tree(checkout, "91.2.3") == check_models(checkout) == []
    write(checkout, "91.2.3", DATE)
    for file, pattern in VERSIONS.items():
        (match,) = re.findall(pattern, (checkout / file).read_text())
        assert match[1] == "91.2.3"
    assert "\nversion: 91.2.3\ndate-released: 2026-11-28\n" in (checkout / "CITATION.cff").read_text()
    moved = "## [Unreleased]\n\n## [91.2.3] - 2026-11-28\n\n### Added\n\n- A.\n\n## [0.1.0] - 2025-01-01\n\n- B.\n"
    assert (checkout / "CHANGELOG.md").read_text() == f"# Changelog\n\nText.\n\n{moved}"
    commit(checkout)
    assert [problem[:34] for problem in check_tree(checkout, "91.2.4")] == ["CHANGELOG.md has no change under #"]
    (checkout / "CHANGELOG.md").write_text(
        (checkout / "CHANGELOG.md").read_text().replace("\n\n## [9", "\n\n### Fixed\n\n- C.\n\n## [9")
    )
    commit(checkout)
    assert check_tree(checkout, "91.2.4") == []
    write(checkout, "91.2.4", DATE + datetime.timedelta(1))
    assert (checkout / "CITATION.cff").read_text().count("date-released") == 1


@pytest.mark.needs("git")
def test_changes_without_a_heading_are_moved_whole(checkout: Path) -> None:
    text = "# Changelog\n\n## [Unreleased]\n\n- Important.\n\n## [0.1.0] - 2025-01-01\n\n### Added\n\n- B.\n"
    (checkout / "CHANGELOG.md").write_text(text)
    write(checkout, "91.2.3", DATE)
    moved = "\n## [91.2.3] - 2026-11-28\n\n- Important.\n\n## [0.1.0] - 2025-01-01\n\n### Added\n\n- B.\n"
    assert (checkout / "CHANGELOG.md").read_text().endswith(moved)


@pytest.mark.needs("git")
def test_a_release_refuses_what_is_not_ready(checkout: Path) -> None:
    assert check_tree(checkout, "0.0.1") == [
        f"0.0.1 is not after {mirenc.__version__}, or has a tag. Name a later version"
    ]
    git(checkout, "tag", "v91.0.0")
    assert "is not after" in check_tree(checkout, "91.0.0")[0]
    (checkout / "new.py").touch()
    assert check_tree(checkout, "91.0.1") == [
        "changes are not committed:\n?? new.py\nCommit them, or type: git stash --include-untracked"
    ]
    (checkout / "CITATION.cff").write_text("version: 0.0.0\n")
    commit(checkout)
    (problem,) = check_tree(checkout, "91.0.1")
    assert problem.startswith(f"versions differ: 0.0.0, {mirenc.__version__} (mirenc/__init__.py, ")


@pytest.mark.needs("git")
def test_released_models_stay_as_they_are(checkout: Path) -> None:
    folder, apart = checkout / MODEL, checkout / "models" / "random-2"
    git(checkout, "tag", "v0.0.1")
    (folder / "MODEL_CARD.md").write_text("# random\n\nA word more.\n")
    assert [problem.partition(" is not the file")[0] for problem in check_models(checkout)] == [
        f"{folder}: MODEL_CARD.md"
    ]
    seal(folder)
    assert check_models(checkout) == []  # a card may be mended
    (apart / "README.md").write_text("# random-2\n")
    (folder / "weights.bin").touch()
    commit(checkout)
    extra, version = check_models(checkout)
    assert extra == f"{folder}: SHA256SUMS does not list weights.bin. Remove it, or seal the folder"
    assert version == "models/random-2: has changed since v0.0.1 and still has version 1. Give it another"
    (folder / "weights.bin").unlink()
    (apart / "pyproject.toml").write_text('[project]\nname = "random-2"\nversion = "2"\n')
    (folder / "config.json").write_text((folder / "config.json").read_text() + "\n")
    seal(folder)
    assert check_models(checkout) == [f"{folder}: is another model than that of v0.0.1. A better model gets a new name"]


def test_the_version_is_one() -> None:
    matches_by_file = {file: re.findall(pattern, (CHECKOUT / file).read_text()) for file, pattern in VERSIONS.items()}
    assert {file: [match[1] for match in matches] for file, matches in matches_by_file.items()} == {
        file: [mirenc.__version__] for file in VERSIONS
    }


def test_the_recipe_needs_what_the_package_needs(settings: configparser.ConfigParser) -> None:
    recipe = yaml.safe_load((CHECKOUT / "packaging" / "recipe.yaml").read_text())
    lines = settings["options"]["install_requires"].splitlines()
    needed = {line for line in lines if line and not line.startswith("#")}
    python, *run = [line.replace(" ", "") for line in recipe["requirements"]["run"]]
    assert set(run) == needed
    assert len(run) == len(needed)
    assert python == "python>=${{python_min}}"
    assert settings["options"]["python_requires"] == f">={recipe['context']['python_min']}"
    assert recipe["about"]["license"] == settings["metadata"]["license_expression"]
    (script,) = recipe["build"]["python"]["entry_points"]
    assert script == settings["options.entry_points"]["console_scripts"].strip()


def test_the_recipe_is_one_for_its_builder() -> None:
    """rattler-build's own reader refuses unknown keys, other licences than SPDX's and wrong requirements."""
    rattler_build = pytest.importorskip("rattler_build")
    (variant,) = rattler_build.Stage0Recipe.from_file(str(CHECKOUT / "packaging" / "recipe.yaml")).render()
    assert (variant.recipe.package.name, variant.recipe.package.version) == ("mirenc", mirenc.__version__)


def test_the_container_file_installs_extras_that_there_are(settings: configparser.ConfigParser) -> None:
    text = (CHECKOUT / "packaging" / "Containerfile").read_text()
    (extras,) = re.findall(r"mirenc-\*\.whl\)\[([a-z,]+)\]", text)
    assert set(extras.split(",")) <= set(settings["options.extras_require"])
    words = {line.split()[0] for line in re.sub(r"\\\n", "", text).splitlines() if line and line[0] != "#"}
    assert words <= {"FROM", "RUN", "COPY", "ENV", "WORKDIR", "ENTRYPOINT"}  # which scripts/container.py runs
