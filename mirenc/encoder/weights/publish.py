"""What a hub wants of a model folder: its files, and its card as README.md, with the hub's metadata before it."""

import shutil
from pathlib import Path

from mirenc.base.errors import ConfigError, ModelError
from mirenc.encoder.weights.checksums import OPTIONAL, REQUIRED, SUMS
from mirenc.encoder.weights.hub import HubModel, brief, library, status_of
from mirenc.encoder.weights.store import load_files, verify_files

_USE = """
## Use

```sh
pip install 'mirenc[hub]'
mirenc embed --model '{pin}' foo.ll
```

What follows `#` is the model's digest: files that give another one are refused. `mirenc models fetch {repo}` prints the
name with its commit.
"""

# What to do before the upload is tried again, by the status of the hub's answer.
_ADVICE = {
    401: "Log in with `hf auth login`",
    403: "Log in with `hf auth login` by a token that may write there, or name a repository of your own",
    404: "Check the names of organisation and repository",
    409: "Its content was changed meanwhile: look at it",
}


def write_upload(name_or_dir: str, repo: str, output: Path, licence: str = "") -> list[str]:
    """Write what is uploaded for a model to a new folder; returns the names of the files.

    ``licence`` is the hub's name of one (``apache-2.0``). Raises ConfigError: the repository cannot have that name, or
    the folder has files; ModelError: no model, or damaged; MissingExtraError: no huggingface_hub.
    """
    if (target := HubModel.parse(repo)) is None or target.repo != repo:
        raise ConfigError(f"a repository cannot be called {repo!r}. Type ORG/NAME, as a hub has it, without a revision")
    if output.is_dir() and any(output.iterdir()):
        raise ConfigError(f"{output}: has files already. Name a new folder, or type: rm -r {output}")
    card_type = library().ModelCardData
    files, names = load_files(name_or_dir), [*verify_files(name_or_dir), SUMS]
    file_names = {name for name in (*REQUIRED, *OPTIONAL, SUMS) if (files.folder / name).is_file()}
    if diff := sorted(file_names ^ set(names)):
        advice = f"To write {SUMS} anew, call mirenc.encoder.weights.seal({str(files.folder)!r})"
        raise ModelError(f"{files.folder}: {SUMS} lists other files than the model has: {', '.join(diff)}. {advice}")
    output.mkdir(parents=True, exist_ok=True)
    for name in names:
        shutil.copyfile(files.folder / name, output / name)
    card = files.folder / "MODEL_CARD.md"
    text = card.read_text(encoding="utf-8") if card.is_file() else f"# {files.name}\n"
    tags = ["mirenc", "llvm", "llvm-ir", "code", "embeddings"]
    facts = {"license": licence or None, "library_name": "mirenc", "pipeline_tag": "feature-extraction", "tags": tags}
    metadata = card_type(**facts).to_yaml()
    usage = _USE.format(repo=repo, pin=f"{repo}#{files.digest}")
    (output / "README.md").write_text(f"---\n{metadata}\n---\n\n{text}{usage}", encoding="utf-8")
    return [*names, "README.md"]


def upload(output: Path, repo: str) -> str:
    """Upload the folder as a commit of a public repository, which is made if need be; returns the commit.

    Raises ModelError: the hub refuses it, or gives no answer.
    """
    hub = library()
    try:
        hub.HfApi().create_repo(repo, exist_ok=True)
        return str(hub.HfApi().upload_folder(repo_id=repo, folder_path=output).oid)
    except (OSError, hub.errors.HTTPError) as error:
        status = status_of(error)
        reason, advice = "does not take it", "Mend that"
        if status is None:
            reason, advice = "cannot be reached", "Check the network, HF_ENDPOINT and HF_HUB_OFFLINE"
        elif status == 429 or status >= 500:
            reason, advice = "is not able to take it now", "Wait some minutes"
        elif status in _ADVICE:
            advice = _ADVICE[status]
        problem = f"{repo}: {hub.constants.ENDPOINT} {reason} ({brief(error)})"
        raise ModelError(f"{problem}. {advice}, then type: hf upload {repo} {output}") from None
