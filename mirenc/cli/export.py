"""``mirenc export``: a head as C, an encoder as ONNX."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Argument, Option

from mirenc.base.errors import ConfigError, HeadError, needs
from mirenc.cli import common
from mirenc.cli.fit import describe_worth

if TYPE_CHECKING:
    from mirenc.base.arrays import Float64
    from mirenc.decide.task_head import TaskHead

_WHAT = "A head, such as vectorization.look_ahead, a model, or a folder."
_C = "Write a head as NAME.c, and NAME_test.c, which compares its answers with Python's."
_ONNX = "Write a model as NAME.text.onnx and NAME.graph.onnx."


def export(
    what: Annotated[str, Argument(metavar="HEAD|MODEL", help=_WHAT)],
    c: Annotated[Path | None, Option("--c", metavar="FOLDER", help=_C)] = None,
    onnx: Annotated[Path | None, Option("--onnx", metavar="FOLDER", help=_ONNX)] = None,
) -> None:
    """Write a head as one file of C99 without dependencies, or the encoders of a model as ONNX.

    The C code gives the answers of the head: a choice, and a score for each possible choice. A comment at its top says
    how to call it. Heads that need vectors of a model cannot be exported as C; heads on plain numbers about code can.

    mirenc export vectorization.look_ahead --c out && cc -O2 out/*.c -lm -o test && ./test
    mirenc export mirenc-fast --onnx out && python -m mirenc.encoder.onnx_runtime out mirenc-fast foo.ll
    """
    from mirenc.encoder.weights import list_models

    common.check_folders(c, onnx)
    is_model = what in list_models(failed=lambda error: None) or (Path(what) / "config.json").is_file()
    folder, name, option = (onnx, "model", "--onnx") if is_model else (c, "head", "--c")
    if not is_model and onnx is not None:
        raise typer.BadParameter(f"heads have no ONNX. Type: mirenc predict {what.partition('.')[0]} FILE --json")
    if folder is None or (c is not None and onnx is not None):
        raise typer.BadParameter(f"{what} is taken for a {name}. Type: {option} FOLDER", param_hint=option)
    if is_model:
        _export_model(what, folder)
    else:
        _export_head(what, folder)


def _export_model(model_name: str, folder: Path) -> None:
    from mirenc.encoder.weights import load_files

    files = load_files(model_name)
    if files.config.graph.kind != "directed":
        raise ConfigError(f"the {files.config.graph.kind} encoder of {model_name} has no ONNX. Export mirenc-fast")
    with needs("train", "exporting an encoder needs torch"):
        from mirenc.model.onnx_export import export_encoders
    for path in export_encoders(files.config, files.weights, folder, files.name):
        common.say(f"wrote {path}")


def _export_head(head_name: str, folder: Path) -> None:
    import numpy as np

    from mirenc.decide.custom_head import CUSTOM, CustomHead
    from mirenc.decide.estimators.saved_heads import load_head
    from mirenc.decide.export.c_source import c_source, c_test, pair_head
    from mirenc.decide.features.look_ahead_features import OLDER_NAMES, SETTING_NAMES
    from mirenc.decide.task_head import TaskHead
    from mirenc.tools.profile.branches import FEATURES
    from mirenc.tools.profile.loops import LOOP_FEATURES
    from mirenc.tools.profile.static_profile import TRIP_CLASSES, StaticProfile

    name = re.sub(r"\W|^(?=\d)", "_", Path(head_name).resolve().name, flags=re.ASCII)
    description, settings = "", None
    features: Sequence[str]
    choices: Sequence[str] = ()
    setting_features: Sequence[str] = ()
    if head_name in ("branch_probability", "trip_count"):
        profile = StaticProfile.load()
        description = profile.worth.get(head_name, "")
        is_branch = head_name == "branch_probability"
        head, features = (profile.branches, FEATURES) if is_branch else (profile.loops, LOOP_FEATURES)
        choices = ("first way", "second way") if is_branch else TRIP_CLASSES
        low, high = _range_of_cuts(head)
    elif Path(head_name).is_dir() and "task" not in (contents := load_head(head_name))[1]:
        head, metadata = contents
        if CUSTOM in metadata:
            raise _vector_head_error(head_name, CustomHead.load(head_name).facts.model, head, head_name)
        features = metadata.get("features") or [f"feature_{column}" for column in range(head.n_features_in_)]
        low, high = _range_of_cuts(head)
    else:
        task_head = TaskHead.load(head_name)
        features, low, high = _head_columns(task_head, head_name)
        head, description, space = task_head.head, describe_worth(task_head), task_head.space or task_head.task.space
        choices = space.names if space is not None else task_head.label_names
        names = SETTING_NAMES if "taken" in task_head.task.context.names else OLDER_NAMES
        setting_features = [*(task_head.setting_encoder.knobs if task_head.setting_encoder else ()), *names]
    if (pairs := pair_head(head)) is not None:
        spread = np.where(np.isfinite(pairs.setting_spread_), pairs.setting_spread_, 0.0)
        settings = pairs.setting_middle_ + spread * np.random.default_rng(0).normal(size=(head.n_choices_, len(spread)))
    source = c_source(head, name, features, choices, description, setting_features)
    (folder / f"{name}.c").write_text(source, encoding="utf-8")
    (folder / f"{name}_test.c").write_text(c_test(head, name, low, high, settings), encoding="utf-8")
    common.say(f"wrote {folder / name}.c, and {name}_test.c, which compares its answers with Python's")


def _range_of_cuts(head: Any) -> tuple[Float64, Float64]:
    """A range of each column of a head: where its trees cut, at least -1 to 1."""
    import numpy as np

    low, high = np.full(head.n_features_in_, -1.0), np.full(head.n_features_in_, 1.0)
    if (forest := getattr(head, "forest_", None)) is not None:
        column, finite = forest.column[forest.column >= 0], np.isfinite(forest.cut)
        np.minimum.at(low, column[finite], forest.cut[finite])
        np.maximum.at(high, column[finite], forest.cut[finite])
    return low, high


def _head_columns(head: TaskHead, name: str) -> tuple[list[str], Float64, Float64]:
    """Names of a head's columns, and the range of each in training. Raises HeadError: C cannot make them."""
    import numpy as np

    from mirenc.decide.features.look_ahead_features import DEFAULT_NAMES

    task, reach = head.task, head.reach
    if head.row != "look_ahead":
        raise _vector_head_error(name, head.model, head.head, task.name)
    low, high = (
        np.concatenate(ends) for ends in ((reach.low, reach.code.min(axis=0)), (reach.high, reach.code.max(axis=0)))
    )
    context = task.context.names
    if len(context) != len(reach.low):  # the task makes several columns of one
        context = tuple(f"{task.name} context, encoded [{column}]" for column in range(len(reach.low)))
    return [*context, *DEFAULT_NAMES], low, high


def _vector_head_error(name: str, model: str, head: Any, question: str) -> HeadError:
    return HeadError(
        f"{name} takes a vector of {model} ({head.n_features_in_:,} numbers in all), which no C program can make. To "
        f"use it, type: mirenc predict {question} FILE --json. Heads that can be exported: vectorization.look_ahead, "
        "branch_probability, trip_count, and heads of your own without a task"
    )
