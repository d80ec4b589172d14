"""Models of a hub (huggingface.co, or what ``HF_ENDPOINT`` names), by ``ORG/NAME[@REVISION][#DIGEST]``.

huggingface_hub fetches them into its cache, from which they are read without asking the hub again. Only the files of a
model folder are fetched, by their names, and all of them are compared with SHA256SUMS; none is code.
"""

from __future__ import annotations

import hashlib
import re
import sys
import warnings
from pathlib import Path
from typing import Any, NamedTuple

from mirenc.base.errors import ModelError, needs
from mirenc.encoder.weights.checksums import OPTIONAL, REQUIRED, SUMS, released_sums, sum_of

_FILES = [*REQUIRED, *OPTIONAL, SUMS]
_SIZE_LIMIT = 2 << 30  # bytes, all of them together
_WORD = r"\w(?:[\w.-]{0,94}\w)?"  # which a hub allows, and which leads out of no folder
_NAME_FORM = re.compile(
    rf"(?!.*(?:\.\.|--|\.git\b))({_WORD}/{_WORD})(?:@({_WORD}(?:/{_WORD})*))?(?:#([0-9a-f]{{64}}))?", re.ASCII
)
_COMMIT = re.compile("[0-9a-f]{40}")


def library() -> Any:
    """huggingface_hub. Raises MissingExtraError: it is not installed."""
    with needs("hub", "a name like ORG/NAME that is no folder here is a model on a hub, which needs huggingface_hub"):
        import huggingface_hub.errors
        import huggingface_hub.utils  # which none of its lazy names is
    return huggingface_hub


class HubModel(NamedTuple):
    """A model of a hub as somebody types it: its commit, tag or branch, and what `ModelFiles.digest` has to be."""

    repo: str
    revision: str | None = None
    digest: str | None = None

    @classmethod
    def parse(cls, name: str) -> HubModel | None:
        """Parse a name; None where it is not of the form ``ORG/NAME[@REVISION][#DIGEST]``."""
        match = _NAME_FORM.fullmatch(name)
        return cls(*match.groups()) if match else None

    @property
    def at(self) -> str:
        return self.repo if self.revision is None else f"{self.repo}@{self.revision}"

    def _snapshot(self, **options: Any) -> Path:
        return Path(library().snapshot_download(self.repo, revision=self.revision, allow_patterns=_FILES, **options))

    def cached(self) -> Path | None:
        """The model's folder in the cache; None if incomplete. The hub is not asked. Raises ModelError: damage."""
        try:
            folder = self._snapshot(local_files_only=True)
        except library().errors.LocalEntryNotFoundError:
            return None
        complete = all((folder / name).is_file() for name in (*REQUIRED, SUMS, *(released_sums(folder) or ())))
        if self.digest and not _COMMIT.fullmatch(self.revision or "") and complete and _digest(folder) != self.digest:
            return None  # the hub may have the one that is asked for
        return self._verified_folder(folder) if complete else None

    def fetch(self) -> Path:
        """Ask the hub which commit the revision is, or its default branch, and fetch what is missing of it.

        Returns its folder in the cache. Raises ModelError: no such model or revision, it cannot be reached, or what is
        there is no whole and undamaged model of mirenc; MissingExtraError: no huggingface_hub.
        """
        hub = library()
        if _COMMIT.fullmatch(self.revision or "") and (folder := self.cached()):
            return folder  # a commit never changes
        if not sys.stderr.isatty():
            hub.utils.disable_progress_bars()
        try:
            info = hub.HfApi().model_info(self.repo, revision=self.revision, files_metadata=True)
            if not _COMMIT.fullmatch(info.sha or ""):
                raise ModelError(f"{self.at}: the hub's answer names no commit. Check HF_ENDPOINT")
            size_limit = self._check_list({file.rfilename: file.size for file in info.siblings or ()})
            folder = self._snapshot(tqdm_class=_bounded_progress(size_limit, self.at))
        except (OSError, hub.errors.HTTPError) as error:
            raise ModelError(self._message(error)) from None
        if folder.name != info.sha:
            raise ModelError(f"{self.at}: was changed on the hub during the download. Type the command again")
        return self._verified_folder(folder)

    def pinned(self, folder: Path) -> str:
        """Its name with the commit and the digest of what is in the folder."""
        return f"{self.repo}@{folder.name}#{_digest(folder)}"

    def _check_list(self, sizes: dict[str, int | None]) -> int:
        """The bytes that are to be fetched. Raises ModelError: the repository lacks a file, or is too large."""
        if missing := [name for name in (*REQUIRED, SUMS) if name not in sizes]:
            files = ", ".join(sorted(sizes)[:8]) + (", ..." if len(sizes) > 8 else "") if sizes else "no file"
            raise ModelError(
                f"{self.at}: is no model of mirenc: it has {files}, and no {', '.join(missing)}. Weights are read from "
                "model.safetensors alone, never from a pickle. `mirenc models publish` writes what belongs there"
            )
        if (size := sum(sizes.get(name) or 0 for name in _FILES)) > _SIZE_LIMIT:
            problem = f"has {size / 1e6:,.0f} MB, and at most {_SIZE_LIMIT / 1e6:,.0f} are fetched"
            raise ModelError(f"{self.at}: {problem}. Ask its maker for a smaller one")
        return _SIZE_LIMIT if None in sizes.values() else size

    def _verified_folder(self, folder: Path) -> Path:
        """The folder. Raises ModelError: SHA256SUMS or the name's digest do not fit; a damaged file is deleted."""
        sums = released_sums(folder) or {}
        file_names = {name for name in _FILES if name != SUMS and (folder / name).is_file()}
        if diff := sorted(sums.keys() ^ file_names):
            problem = "lists {}, which the model does not have" if diff[0] in sums else "does not list {}"
            raise ModelError(f"{self.at}: its {SUMS} {problem.format(repr(diff[0]))}. Tell the model's maker")
        for name, expected in sums.items():
            if (actual := sum_of(folder / name)) != expected:
                blob = (folder / name).resolve()  # a link into the cache's blobs, or a file where links cannot be
                (folder / name).unlink()
                if blob.parent == (folder.parents[1] / "blobs").resolve():
                    blob.unlink(missing_ok=True)
                raise ModelError(
                    f"{self.at}: {name} is not the file that its {SUMS} lists (sha256 {actual[:12]}..., not "
                    f"{expected[:12]}...), so it was deleted. Type the command again; if that fails, tell its maker"
                )
        if self.digest not in (None, digest := _digest(folder)):
            raise ModelError(
                f"{self.at}: commit {folder.name} has the digest {digest}, which is not the one after '#'. Its vectors "
                f"are others than those of the model that was pinned. To take it all the same, type {self.at}"
            )
        return folder

    def _message(self, error: Exception) -> str:
        """The message for an error of huggingface_hub, the cache or the network."""
        errors, constants = library().errors, library().constants
        opening, hub = f"{self.at}: is no folder here, and", constants.ENDPOINT
        copy_advice = f"or copy {constants.HF_HUB_CACHE} from a machine that has the model"
        if isinstance(error, errors.RevisionNotFoundError):
            problem = f"{self.repo} has no revision {self.revision!r} on {hub}"
            return f"{problem}. For the newest, type: mirenc models fetch {self.repo}"
        if isinstance(error, errors.RepositoryNotFoundError):
            name_advice = "Check the name; if it is private, type: hf auth login"
            return f"{opening} {hub} has no such model, or a private or gated one. {name_advice}"
        if isinstance(error, errors.OfflineModeIsEnabled):
            return f"{opening} HF_HUB_OFFLINE forbids to ask {hub} for it. Unset it, {copy_advice}"
        if isinstance(error, PermissionError):  # of the cache
            return f"{error.filename}: {error.strerror}. Set HF_HOME to a folder of yours"
        delay_advice = "Wait some minutes" if (status_of(error) or 0) >= 429 else "Check the network"
        return f"{opening} {hub} does not give it ({brief(error)}). {delay_advice}, {copy_advice}"


def _bounded_progress(limit: int, model: str) -> type:
    """Class of a huggingface_hub progress bar that raises ModelError before more than ``limit`` bytes are written."""

    class Bounded(library().utils.tqdm):  # type: ignore[misc]
        received = 0

        def update(self, n: float | None = 1) -> Any:
            self.received += int(n or 0)
            if self.received > limit:
                raise ModelError(f"{model}: the hub sends more than the {limit:,} bytes that it said. Tell its maker")
            return super().update(n)

    return Bounded


def brief(error: Exception) -> str:
    """The message of an error, in one line."""
    return " ".join(str(error).split()).rstrip(".")[:200]


def status_of(error: Exception) -> int | None:
    """The status of the answer that an error is about, such as 404; None where no answer came."""
    return getattr(getattr(error, "response", None), "status_code", None)


def _digest(folder: Path) -> str:
    """`ModelFiles.digest` of a folder whose files are those of SHA256SUMS."""
    sums = released_sums(folder) or {}
    return hashlib.sha256(b"".join(bytes.fromhex(sums[name]) for name in REQUIRED)).hexdigest()


def hub_folder(model: HubModel) -> Path:
    """The folder of a model in the cache, to which it is fetched the first time. Raises ModelError as `fetch` does."""
    if folder := model.cached():
        return folder
    folder = model.fetch()
    if model.revision is None:
        notice = f"{model.repo}: took the newest commit, {folder.name}, and keeps to it until you fetch another"
        warnings.warn(f"{notice} (mirenc models fetch). To pin it, write {model.pinned(folder)}", stacklevel=2)
    return folder
