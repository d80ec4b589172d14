"""Is a program found that solves the same task? mirenc, IR2Vec, an opcode histogram and a bag of statements.

What you get: `OUT.json` and `OUT.md`. A program's class is its task (`small_programs/`), and how near two programs are
is told by the cosine of their module vectors: MAP@R and recall at 1 (`program_figures.py`) within C, within C++, from C
to C++, and from -O0 to -O2, with 95 % intervals by a bootstrap over tasks; with names as written and with all names
hidden. Two tables:

- vectors as they are and centred, all tasks in one pool;
- maps fitted on half of the tasks without their names and tested on the other half, both ways, over several halvings,
  for every method as `mirenc.fit_map` fits them: ``whitened`` by their covariance, shrunk by Ledoit and Wolf's rule,
  and ``level map``, which also knows which two vectors are one source at two levels.

Where names are hidden, a model with a lexical view is told so (``hide_names``).

How long: a quarter of an hour on one core for mirenc-tiny and mirenc-base, most of it C++ at -O0.
On what: clang-19 with a C++ standard library, and a Python that has the IR2Vec wheel (``--ir2vec``; left out, no rows
of it). The wheel reads what LLVM <= 16 wrote: words that are newer, and that it does not look at, are taken out for it.

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
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from program_figures import Method, Program

FOLDER = Path(__file__).resolve().parent / "small_programs"
LANGUAGES = {"c": ["-std=c11"], "cpp": ["-x", "c++", "-std=c++17"]}
LEVELS = {"O0": ["-O0", "-Xclang", "-disable-O0-optnone"], "O2": ["-O2"]}
MODES = {"sym": "IR2Vec symbolic", "fa": "IR2Vec flow-aware"}
# What LLVM 17 to 19 write and 16 does not know: flags and attributes, none of which is an opcode, type or operand.
_NEWER = re.compile(
    r"\b(?:nneg|disjoint|dead_on_unwind|writable|nofpclass\([^)]*\)|range\([^)]*\)|inrange\([^)]*\)) "
    r"|(?<=trunc )(?:n[us]w )+"
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
def compile_all(folder: Path, compiler: str) -> list[Program]:
    """All programs at all levels as text IR in a folder, the levels of one source side by side."""
    from program_figures import Program

    programs = []
    for source in sorted(path for path in FOLDER.glob("*/*") if path.suffix[1:] in LANGUAGES):
        task, number, language = source.parent.name, source.stem, source.suffix[1:]
        for level, flags in LEVELS.items():
            ir = folder / f"{task}-{number}-{language}-{level}.ll"
            command = [compiler, *LANGUAGES[language], *flags, "-S", "-emit-llvm", str(source), "-o", str(ir)]
            subprocess.run(command, check=True)
            programs.append(Program(task, number, language, level, ir))
    return programs


def hide_names(text: str) -> str:
    """IR whose functions, globals and types are called by numbers, in the order in which they are met.

    Local names are no part of a statement, and LLVM's own (``llvm.``) have to stay.
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
    """IR2Vec's vectors, zeros where it gave none; and for how many modules it gave none."""
    import numpy as np
    from program_figures import Method

    with tempfile.TemporaryDirectory() as folder:
        files = [str(Path(folder, program.ir.name)) for program in programs]
        for program, file in zip(programs, files, strict=True):
            Path(file).write_text(_NEWER.sub("", program.ir.read_text(encoding="utf-8")), encoding="utf-8")
        listing, output = Path(folder, "list"), Path(folder, "vectors")
        listing.write_text("".join(f"{file}\n" for file in files), encoding="utf-8")
        command = [python, str(Path(__file__).resolve()), "ir2vec", str(listing), str(output)]
        done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
        if done.returncode:
            raise SystemExit(f"{python}: IR2Vec did not run: {done.stderr.strip().splitlines()[-1]}")
        rows = [json.loads(line) for line in output.read_text(encoding="utf-8").splitlines()]
    if not rows:
        raise SystemExit(f"{python}: IR2Vec gave no vectors for {len(programs)} modules")
    vectors = {mode: np.zeros((len(files), len(rows[0][2]))) for mode in MODES}
    for file, mode, vector in rows:
        vectors[mode][files.index(file)] = vector
    missing = sum(not all(matrix[row].any() for matrix in vectors.values()) for row in range(len(files)))
    return [Method(title, vectors[mode], [vectors[mode]]) for mode, title in MODES.items()], missing


def baseline_methods(programs: list[Program]) -> list[Method]:
    """What needs no model: opcodes counted, and statements by tf-idf."""
    from collections import Counter

    import numpy as np
    import scipy.sparse as sp
    from program_figures import BAG, Method

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
    # Turned into as many columns as there are programs: all cosines and covariances stay.
    variance, directions = np.linalg.eigh((weighed @ weighed.T).toarray())
    bag = directions * np.sqrt(np.maximum(variance, 0))
    return [Method("opcode histogram, log1p", counts, [counts]), Method(BAG, bag, [bag])]


def model_methods(name: str, programs: list[Program], cache: str, hidden: bool) -> list[Method]:
    """Text, graph and both of a mirenc model, and words alone and text with graph of one with a lexical view.

    A map is fitted on each of the three apart, as the shipped one is.
    """
    import numpy as np
    from program_figures import Method

    from mirenc.embed import load

    encoder = load(name, cache=cache, hide_names=hidden)
    config = encoder.files.config
    text, graph = config.text.hidden, config.text.hidden + config.graph.width
    parts = {"text": [slice(text)], "graph": [slice(text, graph)], "both": [slice(text), slice(text, graph)]}
    scales = {}
    if config.lexical is not None:
        words = slice(graph, None)
        parts |= {"words": [words], "text and graph": parts["both"], "both": [*parts["both"], words]}
        scales["both"] = (1.0, 1.0, config.lexical.weight / config.lexical.width**0.5)

    def embedded(whiten: bool) -> NDArray[np.float32]:
        return np.concatenate([encoder.embed_parts(program.ir, whiten=whiten).vector for program in programs])

    mapped, plain = embedded(True), embedded(False)
    return [
        Method(
            f"{encoder.name} {part}",
            np.hstack([mapped[:, block] for block in blocks]),
            [plain[:, block] for block in blocks],
            scales.get(part, ()),
        )
        for part, blocks in parts.items()
    ]


def compare(
    programs: list[Program], models: list[str], ir2vec: str | None, halvings: int, *, hidden: bool
) -> dict[str, Any]:
    """Both tables of all methods."""
    from program_figures import halved_rows, pooled_rows

    methods = baseline_methods(programs)
    missing = 0
    if ir2vec:
        peers, missing = ir2vec_methods(ir2vec, programs)
        methods += peers
    with tempfile.TemporaryDirectory() as cache:
        for model in models:
            methods += model_methods(model, programs, cache, hidden)
    return {
        "without_ir2vec": missing,
        "pooled": pooled_rows(methods, programs),
        "halved": halved_rows(methods, programs, halvings),
    }


def markdown(record: dict[str, Any]) -> str:
    """The table of each way with names."""
    from program_figures import table

    lines = [
        f"{record['sources']} programs of {record['tasks']} tasks, {record['compiler']}. MAP@R with its 95 % interval",
        "over tasks / recall at 1, in percent. `+`: MAP@R above the bag of statements by more than the interval of the",
        "difference; `-`: below it. Vectors as they are, all tasks in one pool; the record also has them centred, and",
        f"under maps that were fitted on half of the tasks ({record['halvings']} halvings both ways).",
    ]
    for names, found in record["names"].items():
        as_it_is = [row for row in found["pooled"] if row["vectors"] == "as it is"]
        lines += ["", f"## Names {names}", "", *table(as_it_is)]
        if found["without_ir2vec"]:
            without = f"{found['without_ir2vec']} of {2 * record['sources']} modules"
            lines += ["", f"IR2Vec gave no vector for {without}: as if it were zeros."]
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
    parser.add_argument("--names", nargs="+", choices=["written", "hidden"], default=["written", "hidden"])
    parser.add_argument("--halvings", type=int, default=5)
    given = parser.parse_args()
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        programs = compile_all(Path(folder), given.compiler)
        for names in given.names:
            if names == "hidden":
                for program in programs:
                    program.ir.write_text(hide_names(program.ir.read_text(encoding="utf-8")), encoding="utf-8")
            found[names] = compare(programs, given.models, given.ir2vec, given.halvings, hidden=names == "hidden")
    record = {
        "tasks": len({program.task for program in programs}),
        "sources": len({program.source for program in programs}),
        "compiler": given.compiler,
        "halvings": given.halvings,
        "names": found,
    }
    given.out.with_suffix(".json").write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    given.out.with_suffix(".md").write_text(markdown(record), encoding="utf-8")
    print(markdown(record), end="")


if __name__ == "__main__":
    main()
