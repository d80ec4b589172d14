"""Models of a hub on the command line, in processes of their own, which find the hub by the environment alone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from command_line import Run
from fake_hub import FakeHub, folder_files, serving

from mirenc.encoder.weights import load_files

pytest.importorskip("huggingface_hub")


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeHub]:
    """A hub without models, and an empty cache."""
    with serving() as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.url)
        monkeypatch.setenv("HF_HOME", str(tmp_path / "home"))
        yield hub


def test_a_model_is_fetched_and_used_by_its_pinned_name(
    hub: FakeHub, spawn: Run, ir: Path, model_folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    commit, digest = hub.commit("org/tiny", folder_files(model_folder)), load_files(model_folder).digest
    first = spawn("embed", "--model", "org/tiny", "-o", tmp_path / "first.npz", ir)
    assert first.code == 0
    pinned = f"org/tiny@{commit}#{digest}"
    line = f"mirenc: warning: org/tiny: took the newest commit, {commit}, and keeps to it until you fetch another"
    assert first.err == f"{line} (mirenc models fetch). To pin it, write {pinned}\n"
    fetched = spawn("models", "fetch", "org/tiny")
    assert fetched.out == f"{pinned}\n"
    assert fetched.err.startswith("mirenc: random, ")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert spawn("models", "verify", pinned).ok().out.splitlines()[0].endswith("5 files as released")
    spawn("search", ir, tmp_path / "first.npz", "--model", pinned).ok()
    spawn("models", "fetch", "org/tiny").failed("HF_HUB_OFFLINE forbids to ask", "Unset it")
    spawn("models", "fetch", "tiny").failed("'tiny' is no model of a hub. Type ORG/NAME, or ORG/NAME@REVISION")


def test_a_dry_run_uploads_nothing(hub: FakeHub, spawn: Run, model_folder: Path, tmp_path: Path) -> None:
    words = ("models", "publish", model_folder, "org/tiny", "-o", tmp_path / "upload")
    result = spawn(*words, "--dry-run")
    assert (result.code, result.out) == (0, f"hf upload org/tiny {tmp_path / 'upload'}\n")
    assert result.err.endswith("SHA256SUMS, README.md. It states no licence (--license)\n")
    assert [request for request in hub.requested if "agent-harnesses" not in request] == []
    assert not hub.commits
    words = (*words[:-1], tmp_path / "second", "--license", "mit")
    published = spawn(*words)
    assert published.code == 0
    assert published.out == f"org/tiny@{list(hub.commits['org/tiny'])[-1]}\n"
