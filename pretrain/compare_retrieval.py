"""Function retrieval O0 -> O2: mirenc, IR2Vec, an opcode histogram and a bag of statements on the same functions.

What you get: `OUT.json` and `OUT.md`, recall at 1 and 10 and mean reciprocal rank of each method, with its vectors

- as they are: mirenc's are mapped already, by a map fitted on training projects at two levels (`mirenc.model.pooling`);
- centred, and whitened by the mean and covariance of the pool's own vectors;
- by a level map: what mirenc's map is, fitted for every method alike on the functions of the pool's other projects.

How long: one minute for 400 files on one core.
On what: IR as `PROJECT/O0/x.ll` and `PROJECT/O2/x.ll`, and a Python that has the IR2Vec wheel
(`pip install IR2Vec==2.1.1` in an environment of its own). The wheel reads what LLVM <= 16 wrote, so newer files are
left out for everybody.

    python pretrain/compare_retrieval.py IR OUT --ir2vec ENVIRONMENT/bin/python --projects cminpack erfa flac

The same file, run by that other Python as `compare_retrieval.py ir2vec LIST OUT`, writes IR2Vec's vectors; so nothing
of mirenc is imported at the top.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

MODES = {"sym": "IR2Vec symbolic", "fa": "IR2Vec flow-aware"}
NEWEST = 16  # LLVM that the IR2Vec wheel reads
_IDENT = re.compile(rb"clang version (\d+)")


# -- run by the Python that has IR2Vec -------------------------------------------------------------------------------
def write_ir2vec(listing: Path, output: Path) -> None:
    """Write a JSON line ``[file, mode, {function: vector}]`` for each file that IR2Vec reads."""
    import ir2vec

    with output.open("w", encoding="utf-8") as stream:
        for file in listing.read_text(encoding="utf-8").splitlines():
            for mode in MODES:
                stream.flush()
                # A process a file: IR2Vec may abort, and keeps the memory of the files before.
                child = os.fork()
                if child == 0:
                    try:
                        functions = ir2vec.getFunctionVectors(ir2vec.initEmbedding(file, mode, "f"))
                        vectors = {entry["actualName"]: entry["vector"] for entry in functions.values()}
                        stream.write(json.dumps([file, mode, vectors]) + "\n")
                        stream.flush()
                    finally:
                        os._exit(0)
                os.waitpid(child, 0)


# -- run by the Python that has mirenc -------------------------------------------------------------------------------
def read_ir2vec(python: str, files: list[Path]) -> dict[tuple[str, str], dict[str, list[float]]]:
    """IR2Vec's function vectors by file and mode."""
    with tempfile.TemporaryDirectory() as folder:
        listing, output = Path(folder, "list"), Path(folder, "vectors")
        listing.write_text("".join(f"{file}\n" for file in files), encoding="utf-8")
        command = [python, __file__, "ir2vec", str(listing), str(output)]
        process = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
        if process.returncode:
            raise SystemExit(f"{python}: IR2Vec did not run: {process.stderr.strip().splitlines()[-1]}")
        rows = [json.loads(line) for line in output.read_text(encoding="utf-8").splitlines()]
    return {(file, mode): vectors for file, mode, vectors in rows}


def readable_by_ir2vec(path: Path) -> bool:
    """Whether the file says that a clang wrote it which the IR2Vec wheel reads."""
    ident = _IDENT.search(path.read_bytes())
    return ident is not None and int(ident[1]) <= NEWEST


def treatments(queries: Any, candidates: Any) -> dict[str, tuple[Any, Any]]:
    """Vectors as they are, centred, and whitened; fitted on queries and candidates together."""
    import numpy as np

    vectors = np.concatenate([queries, candidates]).astype(np.float64)
    centred = vectors - vectors.mean(0)
    _, scale, directions = np.linalg.svd(centred, full_matrices=False)
    significant = scale > scale[0] * 1e-4
    white = centred @ directions[significant].T / scale[significant]
    count = len(queries)
    matrices = {"as it is": vectors, "centred": centred, "whitened": white}
    return {name: (matrix[:count], matrix[count:]) for name, matrix in matrices.items()}


def level_map_ranks(queries: Any, candidates: Any, projects: Any) -> Any:
    """Ranks under a map fitted on the pairs of all projects but the query's own. Shapes: two (n, D), (n,) -> (n,)."""
    import numpy as np

    from mirenc.model.whitening import fit_whitening
    from mirenc.pretrain.evaluation.retrieval import ranks

    rank = np.empty(len(queries))
    for project in np.unique(projects):
        is_own = projects == project
        other_rows = np.flatnonzero(~is_own)
        pairs = np.arange(2 * len(other_rows)).reshape(2, -1).T
        mean, matrix = fit_whitening(np.concatenate([queries[other_rows], candidates[other_rows]]), pairs)
        points = (candidates - mean) @ matrix
        # The own candidates first, in the queries' order: that is what `ranks` takes for the answers.
        rank[is_own] = ranks((queries[is_own] - mean) @ matrix, np.concatenate([points[is_own], points[other_rows]]))
    return rank


def compare(root: Path, python: str, model: str | None, projects: list[str], limit: int) -> dict[str, Any]:
    """Figures of every method on the functions that all of them have."""
    import numpy as np

    from mirenc.encoder import load
    from mirenc.llvm.inputs.file_kind import find_inputs
    from mirenc.pretrain.evaluation.retrieval import (
        bag_vectors,
        collect_pairs,
        find_level_pairs,
        rank_figures,
        ranks,
        retrieval_figures,
    )

    files = [path for path in find_inputs(root) if not projects or path.relative_to(root).parts[0] in projects]
    readable = [pair for pair in find_level_pairs(root, files) if all(map(readable_by_ir2vec, pair))]
    if not readable:
        raise SystemExit(f"{root}: no pairs PROJECT/O0/x, PROJECT/O2/x of text IR by clang <= {NEWEST}")
    with tempfile.TemporaryDirectory() as cache:
        encoder = load(model, cache=cache)
        pairs = collect_pairs(encoder, readable, limit=limit)
    ir2vec_vectors = read_ir2vec(python, sorted({path for pair in pairs for path in pair.files}))

    def ir2vec_vector(path: Path, mode: str, name: str) -> list[float] | None:
        return ir2vec_vectors.get((str(path), mode), {}).get(name.strip('"'))

    usable = [
        pair
        for pair in pairs
        if all(ir2vec_vector(path, mode, pair.name) is not None for path in pair.files for mode in MODES)
    ]
    if not usable:
        raise SystemExit(f"{root}: IR2Vec gave no vectors for the functions of {len(readable)} pairs of files")
    methods: dict[str, tuple[Any, Any]] = {}
    for part in ("text", "graph"):
        methods[f"{encoder.name} {part}"] = (
            np.array([getattr(pair.query, part) for pair in usable]),
            np.array([getattr(pair.candidate, part) for pair in usable]),
        )
    text, graph = methods.values()
    methods[f"{encoder.name} both"] = (np.hstack([text[0], graph[0]]), np.hstack([text[1], graph[1]]))
    for mode, title in MODES.items():
        methods[title] = (
            np.array([ir2vec_vector(pair.files[0], mode, pair.name) for pair in usable]),
            np.array([ir2vec_vector(pair.files[1], mode, pair.name) for pair in usable]),
        )
    counts = bag_vectors(
        [pair.query.opcodes for pair in usable] + [pair.candidate.opcodes for pair in usable]
    ).toarray()
    for title, histogram in (("opcode histogram", counts), ("opcode histogram, log1p", np.log1p(counts))):
        methods[title] = (histogram[: len(usable)], histogram[len(usable) :])
    rows = [
        {"method": method, "vectors": name, **rank_figures(ranks(*vectors))}
        for method, sides in methods.items()
        for name, vectors in treatments(*sides).items()
    ]
    project_of_row = np.array([pair.files[0].relative_to(root).parts[0] for pair in usable])
    rows += [
        {"method": method, "vectors": "level map", **rank_figures(level_map_ranks(*sides, project_of_row))}
        for method, sides in methods.items()
        if len(set(project_of_row.tolist())) > 1  # of one project there are no others to fit on
    ]
    rows.sort(key=lambda row: list(methods).index(row["method"]))
    rows.append(
        {"method": "bag of statements", "vectors": "as it is", **retrieval_figures(usable)["bag_of_statements"]}
    )
    return {
        "model": encoder.name,
        "digest": encoder.files.digest,
        "projects": sorted(set(project_of_row.tolist())),
        "functions": len(usable),
        "functions_without_ir2vec": len(pairs) - len(usable),
        "rows": rows,
    }


def markdown(figures: dict[str, Any]) -> str:
    """The figures as a table."""
    summary = f"{figures['functions']} functions of {', '.join(figures['projects'])}"
    lines = [
        f"{summary}; {figures['functions_without_ir2vec']} more have no IR2Vec vector and were left out for everybody.",
        "",
        "| Method | Vectors | Recall at 1 | Recall at 10 | MRR |",
        "|---|---|---|---|---|",
    ]
    for row in figures["rows"]:
        numbers = " | ".join(f"{row[name]:.3f}" for name in ("recall_at_1", "recall_at_10", "mrr"))
        lines.append(f"| {row['method']} | {row['vectors']} | {numbers} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Command line."""
    if sys.argv[1:2] == ["ir2vec"]:
        write_ir2vec(Path(sys.argv[2]), Path(sys.argv[3]))
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ir", type=Path, help="folder with PROJECT/O0 and PROJECT/O2")
    parser.add_argument("out", type=Path, help="name of the results, without suffix")
    parser.add_argument("--ir2vec", required=True, help="Python that has IR2Vec")
    parser.add_argument("--model", help="mirenc model name or folder")
    parser.add_argument("--projects", nargs="*", default=[], help="these only")
    parser.add_argument("--limit", type=int, default=3000, help="functions")
    arguments = parser.parse_args()
    figures = compare(arguments.ir, arguments.ir2vec, arguments.model, arguments.projects, arguments.limit)
    arguments.out.with_suffix(".json").write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    arguments.out.with_suffix(".md").write_text(markdown(figures), encoding="utf-8")
    print(markdown(figures), end="")


if __name__ == "__main__":
    main()
