"""Is a program found that solves the same task? mirenc, IR2Vec, an opcode histogram and a bag of statements.

What you get: `OUT.json` and `OUT.md`. A program's class is its task (`small_programs/`), and what is near is told by the
cosine of module vectors. MAP@R (Musgrave et al., "A Metric Learning Reality Check", 2020: precision at each right one
among the first R, R being how many right ones there are) and recall at 1, within C, within C++, from C to C++, and from
-O0 to -O2 (the program's own source left out); 95 % intervals by a bootstrap over tasks. Two tables:

- vectors as they are and centred, all tasks in one pool;
- maps fitted on half of the tasks without their names, and tested on the other half, both ways, over several halvings:
  ``whitened`` by their covariance, and ``level map``, which also knows which two vectors are one source at two levels.

How long: ten minutes on one core for mirenc-tiny and mirenc-base, most of it C++ at -O0.
On what: clang-19 with a C++ standard library, and a Python that has the IR2Vec wheel (``--ir2vec``; left out, no rows of
it). The wheel reads what LLVM <= 16 wrote: words that are newer, and that it does not look at, are taken out for it.

    python pretrain/compare_programs.py pretrain/programs --models mirenc-tiny mirenc-base --ir2vec python

The same file, run by that other Python as `compare_programs.py ir2vec LIST OUT`, writes IR2Vec's vectors; so nothing of
mirenc is imported at the top.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent / "small_programs"
LANGUAGES = {"c": ["-std=c11"], "cpp": ["-x", "c++", "-std=c++17"]}
LEVELS = {"O0": ["-O0", "-Xclang", "-disable-O0-optnone"], "O2": ["-O2"]}
# Queries and candidates of each setting, by language and level; of several pairs, all queries count alike.
SETTINGS = {
    "C": [(("c", "O0"), ("c", "O0"))],
    "C++": [(("cpp", "O0"), ("cpp", "O0"))],
    "C to C++": [(("c", "O0"), ("cpp", "O0"))],
    "-O0 to -O2": [(("c", "O0"), ("c", "O2")), (("cpp", "O0"), ("cpp", "O2"))],
}
MODES = {"sym": "IR2Vec symbolic", "fa": "IR2Vec flow-aware"}
BAG = "bag of statements"
FIGURES = ("map_at_r", "recall_at_1")
_SEED = 5
# What LLVM 17 to 19 write and 16 does not know: flags and attributes, none of which is an opcode, type or operand.
_NEWER = re.compile(
    r"\b(?:nneg|disjoint|dead_on_unwind|writable|nofpclass\([^)]*\)|range\([^)]*\)|inrange\([^)]*\)) |(?<=trunc )n[us]w "
)
_NAME = r'(?:[-a-zA-Z$._0-9]+|"[^"]*")'
_SYMBOL = re.compile(rf'[@$%]{_NAME}|"[^"]*"')  # or a string, which stays


# -- run by the Python that has IR2Vec -------------------------------------------------------------------------------
def write_ir2vec(listing: Path, output: Path) -> None:
    """Write a JSON line ``[file, mode, vector]`` for each file that IR2Vec reads."""
    import ir2vec

    with output.open("w", encoding="utf-8") as stream:
        for file in listing.read_text(encoding="utf-8").splitlines():
            for mode in MODES:
                stream.flush()
                # A process a file: IR2Vec may abort, and keeps the memory of the files before.
                child = os.fork()
                if child == 0:
                    try:
                        vector = ir2vec.getProgramVector(ir2vec.initEmbedding(file, mode, "p"))
                        stream.write(json.dumps([file, mode, list(vector)]) + "\n")
                        stream.flush()
                    finally:
                        os._exit(0)
                os.waitpid(child, 0)


# -- run by the Python that has mirenc -------------------------------------------------------------------------------
@dataclass(frozen=True)
class Program:
    """One module: a source at one level."""

    task: str
    number: str
    language: str
    level: str
    ir: Path

    @property
    def source(self) -> tuple[str, str, str]:
        """What its two levels share."""
        return self.task, self.number, self.language


@dataclass(frozen=True, eq=False)
class Method:
    """Vectors of all programs, one row each: as they are used, and the blocks that a map is fitted on, one map each."""

    name: str
    vectors: Any
    blocks: list[Any]


def compile_all(folder: Path, compiler: str, hide: bool) -> list[Program]:
    """All programs at all levels as text IR below a folder."""
    programs = []
    for source in sorted(path for path in FOLDER.glob("*/*") if path.suffix[1:] in LANGUAGES):
        for level, flags in LEVELS.items():
            language = source.suffix[1:]
            ir = folder / f"{source.parent.name}-{source.stem}-{language}-{level}.ll"
            command = [compiler, *LANGUAGES[language], *flags, "-S", "-emit-llvm", str(source), "-o", str(ir)]
            subprocess.run(command, check=True)
            if hide:
                ir.write_text(hide_names(ir.read_text(encoding="utf-8")), encoding="utf-8")
            programs.append(Program(source.parent.name, source.stem, language, level, ir))
    return programs


def hide_names(text: str) -> str:
    """IR whose functions, globals and types are called by numbers, in the order in which they are met.

    Local names follow from normalisation, and LLVM's own (``llvm.``) have to stay.
    """
    types = set(re.findall(rf"^%({_NAME}) = type", text, flags=re.MULTILINE))
    given: dict[str, str] = {}

    def hidden(match: re.Match[str]) -> str:
        sign, name = match[0][0], match[0][1:]
        if sign == '"' or name.startswith(("llvm.", '"llvm.')) or (sign == "%" and name not in types):
            return match[0]
        kind = "t" if sign == "%" else "g"  # a comdat has the name of its symbol
        return sign + given.setdefault(kind + name, f"{kind}{len(given)}")

    lines = text.splitlines(keepends=True)
    return "".join(_SYMBOL.sub(hidden, line) for line in lines if not line.startswith("source_filename"))


def ir2vec_methods(python: str, programs: list[Program]) -> tuple[list[Method], int]:
    """IR2Vec's vectors, zeros where it gave none; and of how many modules it gave none."""
    import numpy as np

    with tempfile.TemporaryDirectory() as folder:
        files = [str(Path(folder, program.ir.name)) for program in programs]
        for program, file in zip(programs, files, strict=True):
            Path(file).write_text(_NEWER.sub("", program.ir.read_text(encoding="utf-8")), encoding="utf-8")
        listing, output = Path(folder, "list"), Path(folder, "vectors")
        listing.write_text("".join(f"{file}\n" for file in files), encoding="utf-8")
        command = [python, __file__, "ir2vec", str(listing), str(output)]
        done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
        if done.returncode:
            raise SystemExit(f"{python}: IR2Vec did not run: {done.stderr.strip().splitlines()[-1]}")
        rows = [json.loads(line) for line in output.read_text(encoding="utf-8").splitlines()]
    if not rows:
        raise SystemExit(f"{python}: IR2Vec gave no vectors for {len(programs)} modules")
    vectors = {mode: np.zeros((len(files), len(rows[0][2]))) for mode in MODES}
    for file, mode, vector in rows:
        vectors[mode][files.index(file)] = vector
    missing = sum(not any(matrix[row].any() for matrix in vectors.values()) for row in range(len(files)))
    return [Method(title, vectors[mode], [vectors[mode]]) for mode, title in MODES.items()], missing


def baseline_methods(programs: list[Program]) -> list[Method]:
    """What needs no model: opcodes counted, and statements by tf-idf."""
    from collections import Counter

    import numpy as np
    import scipy.sparse as sp

    from mirenc import read_ir
    from mirenc.ir import statements_of
    from mirenc.pretraining.evaluation.retrieval import bag_vectors

    opcodes, statements = [], []
    for program in programs:
        module = read_ir(program.ir)
        opcodes.append(Counter(module.forms[form].opcode for form in module.arrays.form))
        text = statements_of(module)
        statements.append(Counter(text[row] for row in range(text.first_instruction, len(text))))
    counts = np.log1p(bag_vectors(opcodes).toarray())
    words = bag_vectors(statements)
    having = np.bincount(words.indices, minlength=words.shape[1])
    weighed = sp.csr_matrix(words.log1p() @ sp.diags(np.log(len(programs) / np.maximum(having, 1))))
    # Rotated into as many columns as there are programs: all cosines and covariances stay.
    variance, directions = np.linalg.eigh((weighed @ weighed.T).toarray())
    bag = directions * np.sqrt(np.maximum(variance, 0))
    return [Method("opcode histogram, log1p", counts, [counts]), Method(BAG, bag, [bag])]


def model_methods(name: str, programs: list[Program], cache: str) -> list[Method]:
    """Text, graph and both of a mirenc model; a map is fitted on text and graph apart, as the shipped one is."""
    import numpy as np

    from mirenc.encoder import load

    encoder = load(name, cache=cache)
    parts = ("text", "graph", "both")

    def embedded(whiten: bool) -> dict[str, Any]:
        found = [encoder.embed_parts(program.ir, whiten=whiten) for program in programs]
        return {part: np.concatenate([embedding.part(part) for embedding in found]) for part in parts}

    mapped, plain = embedded(True), embedded(False)
    rest = plain["both"][:, plain["text"].shape[1] + plain["graph"].shape[1] :]
    blocks = {"text": [plain["text"]], "graph": [plain["graph"]], "both": [plain["text"], plain["graph"]]}
    if rest.shape[1]:
        blocks["both"].append(rest)
    return [Method(f"{encoder.name} {part}", mapped[part], blocks[part]) for part in parts]


def fitted(method: Method, rows: Any, pairs: Any) -> Any:
    """A method's vectors under maps fitted on some rows; pairs (P, 2) number those rows. Shapes: (n,), -> (n, D)."""
    import numpy as np

    from mirenc.model.pooling import fit_whitening

    mapped = []
    for block in method.blocks:
        centred = block - block[rows].mean(0)
        # In the span of the rows: of other directions they know nothing.
        _, scale, directions = np.linalg.svd(centred[rows].astype(np.float64), full_matrices=False)
        inside = centred @ directions[scale > scale[0] * 1e-4].T
        mean, matrix = fit_whitening(inside[rows], pairs)
        mapped.append((inside - mean) @ matrix)
    return np.hstack(mapped)


def query_figures(
    vectors: Any, programs: list[Program], setting: str, tasks: set[str]
) -> dict[int, tuple[float, float]]:
    """MAP@R and recall at 1 of each query of a setting, among programs of some tasks, by its row."""
    import numpy as np

    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit = vectors / np.maximum(length, 1e-12)
    figures = {}
    for asked, answered in SETTINGS[setting]:
        inside = [row for row, program in enumerate(programs) if program.task in tasks]
        queries = [row for row in inside if (programs[row].language, programs[row].level) == asked]
        candidates = [row for row in inside if (programs[row].language, programs[row].level) == answered]
        for query in queries:
            others = [row for row in candidates if programs[row].source != programs[query].source]
            right = np.array([programs[row].task == programs[query].task for row in others])
            score = unit[others] @ unit[query]
            ranked = right[np.lexsort((right, -score.round(9)))]  # of equals, the wrong ones first
            first = ranked[: right.sum()]
            precision = np.cumsum(first) / np.arange(1, len(first) + 1)
            figures[query] = (float((precision * first).sum() / len(first)), float(ranked[0]))
    return figures


def figures_row(found: dict[str, Any], bag: dict[str, Any], programs: list[Program]) -> dict[str, Any]:
    """Mean, interval, and interval of the difference to the bag of statements, of each setting and figure."""
    import numpy as np

    from mirenc.metrics import group_interval

    row: dict[str, Any] = {}
    for setting, by_query in found.items():
        task = np.array([programs[query].task for query in by_query])
        row[setting] = {}
        for column, figure in enumerate(FIGURES):
            values = np.array([numbers[column] for numbers in by_query.values()])
            against = values - np.array([bag[setting][query][column] for query in by_query])
            row[setting][figure] = {
                "mean": float(values.mean()),
                "interval": group_interval(values, task),
                "against_bag": group_interval(against, task),
            }
    return row


def pooled_rows(methods: list[Method], programs: list[Program]) -> list[dict[str, Any]]:
    """First table: all tasks in one pool."""
    tasks = {program.task for program in programs}
    found = {}
    for method in methods:
        centred = method.vectors - method.vectors.mean(0)
        for name, vectors in (("as it is", method.vectors), ("centred", centred)):
            found[method.name, name] = {s: query_figures(vectors, programs, s, tasks) for s in SETTINGS}
    return described(found, programs)


def halved_rows(methods: list[Method], programs: list[Program], halvings: int) -> list[dict[str, Any]]:
    """Second table: maps of the other half of the tasks; a query's figures are means over the halvings."""
    import numpy as np

    tasks = sorted({program.task for program in programs})
    generator = np.random.default_rng(_SEED)
    halves = []
    for _ in range(halvings):
        order = [tasks[row] for row in generator.permutation(len(tasks))]
        middle = len(order) // 2
        halves += [(set(order[:middle]), set(order[middle:])), (set(order[middle:]), set(order[:middle]))]
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for method in methods:
        several: dict[str, dict[str, dict[int, list[Any]]]] = {}
        for fit, test in halves:
            rows = np.array([row for row, program in enumerate(programs) if program.task in fit])
            # Levels of one source stand side by side.
            pairs = np.arange(len(rows)).reshape(-1, 2)
            treated = {
                "as it is": method.vectors,
                "whitened": fitted(method, rows, None),
                "level map": fitted(method, rows, pairs),
            }
            for name, vectors in treated.items():
                for setting in SETTINGS:
                    kept = several.setdefault(name, {}).setdefault(setting, {})
                    for query, numbers in query_figures(vectors, programs, setting, test).items():
                        kept.setdefault(query, []).append(numbers)
        for name, by_setting in several.items():
            found[method.name, name] = {
                setting: {query: tuple(np.mean(numbers, axis=0)) for query, numbers in by_query.items()}
                for setting, by_query in by_setting.items()
            }
    return described(found, programs)


def described(found: dict[tuple[str, str], dict[str, Any]], programs: list[Program]) -> list[dict[str, Any]]:
    """Rows of a table; each is compared with the bag of statements under the same treatment."""
    return [
        {"method": method, "vectors": vectors, "settings": figures_row(figures, found[BAG, vectors], programs)}
        for (method, vectors), figures in found.items()
    ]


def markdown(record: dict[str, Any]) -> str:
    """Both tables: MAP@R with its interval, and recall at 1, in percent."""
    tasks, sources = record["tasks"], record["sources"]
    head = f"{sources} programs of {tasks} tasks, {record['compiler']}, names {'hidden' if record['hidden'] else 'as written'}."
    lines = [
        f"{head} MAP@R with its 95 % interval over tasks / recall at 1, in percent. `+`: MAP@R above the bag of statements",
        "under the same treatment by more than the interval of the difference; `-`: below.",
    ]
    titles = {
        "pooled": "All tasks in one pool",
        "halved": f"Maps of the other half of the tasks, {record['halvings']} halvings both ways, pools of {tasks // 2} tasks",
    }
    for table, title in titles.items():
        lines += [
            "",
            f"**{title}**",
            "",
            f"| Method | Vectors | {' | '.join(SETTINGS)} |",
            "|---" * (2 + len(SETTINGS)) + "|",
        ]
        for row in record[table]:
            cells = []
            for setting in SETTINGS:
                score, first = (row["settings"][setting][figure] for figure in FIGURES)
                low, high = (100 * end for end in score["interval"])
                below, above = score["against_bag"]
                sign = " +" if below > 0 else " -" if above < 0 else ""
                cells.append(f"{100 * score['mean']:.1f} [{low:.0f}, {high:.0f}]{sign} / {100 * first['mean']:.0f}")
            lines.append(f"| {row['method']} | {row['vectors']} | {' | '.join(cells)} |")
    if record["without_ir2vec"]:
        lines += [
            "",
            f"IR2Vec gave no vector for {record['without_ir2vec']} of {2 * sources} modules: they count as not found.",
        ]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Command line."""
    if sys.argv[1:2] == ["ir2vec"]:
        write_ir2vec(Path(sys.argv[2]), Path(sys.argv[3]))
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path, help="name of the results, without suffix")
    parser.add_argument("--models", nargs="*", default=["mirenc-base"], help="mirenc model names or folders")
    parser.add_argument("--ir2vec", help="Python that has IR2Vec")
    parser.add_argument("--compiler", default="clang-19")
    parser.add_argument("--hide-names", action="store_true", help="call functions, globals and types by numbers")
    parser.add_argument("--halvings", type=int, default=5)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as cache:
        programs = compile_all(Path(folder), given.compiler, given.hide_names)
        methods = baseline_methods(programs)
        missing = 0
        if given.ir2vec:
            peers, missing = ir2vec_methods(given.ir2vec, programs)
            methods += peers
        for model in given.models:
            methods += model_methods(model, programs, cache)
    record = {
        "tasks": len({program.task for program in programs}),
        "sources": len({program.source for program in programs}),
        "compiler": given.compiler,
        "hidden": given.hide_names,
        "halvings": given.halvings,
        "without_ir2vec": missing,
        "pooled": pooled_rows(methods, programs),
        "halved": halved_rows(methods, programs, given.halvings),
    }
    given.out.with_suffix(".json").write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    given.out.with_suffix(".md").write_text(markdown(record), encoding="utf-8")
    print(markdown(record), end="")


if __name__ == "__main__":
    main()
