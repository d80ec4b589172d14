"""The files of a model folder, and their checksums in its SHA256SUMS. None of them is code."""

import hashlib
from pathlib import Path

from mirenc.base.errors import ModelError
from mirenc.encoder.weights.provenance import PROVENANCE_FILE

REQUIRED = ("config.json", "tokenizer.json", "model.safetensors")
BASELINES_FILE = "baselines.safetensors"
# Data and figures; vectors to reproduce; what the figures are compared with; what it and its ancestors learned from.
OPTIONAL = ("MODEL_CARD.md", "golden.json", BASELINES_FILE, PROVENANCE_FILE)
SUMS = "SHA256SUMS"


def sum_of(file: Path) -> str:
    """SHA-256 of a file, in hexadecimal."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def seal(folder: Path) -> None:
    """Write SHA256SUMS over the files of a model folder."""
    files = [folder / name for name in (*REQUIRED, *OPTIONAL) if (folder / name).is_file()]
    (folder / SUMS).write_text("".join(f"{sum_of(file)}  {file.name}\n" for file in files), encoding="utf-8")


def released_sums(folder: Path) -> dict[str, str] | None:
    """File -> sha256 as SHA256SUMS has them; None where there is none. Raises ModelError: it cannot be read."""
    try:
        text = (folder / SUMS).read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ModelError(f"{folder}: {SUMS} cannot be read: {error.strerror}. Check its permissions") from None
    return {name: digest for digest, _, name in (line.partition("  ") for line in text.splitlines())}


def check_sums(folder: Path, sums: dict[str, str]) -> None:
    """Refuse files that are not those of SHA256SUMS (ModelError); a folder of your own may have none."""
    if (released := released_sums(folder)) is None:
        return
    for name, digest in sums.items():
        if digest != (expected := released.get(name, digest)):
            raise ModelError(
                f"{folder}: {name} is not the file that was released "
                f"(sha256 {digest[:12]}..., expected {expected[:12]}...). "
                "Install the model again. If you changed it, call mirenc.encoder.weights.seal(folder) for new sums"
            )
    if unlisted := [name for name in REQUIRED if name not in released]:
        raise ModelError(f"{folder}: {SUMS} does not list {', '.join(unlisted)}. Install the model again")
