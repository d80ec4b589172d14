"""``mirenc datasets``: list, fetch and verify published datasets."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from mirenc.base.errors import DatasetError
from mirenc.cli import common

if TYPE_CHECKING:
    from mirenc.decide.datasets.fetch import FetchPlan

app = typer.Typer(help="List, fetch and verify published datasets.", no_args_is_help=True)

Names = Annotated[list[str], Argument(metavar="NAME...", help="Names of datasets (see `mirenc datasets list`).")]

_MAX_LINES = 10  # findings of one dataset that are printed


@app.command("list")
def list_(as_json: common.JSON = False, data: common.Data = None) -> None:
    """List the datasets with their licences and where they are on this machine.

    mirenc datasets list
    mirenc datasets list --json
    """
    from mirenc.decide.datasets.dataset_registry import DATASETS, find_folder

    folders = {name: find_folder(name, data) for name in DATASETS}
    if as_json:
        places = {name: None if folder is None else str(folder) for name, folder in folders.items()}
        facts = {name: {"files": len(dataset.sums), "folder": places[name]} for name, dataset in DATASETS.items()}
        entries = [entry.model_dump(exclude={"urls", "sums"}) | facts[name] for name, entry in DATASETS.items()]
        typer.echo(json.dumps(entries, indent=1))
        return
    from rich.table import Table
    from rich.text import Text

    table = Table("name", "title", "licence", "files", "present", show_lines=True)
    table.columns[-1].overflow = "fold"  # a path is one word, and half of one is of no use
    for name, dataset in DATASETS.items():
        size = f"{len(dataset.sums)}\n{dataset.megabytes:g} MB"
        # Text: brackets in a title or a path are no markup.
        table.add_row(*map(Text, (name, dataset.title, dataset.licence, size, str(folders[name] or "no"))))
    common.print_table(table)


@app.command()
def fetch(
    names: Names,
    yes: Annotated[bool, Option("--yes", "-y", help="Accept the licences without being asked.")] = False,
    data: common.Data = None,
) -> None:
    """Download datasets from their public addresses.

    What is there already is not fetched again; what differs from the published files is replaced.

    mirenc datasets fetch device_mapping
    mirenc datasets fetch device_mapping --yes --data sets
    """
    from mirenc.decide.datasets.fetch import fetch as fetch_files, plan_fetch

    problems: list[str] = []
    for name in _checked_names(names):
        plan = plan_fetch(name, data)
        total = len(plan.dataset.sums)
        if plan.wanted:
            _ask(plan, yes)
            with common.progress(name, len(plan.wanted)) as advance:
                failures = fetch_files(plan, advance=advance)
            _warn([f"{name}: {file}: {reason}" for file, reason in failures.items()])
            if failures:
                problems.append(f"{len(failures)} of {total} files of {name}")
                continue
        status = f"{len(plan.wanted)} fetched" if plan.wanted else "all there already"
        typer.echo(f"{name}: {total} files in {plan.folder} ({status})")
    if problems:
        problem = f"{', '.join(problems)} could not be fetched (listed above); the others were delivered"
        raise DatasetError(f"{problem}. Type the command again to fetch what is missing")


def _checked_names(names: list[str]) -> list[str]:
    """Each name once; a mistyped one is told before anything is done."""
    from mirenc.decide.datasets.dataset_registry import get_dataset

    return [get_dataset(name).name for name in dict.fromkeys(names)]


def _ask(plan: FetchPlan, accepted: bool) -> None:
    dataset = plan.dataset
    typer.echo(
        f"{dataset.name}: {dataset.title}\n"
        f"  licence: {dataset.licence}\n"
        f"  source:  {dataset.source}\n"
        f"  to:      {plan.folder}\n"
        f"  {len(plan.wanted)} of {len(dataset.sums)} files to fetch; the dataset has {dataset.megabytes:g} MB in all",
        err=True,
    )
    if accepted:
        return
    if not sys.stdin.isatty():
        raise DatasetError(
            f"fetching {dataset.name} means accepting the licence above, and nobody can be asked here (no terminal). "
            f"Type: mirenc datasets fetch {dataset.name} --yes"
        )
    if not typer.confirm("Fetch it under this licence?", err=True):
        typer.echo("mirenc: nothing was fetched", err=True)
        raise typer.Exit(1)


def _warn(lines: list[str]) -> None:
    for line in lines[:_MAX_LINES]:
        common.warn(line)
    if len(lines) > _MAX_LINES:
        common.warn(f"... and {len(lines) - _MAX_LINES} more")


@app.command()
def verify(names: Names, data: common.Data = None) -> None:
    """Compare datasets on disk with the published checksums.

    mirenc datasets verify device_mapping
    mirenc datasets verify device_mapping --data sets
    """
    from mirenc.decide.datasets.dataset_registry import dataset_folder
    from mirenc.decide.datasets.fetch import content_hash, verify as verify_files

    differences: dict[str, str] = {}
    for name in _checked_names(names):
        with common.progress("verifying", None):
            findings = verify_files(name, data)
        folder = dataset_folder(name, data)
        issues = [finding for finding in findings if finding.status != "ok"]
        _warn([f"{name}: {item.status}: {item.file}" + (f" ({item.detail})" if item.detail else "") for item in issues])
        if issues:
            differences[name] = f"{len(issues)} of {len(findings)} files of {name} in {folder}"
        else:
            content = content_hash(name, data)[:12]
            typer.echo(f"{name}: all {len(findings)} files in {folder} are as published (content {content})")
    if differences:
        raise DatasetError(
            f"{'; '.join(differences.values())} are not as published (listed above). "
            f"Remove what is extra; for the rest, type: mirenc datasets fetch {' '.join(differences)}"
        )
