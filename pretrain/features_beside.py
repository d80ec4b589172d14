"""What a compiler answers about functions, told by the features of two models, one beside the other.

What you get: `OUT.json`: errors in the logarithm of bytes after each level, and the AUC of which passes fire, on
functions of projects that the table holds out, by ridge regression on functions of the others; and what the second
model has over the first, with a 95 % interval by a bootstrap over projects.
How long: ten minutes of one core.
On what: the IR of `downstream/passes/README.md` (PROJECT/Oz-start/x.ll), and its table:

    python pretrain/features_beside.py IR downstream/passes/table -o pretrain/features_beside.json

A function counts whose IR has the hash that the table knows; 4,000 each are taken at most, of files in a drawn order.
"""

from __future__ import annotations

import argparse
import json
import random
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
from numpy.typing import NDArray
from sklearn.linear_model import RidgeCV
from sklearn.metrics import roc_auc_score
from sklearn.preprocessing import StandardScaler

from mirenc.decide.tables.compiled import hash_of_ir
from mirenc.encoder import load
from mirenc.llvm.passes.extract import extract_functions

MODELS = ("mirenc-fast", "mirenc-search")
MOST, LEAST, DRAWS = 4000, 20, 200
LEVELS, FIRING = ("Oz", "O3", "O0"), ("Oz", "O3")

Array = NDArray[Any]


def draw_functions(folder: Path, pieces: list[dict[str, Any]]) -> dict[bool, list[tuple[int, str]]]:
    """Numbers and IR of the functions for training (False) and held out (True)."""
    numbers_by_file: dict[tuple[str, str], dict[str, int]] = defaultdict(dict)
    for number, piece in enumerate(pieces):
        if piece["level"] == "function":
            numbers_by_file[piece["project"], piece["file"].replace("/", "__")][piece["symbol"]] = number
    files = sorted(folder.glob("*/Oz-start/**/*.ll"))
    random.Random(0).shuffle(files)
    functions: dict[bool, list[tuple[int, str]]] = {False: [], True: []}
    for file in files:
        symbols = numbers_by_file.get((file.relative_to(folder).parts[0], file.name.removesuffix(".ll")))
        if not symbols:
            continue
        drawn_functions = functions[pieces[next(iter(symbols.values()))]["held_out"]]
        if len(drawn_functions) < MOST:
            for symbol, text in extract_functions(file.read_text(encoding="utf-8", errors="replace")):
                number = symbols.get(symbol)
                if number is not None and hash_of_ir(text) == pieces[number]["ir_hash"]:
                    drawn_functions.append((number, text))
    return {held_out: drawn_functions[:MOST] for held_out, drawn_functions in functions.items()}


def predict(features: dict[bool, Array], truth: Array) -> Array:
    """What ridge regression says of the held-out functions, from the others' truth."""
    scale = StandardScaler().fit(features[False])
    ridge = RidgeCV(alphas=np.logspace(0, 5, 11)).fit(scale.transform(features[False]), truth)
    return np.asarray(ridge.predict(scale.transform(features[True])))


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ir", type=Path)
    parser.add_argument("table", type=Path)
    parser.add_argument("-o", "--output", type=Path, required=True)
    arguments = parser.parse_args()
    data = {
        name: pq.read_table(arguments.table / f"{name}.parquet").to_pylist() for name in ("pieces", "levels", "fires")
    }
    functions = draw_functions(arguments.ir, data["pieces"])
    rows = {held_out: [number for number, _ in numbered_texts] for held_out, numbered_texts in functions.items()}
    project = np.array([data["pieces"][number]["project"] for number in rows[True]])
    groups = [np.flatnonzero(project == name) for name in np.unique(project)]
    features: dict[str, dict[bool, Array]] = {}
    for model in MODELS:
        encoder = load(model, cache=False)
        features[model] = {
            held_out: np.stack(
                [
                    outcome.embedded().vector[0]  # type: ignore[union-attr]
                    for outcome in encoder.embed_stream([text for _, text in numbered_texts], purpose="features")
                ]
            )
            for held_out, numbered_texts in functions.items()
        }
    rng = np.random.default_rng(0)
    draws = [np.concatenate([groups[i] for i in rng.integers(len(groups), size=len(groups))]) for _ in range(DRAWS)]

    def compare(figure: Any) -> dict[str, Any]:
        all_rows = np.arange(len(project))
        figures = {model: round(float(figure(model, all_rows)), 4) for model in MODELS}
        low, high = np.quantile([figure(MODELS[1], draw) - figure(MODELS[0], draw) for draw in draws], (0.025, 0.975))
        return figures | {
            "difference": [round(float(figures[MODELS[1]] - figures[MODELS[0]]), 4), round(low, 4), round(high, 4)]
        }

    record: dict[str, Any] = {
        "functions": {name: len(rows[is_held_out]) for name, is_held_out in (("training", False), ("held_out", True))}
    }
    record["projects"] = len(groups)
    size = {(row["piece"], row["level"]): np.log(row["code_bytes"]) for row in data["levels"] if row["status"] == "ok"}
    for level in LEVELS:
        truth = {held_out: np.array([size[number, level] for number in numbers]) for held_out, numbers in rows.items()}
        error = {model: np.abs(predict(features[model], truth[False]) - truth[True]) for model in MODELS}
        record[f"bytes after -{level}, mean error of the logarithm"] = compare(lambda m, i, e=error: e[m][i].mean())
    fires = {(row["piece"], row["level"]): set(row["changed_by"]) for row in data["fires"]}
    for level in FIRING:
        passes = sorted({name for number in rows[False] for name in fires[number, level]})
        fired = {
            held_out: np.array([[name in fires[number, level] for name in passes] for number in numbers])
            for held_out, numbers in rows.items()
        }
        count = fired[True].sum(0)
        frequent = np.flatnonzero((count > LEAST) & (count < len(project) - LEAST))
        score = {model: predict(features[model], fired[False].astype(float)) for model in MODELS}

        def auc(model: str, draw: Array, score: Any = score, fired: Any = fired, frequent: Array = frequent) -> float:
            varying = [col for col in frequent if 0 < fired[True][draw, col].sum() < len(draw)]
            return float(np.mean([roc_auc_score(fired[True][draw, col], score[model][draw, col]) for col in varying]))

        record[f"passes of -{level} that fire, AUC"] = compare(auc)
    arguments.output.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(record, indent=1))


if __name__ == "__main__":
    main()
