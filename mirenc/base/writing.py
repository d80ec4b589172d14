"""A file is written beside its final name and moved there when it is complete; a folder has one run at a time."""

import contextlib
import errno
import fcntl
import os
import secrets
from collections.abc import Iterator
from pathlib import Path

from mirenc.base.errors import ConfigError, IRFileError

_LOCK = ".lock"


@contextlib.contextmanager
def only_one(folder: Path) -> Iterator[None]:
    """Hold a folder, by a file ``.lock`` in it; ConfigError where another run holds it, which writes there too.

    The system releases it when the process is killed. A folder that is not there is made, and removed again where
    nothing was put into it. A file system without locks (some network ones) has no such protection.
    """
    is_new = not folder.exists()
    folder.mkdir(parents=True, exist_ok=True)
    descriptor = _lock(folder)
    try:
        yield
        is_new = False
    finally:
        (folder / _LOCK).unlink(missing_ok=True)  # while it is held: after that it may be somebody else's
        os.close(descriptor)
        if is_new and not os.listdir(folder):
            folder.rmdir()


def _lock(folder: Path) -> int:
    """Lock a folder, and return the descriptor of its lock file. Raises ConfigError: another run holds it."""
    while True:
        descriptor = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            advice = "Wait until that one is done, or name another folder"
            raise ConfigError(f"{folder}: another run is at work there. {advice}") from None
        except OSError:
            return descriptor
        with contextlib.suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(descriptor), os.stat(folder / _LOCK)):
                return descriptor
        os.close(descriptor)  # whoever held it removed it meanwhile


def check_output(path: str | os.PathLike[str]) -> None:
    """Refuse an output file before any work (IRFileError): its folder is missing or closed, or it is a folder."""
    parent = Path(path).parent
    if parent.exists() and not parent.is_dir():
        raise IRFileError(f"output {os.fspath(path)}: {parent} is a file, no folder. Name a file in a folder")
    if not parent.is_dir():
        raise IRFileError(f"output folder {parent} does not exist. Type: mkdir -p {parent}")
    if os.path.isdir(path):
        raise IRFileError(f"output {os.fspath(path)} is a folder. Name a file in it")
    if not os.access(parent if os.path.isfile(path) or not os.path.exists(path) else path, os.W_OK):
        raise IRFileError(f"cannot write {os.fspath(path)}: Permission denied. Name another file")


@contextlib.contextmanager
def refused(path: str | os.PathLike[str] | None) -> Iterator[None]:
    """Turn an OSError into an IRFileError that names the file; one of stdout (None) passes."""
    try:
        yield
    except OSError as error:
        if path is None:
            raise
        advice = "Free some space or name" if error.errno in (errno.ENOSPC, errno.EDQUOT) else "Name"
        problem = f"cannot write {os.fspath(path)}: {error.strerror or error}"
        raise IRFileError(f"{problem}. {advice} another file") from None


@contextlib.contextmanager
def delivered(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A path to write to, which is moved to ``path`` when complete and removed otherwise; an OSError names ``path``.

    Each call has a file of its own, so of two runs to one path each writes a whole file, and the last one stays. The
    file that a symbolic link leads to is replaced. A device or a pipe is written directly.
    """
    final = Path(os.path.realpath(path))
    is_moved = os.path.isfile(final) or not os.path.exists(final)
    # Not longer than a name may be, whatever the final one is; hidden, since a run that is killed leaves it.
    part = final.with_name(f".mirenc-{secrets.token_hex(8)}.part") if is_moved else final
    try:
        yield part
        if is_moved:
            os.replace(part, final)
    except OSError as error:
        if error.filename is None or os.fspath(error.filename) == os.fspath(part):
            error.filename = os.fspath(path)
        raise
    finally:
        if is_moved:
            part.unlink(missing_ok=True)
