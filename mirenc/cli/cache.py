"""``mirenc cache``: what the user's cache folder holds."""

from datetime import datetime
from typing import Annotated

import typer
from typer import Option

from mirenc.cli import common

_LIMIT = "Delete what was used least recently, until the cache has SIZE, such as 2GB."


def cache(
    limit: Annotated[str | None, Option(metavar="SIZE", help=_LIMIT)] = None,
    clear: Annotated[bool, Option("--clear", help="Delete all of it.")] = False,
) -> None:
    """Show where vectors are cached and how large the cache is, limit it, or clear it.

    There is a file for each model, of at most 512 MB, and one for what `predict --look-ahead` compiled. All can be
    deleted at any time; what is missing is computed again. The environment variable MIRENC_CACHE names another folder.

    mirenc cache
    mirenc cache --limit 2GB
    """
    from mirenc.base.cache import cache_files, cache_folder, file_bytes, limit_caches

    if clear and limit is not None:
        raise typer.BadParameter("nothing is left to limit; leave --limit or --clear out", param_hint="--clear")
    if clear or limit is not None:
        limit_caches(0 if limit is None else common.byte_count(limit, "--limit"))
    files = cache_files()
    sizes = [file_bytes(path) for path in files]
    typer.echo(f"{cache_folder()}: {sum(sizes) / 2**20:.1f} MB in {len(files)} files")
    rows = []
    for path, size in zip(files, sizes, strict=True):
        kind, _, _ = path.stem.rpartition(".")
        write_time = datetime.fromtimestamp(path.stat().st_mtime)
        rows.append([kind or "of an older release", f"{size / 2**20:.1f} MB", f"{write_time:%Y-%m-%d %H:%M}"])
    if rows:
        common.print_rows(rows[::-1], "<><", ("kind", "size", "last written"))
