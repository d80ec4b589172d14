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


def drawn(folder: Path, pieces: list[dict[str, Any]]) -> dict[bool, list[tuple[int, str]]]:
    """Numbers and IR of the functions for training (False) and held out (True)."""
    known: dict[tuple[str, str], dict[str, int]] = defaultdict(dict)
    for number, piece in enumerate(pieces):
        if piece["level"] == "function":
            known[piece["project"], piece["file"].replace("/", "__")][piece["symbol"]] = number
    files = sorted(folder.glob("*/Oz-start/**/*.ll"))
    random.Random(0).shuffle(files)
    functions: dict[bool, list[tuple[int, str]]] = {False: [], True: []}
    for file in files:
        symbols = known.get((file.relative_to(folder).parts[0], file.name.removesuffix(".ll")))
        if not symbols:
            continue
        drawn_functions = functions[pieces[next(iter(symbols.values()))]["held_out"]]
        if len(drawn_functions) < MOST:
            for symbol, text in extract_functions(file.read_text(encoding="utf-8", errors="replace")):
                number = symbols.get(symbol)
                if number is not None and hash_of_ir(text) == pieces[number]["ir_hash"]:
                    drawn_functions.append((number, text))
    return {held_out: drawn_functions[:MOST] for held_out, drawn_functions in functions.items()}


def predicted(features: dict[bool, Array], truth: Array) -> Array:
    """What ridge regression says of the held-out functions, from the others' truth."""
    scale = StandardScaler().fit(features[False])
    head = RidgeCV(alphas=np.logspace(0, 5, 11)).fit(scale.transform(features[False]), truth)
    return np.asarray(head.predict(scale.transform(features[True])))


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ir", type=Path)
    parser.add_argument("table", type=Path)
    parser.add_argument("-o", "--output", type=Path, required=True)
    arguments = parser.parse_args()
    read = {
        name: pq.read_table(arguments.table / f"{name}.parquet").to_pylist() for name in ("pieces", "levels", "fires")
    }
    functions = drawn(arguments.ir, read["pieces"])
    rows = {held_out: [number for number, _ in numbered_texts] for held_out, numbered_texts in functions.items()}
    project = np.array([read["pieces"][number]["project"] for number in rows[True]])
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
    draws = [np.concatenate([groups[at] for at in rng.integers(len(groups), size=len(groups))]) for _ in range(DRAWS)]

    def beside(figure: Any) -> dict[str, Any]:
        every = np.arange(len(project))
        each = {model: round(float(figure(model, every)), 4) for model in MODELS}
        low, high = np.quantile([figure(MODELS[1], at) - figure(MODELS[0], at) for at in draws], (0.025, 0.975))
        return each | {
            "difference": [round(float(each[MODELS[1]] - each[MODELS[0]]), 4), round(low, 4), round(high, 4)]
        }

    record: dict[str, Any] = {
        "functions": {name: len(rows[held]) for name, held in (("training", False), ("held_out", True))}
    }
    record["projects"] = len(groups)
    size = {(row["piece"], row["level"]): np.log(row["code_bytes"]) for row in read["levels"] if row["status"] == "ok"}
    for level in LEVELS:
        truth = {held_out: np.array([size[number, level] for number in numbers]) for held_out, numbers in rows.items()}
        error = {model: np.abs(predicted(features[model], truth[False]) - truth[True]) for model in MODELS}
        record[f"bytes after -{level}, mean error of the logarithm"] = beside(lambda m, at, e=error: e[m][at].mean())
    fires = {(row["piece"], row["level"]): set(row["changed_by"]) for row in read["fires"]}
    for level in FIRING:
        passes = sorted({name for number in rows[False] for name in fires[number, level]})
        seen = {
            held_out: np.array([[name in fires[number, level] for name in passes] for number in numbers])
            for held_out, numbers in rows.items()
        }
        count = seen[True].sum(0)
        frequent = np.flatnonzero((count > LEAST) & (count < len(project) - LEAST))
        score = {model: predicted(features[model], seen[False].astype(float)) for model in MODELS}

        def auc(model: str, at: Array, score: Any = score, seen: Any = seen, frequent: Array = frequent) -> float:
            inside = [one for one in frequent if 0 < seen[True][at, one].sum() < len(at)]
            return float(np.mean([roc_auc_score(seen[True][at, one], score[model][at, one]) for one in inside]))

        record[f"passes of -{level} that fire, AUC"] = beside(auc)
    arguments.output.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(record, indent=1))


if __name__ == "__main__":
    main()
