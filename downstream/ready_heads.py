"""Train the heads that ship: one for each table of each task, on all of its samples.

    MIRENC_DATA=... python downstream/ready_heads.py        # writes mirenc/decide/ready/<task>.<variant>
    python downstream/ready_heads.py vectorization          # those of one task
    python downstream/ready_heads.py --passes TABLE --features FEATURES --model mirenc-fast --jobs 3

A head is chosen by the same search as in an evaluation (grouped by kernel, inside the samples). Run it again whenever
the default model, the candidates (`mirenc/decide/estimators/candidates.py`) or the datasets change; a test refuses
heads of another model. Tasks that mirenc measures itself have their tables in `downstream/<task>/table`. The last line
is for the heads of a table of `mirenc label` alone, FEATURES what `downstream/pass_features.py` made of it: projects
that are held out are not trained on.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from joblib import Parallel, delayed
from kept_features import features_of_table, model_of, read_all
from threadpoolctl import threadpool_limits

import mirenc
from mirenc.decide.fit import fit_head
from mirenc.decide.loop_task import LoopTask
from mirenc.decide.tables.measured import MeasuredTask
from mirenc.decide.task import Task
from mirenc.decide.task_head import ready_heads
from mirenc.decide.tasks.pass_tasks import CompiledTask

HERE = Path(__file__).parent
READY = Path(mirenc.__file__).parent / "decide" / "ready"


def tasks_with_heads(names: Sequence[str], kind: type[Task], *, exclude: bool = False) -> list[tuple[Task, str]]:
    """Tasks of a kind (or of no such kind) and their variants: those named, or all that ship a head."""
    pairs = []
    for task in map(mirenc.get_task, names or mirenc.list_tasks()):
        if isinstance(task, kind) != exclude:
            pairs += [(task, variant) for variant in (task.variants if names else ready_heads(task))]
    return pairs


def fit_measured(names: Sequence[str]) -> None:
    """The heads of tasks whose samples have code."""
    encoder = mirenc.load()
    for task, variant in tasks_with_heads(names, CompiledTask, exclude=True):
        # Tables that mirenc measured are here.
        data = task.load(HERE / task.name / (variant or "table") if isinstance(task, MeasuredTask) else None, variant)
        for row, end in (("both", ""), ("look_ahead", ".look_ahead"))[: 1 + isinstance(task, LoopTask)]:
            head = fit_head(task, data, encoder, variant=variant, row=row)
            folder = head.save(READY / f"{task.name}.{variant or 'all'}{end}")
            print(f"{folder.name}: {head.head.weights_}")


def fit_compiled(task: Task, variant: str, table: Path, files: list[Path], model: str | None, output: Path) -> str:
    """One head of a table of passes; how large it is and what it is made of."""
    encoder = mirenc.load(model)
    sources = read_all(files, encoder.name)
    if model_of(sources)["digest"] != encoder.features_digest:
        raise SystemExit(f"{files}: features are of another {encoder.name} than the installed one. Compute them anew")
    complete = task.load(table, variant)
    data, (features,) = features_of_table(table, task, complete, sources, ["both"])
    with threadpool_limits(1):
        head = fit_head(task, data, encoder, variant=variant, features=features)
    folder = head.save(output / f"{task.name}.{variant or 'all'}")
    size = sum(file.stat().st_size for file in folder.iterdir()) / 1e6
    lacking = (
        f"{len(complete) - len(data)} of {len(complete)} pieces have no features; " if len(data) < len(complete) else ""
    )
    return f"{folder.name}: {lacking}{size:.1f} MB, worth {head.evidence.worth}, {head.head.weights_}"


def main() -> None:
    """Train and write them all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tasks", nargs="*", help="names [default: all that ship a head]")
    parser.add_argument("--passes", type=Path, help="folder of a table of passes: its heads alone")
    parser.add_argument("--features", type=Path, nargs="+", help="files or folders")
    parser.add_argument("--model", help="name or folder [default: the default model]")
    parser.add_argument("-o", "--output", type=Path, default=READY, help="folder of the heads [default: the package's]")
    parser.add_argument("--jobs", type=int, default=1)
    arguments = parser.parse_args()
    if arguments.passes is None:
        fit_measured(arguments.tasks)
        return
    if not arguments.features:
        parser.error("heads of a table of passes need --features")
    fits = (
        delayed(fit_compiled)(*pair, arguments.passes, arguments.features, arguments.model, arguments.output)
        for pair in tasks_with_heads(arguments.tasks, CompiledTask)
    )
    for line in Parallel(n_jobs=arguments.jobs, return_as="generator")(fits):
        print(line)


if __name__ == "__main__":
    main()
