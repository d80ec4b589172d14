"""``mirenc tasks``: the tasks that heads decide, and what each needs to know."""

import json
from dataclasses import asdict
from typing import Any

import typer

from mirenc.cli import common

_SOURCES = {
    "published": "published data (`mirenc datasets`)",
    "measured": "`mirenc measure`, on a machine of yours",
    "compiled": "`mirenc label`, by a compiler's passes",
}


def tasks(as_json: common.JSON = False) -> None:
    """List the tasks: what each decides, where its labels come from, what it needs besides code, and its trained heads.

    A head is a small trained model that makes the decision; `mirenc predict` asks it.

    mirenc tasks
    mirenc tasks --json
    """
    from mirenc.decide.registry import describe_tasks

    rows = describe_tasks()
    if as_json:
        typer.echo(json.dumps([asdict(row) for row in rows], default=str))
        return
    for row in rows:
        lines: dict[str, Any] = {"labels": _SOURCES.get(row.labels_from, "a table of its own")}
        if row.variants != ("",):
            lines["variants"] = ", ".join(filter(None, row.variants))
        head_names = ", ".join(variant or "yes" for variant in row.ready)
        lines["ships a head"] = head_names or f"no: mirenc fit {row.name} -o FOLDER"
        typer.echo(f"{row.name}: {row.title}")
        for title, text in lines.items():
            typer.echo(f"  {title:13} {text}")
        for feature in row.context:
            optional = " (may be left out)" if feature.optional else ""
            typer.echo(f"  --context     {feature.name}: {feature.help or 'a number'}{optional}")
