"""Models of a hub: fetched once, by name, pinned by commit and digest; never a file that is not a model folder's."""

from __future__ import annotations

import hashlib
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from fake_hub import FakeHub, Files, folder_files, serving

from mirenc.base.errors import ConfigError, MissingExtraError, ModelError
from mirenc.encoder import load
from mirenc.encoder.weights import find_model, load_files, verify_files
from mirenc.encoder.weights.hub import HubModel
from mirenc.encoder.weights.publish import upload, write_upload

constants = pytest.importorskip("huggingface_hub.constants")


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeHub]:
    """A hub without models, and an empty cache."""
    with serving() as hub:
        monkeypatch.setattr(constants, "ENDPOINT", hub.url)
        monkeypatch.setattr(
            constants, "HUGGINGFACE_CO_URL_TEMPLATE", hub.url + "/{repo_id}/resolve/{revision}/{filename}"
        )
        monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
        yield hub


@pytest.fixture
def files(model_folder: Path) -> Files:
    return folder_files(model_folder)


def requests(hub: FakeHub) -> list[str]:
    """What was asked since the last call, but for huggingface_hub's own questions."""
    paths = [each for each in hub.requested if "agent-harnesses" not in each]
    hub.requested.clear()
    return paths


def sealed(files: Files) -> Files:
    """The files with checksums of all of them, whatever they are."""
    unsealed = {name: data for name, data in files.items() if name != "SHA256SUMS"}
    lines = "".join(f"{hashlib.sha256(data).hexdigest()}  {name}\n" for name, data in unsealed.items())
    return {**unsealed, "SHA256SUMS": lines.encode()}


def error_of(name: str) -> str:
    with pytest.raises(ModelError) as error:
        find_model(name)
    return str(error.value)


def test_a_model_is_fetched_once(hub: FakeHub, files: Files, model_folder: Path) -> None:
    commit = hub.commit("org/tiny", files)
    digest = load_files(model_folder).digest
    with pytest.warns(UserWarning, match=f"took the newest commit, {commit}.* write org/tiny@{commit}#{digest}$"):
        encoder = load("org/tiny", cache=False)
    assert encoder.files.digest == digest
    assert verify_files("org/tiny") == verify_files(model_folder)
    hub.commit("org/tiny", {"config.json": b"{}"})
    requests(hub)
    assert find_model("org/tiny").name == commit  # nothing moves by itself, and no warning is a second one
    assert requests(hub) == []


def test_only_the_files_of_a_model_folder_are_fetched(hub: FakeHub, files: Files, tmp_path: Path) -> None:
    others = {
        "modeling.py": b"raise SystemExit",
        "pytorch_model.bin": b"\x80\x04.",
        "sub/config.json": b"",
        "README.md": b"",
    }
    commit = hub.commit("org/tiny", {**files, **others})
    folder = find_model(f"org/tiny@{commit}")
    assert sorted(path.name for path in folder.iterdir()) == sorted(files)
    assert not any(name in request for name in others for request in requests(hub))


def test_the_newest_is_fetched_when_it_is_asked_for(hub: FakeHub, files: Files) -> None:
    first = hub.commit("org/tiny", files)
    hub.tags["v1"] = first
    assert HubModel("org/tiny").fetch().name == first
    second = hub.commit("org/tiny", sealed({**files, "MODEL_CARD.md": b"# another\n"}))
    assert HubModel("org/tiny").fetch().name == second
    assert find_model("org/tiny").name == second
    assert find_model("org/tiny@v1").name == find_model(f"org/tiny@{first}").name == first
    requests(hub)
    assert HubModel("org/tiny", first).fetch().name == first  # a commit does not change
    assert requests(hub) == []


def test_a_digest_pins_what_vectors_come_from(hub: FakeHub, files: Files, model_folder: Path) -> None:
    digest = load_files(model_folder).digest
    commit = hub.commit("org/tiny", files)
    model = HubModel.parse(f"org/tiny@{commit}#{digest}")
    assert model is not None
    assert model.pinned(find_model(f"org/tiny@{commit}#{digest}")) == f"org/tiny@{commit}#{digest}"
    for again in range(2):  # in a new and in a full cache
        wrong = f"org/tiny@{commit}#{'0' * 64}"
        assert f"commit {commit} has the digest {digest}, which is not the one after '#'" in error_of(wrong), again
        shutil.rmtree(constants.HF_HUB_CACHE, ignore_errors=True)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (
            {"model.safetensors": None, "weights.pkl": b"."},
            "no model of mirenc: it has .*weights.pkl, and no model.safet",
        ),
        ({"SHA256SUMS": None}, "and no SHA256SUMS. Weights are read from model.safetensors alone, never from a pickle"),
        ({"golden.json": None}, "its SHA256SUMS lists 'golden.json', which the model does not have. Tell"),
        ({"provenance.json": b"[]"}, "its SHA256SUMS does not list 'provenance.json'. Tell"),
        (
            {"tokenizer.json": b"{}"},
            r"tokenizer.json is not the file that its SHA256SUMS lists \(sha256 44136fa355b3.*deleted",
        ),
        ({"SHA256SUMS": b"../../x"}, "its SHA256SUMS lists '', which"),
        ({"SHA256SUMS": b""}, "its SHA256SUMS does not list 'MODEL_CARD.md'"),
    ],
)
def test_a_repository_that_is_no_whole_model(
    hub: FakeHub, files: Files, change: dict[str, bytes | None], complaint: str
) -> None:
    commit = hub.commit("org/tiny", {name: data for name, data in {**files, **change}.items() if data is not None})
    for _ in range(2):
        with pytest.raises(ModelError, match=f"^org/tiny@{commit}: .*{complaint}"):
            find_model(f"org/tiny@{commit}")


def test_large_files_are_not_fetched(hub: FakeHub, files: Files) -> None:
    commit = hub.commit("org/tiny", files)
    hub.sizes = {"model.safetensors": 3_000_000_000}
    assert "has 3,000 MB, and at most 2,147 are fetched" in error_of(f"org/tiny@{commit}")
    assert not any("resolve" in request for request in requests(hub))


def test_more_bytes_than_were_said_are_not_written(hub: FakeHub, files: Files) -> None:
    commit = hub.commit("org/tiny", files)
    hub.overlong = "model.safetensors"
    said = sum(map(len, files.values()))
    refused = f"org/tiny@{commit}: the hub sends more than the {said:,} bytes that it said. Tell its maker"
    assert error_of(f"org/tiny@{commit}") == refused
    assert hub.pieces < 90  # of 100: what the connection holds, and the library's chunk
    kept = [path.stat().st_size for path in Path(constants.HF_HUB_CACHE).rglob("*") if path.is_file()]
    assert sum(kept) < 2 * said
    hub.overlong = ""
    assert find_model(f"org/tiny@{commit}").name == commit


def test_damage_is_not_kept(hub: FakeHub, files: Files, model_folder: Path) -> None:
    name = f"org/tiny@{hub.commit('org/tiny', files)}"
    weights = files["model.safetensors"]
    hub.sent = {"model.safetensors": weights[:-1] + bytes([weights[-1] ^ 1])}
    assert "model.safetensors is not the file that its SHA256SUMS lists" in error_of(name)
    hub.sent = {}
    folder = find_model(name)
    blob = (folder / "model.safetensors").resolve()
    blob.write_bytes(b"damaged on disk")
    assert "so it was deleted. Type the command again" in error_of(name)
    (find_model(name) / "golden.json").resolve().unlink()
    assert load_files(name).digest == load_files(model_folder).digest
    assert verify_files(name) == verify_files(model_folder)


def test_without_a_network(hub: FakeHub, files: Files, monkeypatch: pytest.MonkeyPatch) -> None:
    commit = hub.commit("org/tiny", files)
    hub.commit("org/other", files)
    folder = find_model(f"org/tiny@{commit}")
    monkeypatch.setattr(constants, "ENDPOINT", "http://127.0.0.1:9")
    assert find_model(f"org/tiny@{commit}") == folder
    unreachable = error_of("org/other")
    assert unreachable.startswith("org/other: is no folder here, and http://127.0.0.1:9 does not give it (")
    assert unreachable.endswith(
        f"Check the network, or copy {constants.HF_HUB_CACHE} from a machine that has the model"
    )
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    assert find_model(f"org/tiny@{commit}") == HubModel("org/tiny", commit).fetch() == folder
    assert "HF_HUB_OFFLINE forbids to ask" in error_of("org/other")


def test_what_the_hub_refuses(hub: FakeHub, files: Files) -> None:
    assert "org/tiny: is no folder here, and http" in error_of("org/tiny")
    assert "has no such model, or a private or gated one. Check the name; if it is private, type: hf auth" in error_of(
        "a/b"
    )
    first = hub.commit("org/tiny", files)
    assert "org/tiny has no revision 'v2' on http" in error_of("org/tiny@v2")
    hub.named = ["../../../elsewhere"]
    assert "org/tiny: the hub's answer names no commit" in error_of("org/tiny")
    hub.commit("org/tiny", sealed({**files, "MODEL_CARD.md": b"# another\n"}))
    hub.named = [first]
    assert "org/tiny@main: was changed on the hub during the download. Type the command" in error_of("org/tiny@main")
    hub.status = 503
    assert "does not give it (" in (error := error_of("org/other"))
    assert "Wait some minutes, or copy" in error


def test_what_is_no_name_of_a_hub(tmp_path: Path, files: Files, monkeypatch: pytest.MonkeyPatch) -> None:
    names = (
        "tiny",
        "a/b/c",
        "./a",
        "../a",
        "/a/b",
        "a/",
        "a/b@",
        "a/b@../x",
        "a/b@x/../y",
        "a/b#12",
        "a/b--c",
        "a b/c",
    )
    assert [HubModel.parse(name) for name in names] == [None] * len(names)
    assert HubModel.parse("org/a.b-c_1@refs/pr/1") == ("org/a.b-c_1", "refs/pr/1", None)
    (tmp_path / "org" / "tiny").mkdir(parents=True)
    for name, data in files.items():
        (tmp_path / "org" / "tiny" / name).write_bytes(data)
    monkeypatch.chdir(tmp_path)
    assert find_model("org/tiny") == tmp_path / "org" / "tiny"  # a folder goes before a hub
    (tmp_path / "org" / "file").touch()
    assert error_of("org/file").startswith("org/file: a file, and a model is a folder")


def test_without_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(MissingExtraError, match=r"needs huggingface_hub .*Type: pip install 'mirenc\[hub\]'"):
        load("org/tiny")


def test_a_model_is_published_and_comes_back(hub: FakeHub, model_folder: Path, tmp_path: Path) -> None:
    names = write_upload(str(model_folder), "org/tiny", tmp_path / "upload", "mit")
    assert sorted(names) == sorted(path.name for path in (tmp_path / "upload").iterdir())
    _, about, card = (tmp_path / "upload" / "README.md").read_text().split("---\n", 2)
    assert yaml.safe_load(about) == {
        "license": "mit",
        "library_name": "mirenc",
        "pipeline_tag": "feature-extraction",
        "tags": ["mirenc", "llvm", "llvm-ir", "code", "embeddings"],
    }
    digest = load_files(model_folder).digest
    assert card.startswith("\n# random\n")
    assert f"mirenc embed --model 'org/tiny#{digest}' foo.ll" in card
    assert hub.requested == []  # so far nothing has left the machine
    commit = upload(tmp_path / "upload", "org/tiny")
    assert load_files(f"org/tiny@{commit}#{digest}").digest == digest


def test_what_is_not_published(hub: FakeHub, model_folder: Path, tmp_path: Path) -> None:
    for repo in ("tiny", "org/tiny@v1", "../tiny"):
        with pytest.raises(ConfigError, match=f"a repository cannot be called '{repo}'"):
            write_upload(str(model_folder), repo, tmp_path / "upload")
    with pytest.raises(ConfigError, match="has files already"):
        write_upload(str(model_folder), "org/tiny", model_folder)
    copy = shutil.copytree(model_folder, tmp_path / "copy")
    (copy / "golden.json").write_text("{}")
    with pytest.raises(ModelError, match=r"golden\.json is not the file that was released"):
        write_upload(str(copy), "org/tiny", tmp_path / "upload")
    assert not (tmp_path / "upload").exists()
    write_upload(str(model_folder), "org/tiny", tmp_path / "upload")


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (401, r"does not take it \(.*401.* Log in with `hf auth login`, then"),
        (403, r"does not take it \(.*403.* by a token that may write there, or name a repository of your own, then"),
        (404, r"does not take it \(.*404.* Check the names of organisation and repository, then"),
        (409, r"does not take it \(.*409.* Its content was changed meanwhile: look at it, then"),
        (413, r"does not take it \(.*413.* Mend that, then"),
        (429, r"is not able to take it now \(.*429.* Wait some minutes, then"),
        (503, r"is not able to take it now \(.*503.* Wait some minutes, then"),
    ],
)
def test_a_refusal_says_what_to_do(status: int, words: str, hub: FakeHub, tmp_path: Path) -> None:
    (tmp_path / "README.md").touch()
    hub.status = status
    with pytest.raises(ModelError, match=f"^org/tiny: .* {words} type: hf upload org/tiny"):
        upload(tmp_path, "org/tiny")


def test_without_a_network_nothing_is_published(hub: FakeHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    there = (
        r"^org/tiny: http://127.0.0.1:9 cannot be reached \(.*\)\. Check the network, .*, then type: hf upload org/tiny"
    )
    monkeypatch.setattr(constants, "ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(ModelError, match=there):
        upload(tmp_path, "org/tiny")
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(ModelError, match=there):
        upload(tmp_path, "org/tiny")
