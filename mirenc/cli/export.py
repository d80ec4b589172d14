"""``mirenc export``: a head as C or ONNX, an encoder as ONNX, for programs that have no Python."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Argument, Option

from mirenc.base.errors import needs
from mirenc.cli import common
from mirenc.cli.fit import worth_of

if TYPE_CHECKING:
    from mirenc.base.arrays import Float64
    from mirenc.decide.task_head import TaskHead


def export(
    what: Annotated[
        str, Argument(metavar="HEAD|MODEL", help="A shipped head, such as device_mapping.nvidia, a model, or a folder.")
    ],
    c: Annotated[
        Path | None, Option("--c", metavar="FOLDER", help="Write NAME.c there, and NAME_test.c, which compares.")
    ] = None,
    onnx: Annotated[
        Path | None, Option("--onnx", metavar="FOLDER", help="Write NAME.onnx there, in double precision.")
    ] = None,
) -> None:
    """Write a head as one file of C99 without dependencies, or a head or an encoder as ONNX.

    mirenc export device_mapping.nvidia --c out && cc -O2 out/*.c -lm -o test && ./test

    Both answer as the head does, with a choice and a score for each; how to ask stands in the first lines of the C.
    `mirenc predict` takes the default instead where held-out answers like it did not pay. Of a model, its encoders are
    written: token ids to vectors of statements, and these and a graph to vectors of nodes.
    """
    from mirenc.encoder.weights import list_models

    common.check_folders(c, onnx)
    if what in list_models(failed=lambda error: None) or (Path(what) / "config.json").is_file():
        if onnx is None or c is not None:
            raise typer.BadParameter(f"{what} is a model, which is written as ONNX alone. Type: --onnx FOLDER")
        with needs("train", "exporting an encoder needs torch"):
            from mirenc.model.onnx_export import export_encoders
        from mirenc.encoder.weights import load_files

        files = load_files(what)
        for path in export_encoders(files.config, files.weights, onnx, files.name):
            common.say(f"wrote {path}")
        return
    if c is None and onnx is None:
        raise typer.BadParameter("say what to write: --c FOLDER or --onnx FOLDER", param_hint="--c")
    _export_head(what, c, onnx)


def _export_head(what: str, c: Path | None, onnx: Path | None) -> None:
    import numpy as np

    from mirenc.decide.estimators.saved_heads import load_head
    from mirenc.decide.export.c_source import c_source, c_test
    from mirenc.decide.export.formula import pair_head
    from mirenc.decide.task_head import TaskHead
    from mirenc.tools.profile.branches import FEATURES
    from mirenc.tools.profile.loops import LOOP_FEATURES
    from mirenc.tools.profile.static_profile import TRIP_CLASSES, StaticProfile

    about, settings, name = "", None, re.sub(r"\W|^(?=\d)", "_", Path(what).resolve().name, flags=re.ASCII)
    features: Sequence[str]
    choices: Sequence[str] = ()
    if what in ("branch_probability", "trip_count"):
        profile = StaticProfile.load()
        about, head = profile.worth.get(what, ""), profile.branches
        features, choices = FEATURES, ("first way", "second way")
        if what == "trip_count":
            head, features, choices = profile.loops, LOOP_FEATURES, TRIP_CLASSES
        low, high = _cuts(head)
    elif Path(what).is_dir() and "task" not in (kept := load_head(what))[1]:
        head, extra = kept
        features = extra.get("features") or [f"feature_{column}" for column in range(head.n_features_in_)]
        low, high = _cuts(head)
    else:
        trained = TaskHead.load(what)
        head, about = trained.head, worth_of(trained)
        features, low, high = _columns(trained)
        space = trained.space or trained.task.space
        choices = trained.label_names if space is None else space.names
    if (pairs := pair_head(head)) is not None:
        spread = np.where(np.isfinite(pairs.setting_spread_), pairs.setting_spread_, 0.0)
        settings = pairs.setting_middle_ + spread * np.random.default_rng(0).normal(size=(head.n_choices_, len(spread)))
    if c is not None:
        (c / f"{name}.c").write_text(c_source(head, name, features, choices, about), encoding="utf-8")
        (c / f"{name}_test.c").write_text(c_test(head, name, low, high, settings), encoding="utf-8")
        common.say(f"wrote {c / name}.c, and {name}_test.c, which compares it with Python's answers")
    if onnx is not None:
        from mirenc.decide.export.onnx_model import onnx_model

        (onnx / f"{name}.onnx").write_bytes(onnx_model(head, features, choices).SerializeToString())
        common.say(f"wrote {onnx / name}.onnx")


def _cuts(head: Any) -> tuple[Float64, Float64]:
    """A range of each column of a head: where its trees cut, at least -1 to 1."""
    import numpy as np

    low, high = np.full(head.n_features_in_, -1.0), np.full(head.n_features_in_, 1.0)
    if (forest := getattr(head, "forest_", None)) is not None:
        column, finite = forest.column[forest.column >= 0], np.isfinite(forest.cut)
        np.minimum.at(low, column[finite], forest.cut[finite])
        np.maximum.at(high, column[finite], forest.cut[finite])
    return low, high


def _columns(trained: TaskHead) -> tuple[list[str], Float64, Float64]:
    """Names of a head's columns, and the range of each in training."""
    import numpy as np

    from mirenc.encoder.embedding import vector_blocks
    from mirenc.encoder.weights import load_files

    reach, config = trained.reach, load_files(trained.model).config
    parts = {"text": ("text",), "graph": ("graph",), "both": ("text", "graph")}.get(trained.row, ())
    purpose = "search" if config.taught is None else "features"  # as `mirenc.decide.features.code_features` has them
    blocks = [block for part in parts for block in vector_blocks(config, purpose, part).items()]
    if trained.row == "both" and config.taught is not None:
        blocks.append(("taught", config.taught.width))
    kernels = reach.start + reach.step.astype(np.float64) * reach.kernels
    low, high = (np.concatenate(one) for one in ((reach.low, kernels.min(axis=0)), (reach.high, kernels.max(axis=0))))
    context = list(trained.task.context.names)
    code = [f"{name}_{column}" for name, width in blocks for column in range(width)]
    code += [f"function_{name}" for name in code] if trained.task.level == "loop" else []
    if len(context) != len(reach.low):  # one is several columns
        context = [f"context_{column}" for column in range(len(reach.low))]
    if len(code) != kernels.shape[1]:
        code = [f"code_{column}" for column in range(kernels.shape[1])]
    return context + code, low, high
