"""Which vocabulary size: what it costs in parameters and what it saves in tokens.

    python tokenizer/study.py IR_FOLDER -o tokenizer [--every 8] [--sizes 2048,4096,8192,16384,28672,49152]

Statements of every N-th module; the tokenizers are trained on the distinct ones of nine projects in ten and measured on
the distinct ones of the rest. Writes study.json and study.svg, prints the table of README.md. Some minutes on one core.
"""

from __future__ import annotations

import argparse
import json
import random
from pathlib import Path

from matplotlib.figure import Figure
from rich.progress import track

from mirenc.base.errors import MirencError
from mirenc.llvm import read_ir, statements_of
from mirenc.llvm.inputs.file_kind import find_inputs
from mirenc.model.config import PRESETS, weight_shapes
from mirenc.model.tokenizer import TokenizerConfig, train_tokenizer


def statements(folder: Path, every: int) -> tuple[set[str], set[str], int, int]:
    """Distinct statements of training and held-out projects, modules and projects read."""
    files = find_inputs(folder)[::every]
    projects = sorted({path.relative_to(folder).parts[0] for path in files})
    held = set(random.Random(0).sample(projects, max(1, len(projects) // 10)))
    train: set[str] = set()
    test: set[str] = set()
    modules = 0
    for path in track(files, "reading"):
        try:
            found = statements_of(read_ir(path), "locals").texts
        except MirencError:
            continue
        modules += 1
        (test if path.relative_to(folder).parts[0] in held else train).update(found)
    return train, test - train, modules, len(projects)


def parameters(vocabulary: int) -> int:
    """Parameters of the base preset with another vocabulary."""
    base = PRESETS["base"]
    config = base.model_copy(
        update={
            "tokenizer": base.tokenizer.model_copy(update={"vocab_size": vocabulary}),
            "pooling": base.pooling.model_copy(update={"whiten": False}),
        }
    )
    total = 0
    for shape in weight_shapes(config).values():
        size = 1
        for length in shape:
            size *= length
        total += size
    return total


def main() -> None:
    """Read, train, measure, write."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("ir", type=Path)
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--every", type=int, default=8)
    parser.add_argument("--sizes", default="2048,4096,8192,16384,28672,49152")
    args = parser.parse_args()
    train, test, modules, projects = statements(args.ir, args.every)
    words = sum(len(text.split()) for text in test)
    rows = []
    for size in [int(size) for size in args.sizes.split(",")]:
        tokenizer = train_tokenizer(sorted(train), TokenizerConfig(vocab_size=size))
        report = tokenizer.report(sorted(test))
        tokens = report.mean_tokens * report.statements
        rows.append(
            {
                "vocabulary": tokenizer.vocab_size,
                "tokens_per_statement": round(report.mean_tokens, 2),
                "tokens_per_word": round(tokens / words, 3),
                "unk_share": report.unk_rate,
                "truncated_share": round(report.truncation_rate, 5),
                "parameters": parameters(tokenizer.vocab_size),
            }
        )
        print(rows[-1], flush=True)
    record = {"modules": modules, "projects": projects, "train": len(train), "held_out": len(test), "rows": rows}
    (args.output / "study.json").write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    figure = Figure(figsize=(7, 4), layout="constrained")
    axis = figure.subplots()
    sizes = [row["vocabulary"] for row in rows]
    axis.plot(sizes, [row["tokens_per_statement"] for row in rows], marker="o", color="#4477aa")
    axis.set_xscale("log", base=2)
    axis.set_xlabel("vocabulary")
    axis.set_ylabel("tokens a held-out statement", color="#4477aa")
    other = axis.twinx()
    other.plot(sizes, [row["parameters"] / 1e6 for row in rows], marker="s", color="#cc6677")
    other.set_ylabel("million parameters (base)", color="#cc6677")
    figure.savefig(args.output / "study.svg")
    print("| Vocabulary | Tokens a statement | Tokens a word | [UNK] | Longer than 64 | Parameters (base) |")
    print("|---|---|---|---|---|---|")
    for row in rows:
        print(
            f"| {row['vocabulary']:,} | {row['tokens_per_statement']:.1f} | {row['tokens_per_word']:.2f} | "
            f"{row['unk_share']:.3%} | {row['truncated_share']:.2%} | {row['parameters'] / 1e6:.1f} M |"
        )


if __name__ == "__main__":
    main()
