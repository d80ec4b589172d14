"""Is a program found that solves the same task, or the program itself? By form of the IR, beside what needs no model.

What you get: `OUT.json` and `OUT.md`. A program's class is its task (`small_programs/`), and how near two programs are
is told by the cosine of their module vectors: MAP@R and recall at 1 (`program_figures.py`) within C, within C++, from C
to C++, within a level and from -O0 to -O2, and whether the program itself is found among all at -O2; with 95 %
intervals by a bootstrap over tasks; with names as written and with all names hidden before anything reads them.
Every method sees the IR in each form (`mirenc.llvm.passes.optimise`), both sides in the same. Two tables:

- all tasks in one pool;
- maps of the models fitted on half of the tasks without their names and tested on the other half, both ways, over
  several halvings, as `mirenc.fit_map` fits them: ``whitened`` by their covariance, shrunk by Ledoit and Wolf's rule,
  and ``level map``, which also knows which two vectors are one source at two levels.

Where names are hidden, the models are told so (``hide_names``).

How long: some twenty minutes of one core for mirenc-fast and mirenc-search. IR and vectors stay in
WORK: a run that was stopped goes on.
On what: clang-19 with a C++ standard library, and a Python that has the IR2Vec wheel (``--ir2vec``; left out, no rows
of it). The wheel reads what LLVM <= 16 wrote: words that are newer, and that it does not look at, are taken out for it.

    python pretrain/compare_programs.py WORK pretrain/programs --models mirenc-fast mirenc-search --ir2vec python

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
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from program_figures import Key, Method, Program

FOLDER = Path(__file__).resolve().parent / "small_programs"
LANGUAGES = {"c": ["-std=c11"], "cpp": ["-x", "c++", "-std=c++17"]}
LEVELS = {"O0": ["-O0", "-Xclang", "-disable-O0-optnone"]} | {
    level: [f"-{level}"] for level in ("O2", "O1", "O3", "Os", "Oz")
}
MODES = {"sym": "IR2Vec symbolic", "fa": "IR2Vec flow-aware"}
# What LLVM 17 to 22 write and 16 does not know: flags and attributes, none of which is an opcode, type or operand.
_NEWER = re.compile(
    r" (?:nneg|disjoint|samesign|dead_on_unwind|writable|nocreateundeforpoison|memory\(errnomem: \w+\)"
    r"|(?:captures|dead_on_return|nofpclass|range|inrange)\([^)]*\)|initializes\((?:\([^)]*\)(?:, )?)+\))(?=[ ,)])"
    r"|(?<=trunc)(?: n[us]w)+|(?<=getelementptr)(?: n[us]s?w)+|(?<=inbounds) nuw|, (?:errnomem|target_mem\d): \w+"
)
_SPLAT = re.compile(r"\bsplat \([^)]*\)")  # a constant vector, for which LLVM 16 has no such word
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
    """All programs as text IR in a folder, the levels of one source side by side: of C all, of C++ -O0 and -O2."""
    from program_figures import Program

    from mirenc.base.writing import delivered

    folder.mkdir(parents=True, exist_ok=True)
    programs = []
    for source in sorted(path for path in FOLDER.glob("*/*") if path.suffix[1:] in LANGUAGES):
        task, number, language = source.parent.name, source.stem, source.suffix[1:]
        for level, flags in LEVELS.items():
            if language == "cpp" and level not in ("O0", "O2"):
                continue
            ir = folder / f"{task}-{number}-{language}-{level}.ll"
            if not ir.exists():
                with delivered(ir) as part:
                    command = [compiler, *LANGUAGES[language], *flags, "-S", "-emit-llvm", str(source), "-o", str(part)]
                    subprocess.run(command, check=True)
            programs.append(Program(task, number, language, level, ir))
    return programs


def rewritten(programs: list[Program], folder: Path, rewrite: Callable[[Path], str]) -> list[Program]:
    """The programs with IR that ``rewrite`` makes of each file, in another folder."""
    from mirenc.base.writing import delivered

    folder.mkdir(parents=True, exist_ok=True)
    for program in programs:
        target = folder / program.ir.name
        if not target.exists():
            with delivered(target) as part:
                part.write_text(rewrite(program.ir), encoding="utf-8")
    return [replace(program, ir=folder / program.ir.name) for program in programs]


def in_form(path: Path, form: str) -> str:
    """IR of a file in a form, without the functions that it deletes."""
    from mirenc import read_ir
    from mirenc.llvm import ReadOptions

    module = read_ir(path, options=ReadOptions(form=form))
    if module.form != form:
        raise SystemExit(f"{path}: not brought to {form}")
    return module.text


def hide_names(text: str) -> str:
    """IR whose functions, globals and types are called by numbers, in the order in which they are met.

    Local names are no part of a statement, and LLVM's own (``llvm.``) have to stay.
    """
    types = set(re.findall(rf"^%({_NAME}) = type", text, flags=re.MULTILINE))
    new_names: dict[str, str] = {}

    def hidden(match: re.Match[str]) -> str:
        sign, name = match[0][0], match[0][1:]
        if sign == '"' or name.startswith(("llvm.", '"llvm.')) or (sign == "%" and name not in types):
            return match[0]
        kind = "t" if sign == "%" else "g"  # a comdat has the name of its symbol
        return sign + new_names.setdefault(kind + name, f"{kind}{len(new_names)}")

    lines = text.splitlines(keepends=True)
    return "".join(_SYMBOL.sub(hidden, line) for line in lines if not line.startswith("source_filename"))


def older(text: str) -> str:
    """IR without words that LLVM 16 does not know."""
    return _SPLAT.sub("zeroinitializer", _NEWER.sub("", text))


def ir2vec_methods(python: str, programs: list[Program], vectors_file: Path) -> tuple[list[Method], int]:
    """IR2Vec's vectors, zeros where it gave none; and for how many modules it gave none. They stay in a file."""
    import numpy as np
    from program_figures import Method

    from mirenc.base.writing import delivered

    if not vectors_file.exists():
        with tempfile.TemporaryDirectory() as folder, delivered(vectors_file) as output:
            files = [str(Path(folder, program.ir.name)) for program in programs]
            for program, file in zip(programs, files, strict=True):
                Path(file).write_text(older(program.ir.read_text(encoding="utf-8")), encoding="utf-8")
            listing = Path(folder, "list")
            listing.write_text("".join(f"{file}\n" for file in files), encoding="utf-8")
            command = [python, str(Path(__file__).resolve()), "ir2vec", str(listing), str(output)]
            process = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
            if process.returncode:
                raise SystemExit(f"{python}: IR2Vec did not run: {process.stderr.strip().splitlines()[-1]}")
    rows = [json.loads(line) for line in vectors_file.read_text(encoding="utf-8").splitlines()]
    if not rows:
        raise SystemExit(f"{python}: IR2Vec gave no vectors for {len(programs)} modules")
    number = {program.ir.name: row for row, program in enumerate(programs)}
    vectors = {mode: np.zeros((len(programs), len(rows[0][2]))) for mode in MODES}
    for file, mode, vector in rows:
        vectors[mode][number[Path(file).name]] = vector
    missing = sum(not all(matrix[row].any() for matrix in vectors.values()) for row in range(len(programs)))
    return [Method(title, vectors[mode], [vectors[mode]]) for mode, title in MODES.items()], missing


def baseline_methods(programs: list[Program], hidden: bool) -> list[Method]:
    """What needs no model: opcodes counted; statements, and words with statements in one spelling, by tf-idf."""
    import numpy as np
    import scipy.sparse as sp
    from compare_functions import folded
    from program_figures import BAGS, Method

    from mirenc import read_ir
    from mirenc.llvm import statements_of
    from mirenc.llvm.ir.plain_statement import Layout, plain_statement
    from mirenc.model.lexical import terms_of
    from mirenc.pretrain.evaluation.retrieval import bag_vectors

    opcodes: list[Counter[str]] = []
    bags: tuple[list[Counter[str]], ...] = ([], [])
    for program in programs:
        module = read_ir(program.ir)
        opcodes.append(Counter(module.forms[form].opcode for form in module.arrays.form))
        text = statements_of(module)
        layout = Layout(text.texts)
        statements: Counter[str] = Counter()
        words: Counter[str] = Counter()
        for row, count in Counter(text.row[text.first_instruction :].tolist()).items():
            statements[folded(text.texts[row]) if hidden else text.texts[row]] += count
        for row, count in Counter(text.row.tolist()).items():
            plain = plain_statement(text.texts[row], layout)
            terms = [term for term, _ in terms_of(plain, hide_names=hidden)]
            for word in (*terms, f"= {folded(plain) if hidden else plain}"):
                words[word] += count
        for bag, bag_counts in zip(bags, (statements, words), strict=True):
            bag.append(bag_counts)
    counts = np.log1p(bag_vectors(opcodes).toarray())
    methods = [Method("opcode histogram, log1p", counts, [counts])]
    for title, bag in zip(BAGS, bags, strict=True):
        matrix = bag_vectors(bag)
        programs_with_word = np.bincount(matrix.indices, minlength=matrix.shape[1])
        weighted = sp.csr_matrix(matrix.log1p() @ sp.diags(np.log(len(programs) / np.maximum(programs_with_word, 1))))
        # Turned into as many columns as there are programs: all cosines and covariances stay.
        variance, directions = np.linalg.eigh((weighted @ weighted.T).toarray())
        dense = directions * np.sqrt(np.maximum(variance, 0))
        methods.append(Method(title, dense, [dense]))
    return methods


def model_methods(name: str, programs: list[Program], cache: Path, hidden: bool) -> list[Method]:
    """The whole vector of a mirenc model, and words alone and the rest of one with a lexical view.

    A map is fitted on each block apart, as the shipped one is.
    """
    import numpy as np
    from program_figures import Method

    from mirenc.encoder import load

    encoder = load(name, cache=cache, hide_names=hidden)
    config = encoder.files.config
    text, graph = config.text.hidden, config.text.hidden + config.graph.width
    learned = [slice(text), slice(text, graph)]
    parts, scales = {"both": learned}, (1.0, 1.0)
    if config.lexical is not None:
        words = slice(graph, None)
        parts = {"both": [*learned, words], "words": [words], "text and graph": learned}
        scales = (1.0, 1.0, config.lexical.weight / config.lexical.width**0.5)

    def embedded(whiten: bool) -> NDArray[np.float32]:
        outcomes = encoder.embed_stream([program.ir for program in programs], form="plain", whiten=whiten, jobs=1)
        return np.concatenate([outcome.embedded().vector for outcome in outcomes])

    mapped, plain = embedded(True), embedded(False)
    return [
        Method(
            f"{encoder.name} {part}",
            np.hstack([mapped[:, block] for block in blocks]),
            [plain[:, block] for block in blocks],
            scales if part == "both" else (),
        )
        for part, blocks in parts.items()
    ]


def compare(
    programs: list[Program],
    folder: Path,
    forms: list[str],
    models: list[str],
    ir2vec: str | None,
    halvings: int,
    *,
    hidden: bool,
) -> dict[str, Any]:
    """Both tables of all methods."""
    from program_figures import halved_rows, pooled_rows

    methods: dict[Key, Method] = {}
    missing = {}
    for form in forms:
        form_programs = (
            programs if form == "plain" else rewritten(programs, folder / form, lambda path, to=form: in_form(path, to))
        )
        methods_of_form = baseline_methods(form_programs, hidden)
        if ir2vec:
            peers, missing[form] = ir2vec_methods(ir2vec, form_programs, folder / form / "ir2vec.jsonl")
            methods_of_form += peers
        for model in models:
            methods_of_form += model_methods(model, form_programs, folder.parent / "cache", hidden)
        methods |= {(method.name, form): method for method in methods_of_form}
    joint_methods = {key: method for key, method in methods.items() if key[0].endswith(" both")}
    return {
        "without_ir2vec": missing,
        "pooled": pooled_rows(methods, programs),
        "halved": halved_rows(joint_methods, programs, halvings),
    }


def markdown(record: dict[str, Any]) -> str:
    """The table of each way with names."""
    from program_figures import table

    lines = [
        f"{record['sources']} programs of {record['tasks']} tasks, {record['compiler']}. MAP@R with its 95 % interval",
        "over tasks / recall at 1, in percent; of the program itself recall at 1 among all programs. `+`: above both",
        "bags by more than the interval of the difference; `-`: below one of them. All tasks in one pool; the record",
        f"also has maps that were fitted on half of the tasks ({record['halvings']} halvings both ways).",
    ]
    for names, tables in record["names"].items():
        lines += ["", f"## Names {names}", "", *table(tables["pooled"])]
        missing = [f"{count} ({form})" for form, count in tables["without_ir2vec"].items() if count]
        if missing:
            lines += [
                "",
                f"IR2Vec gave no vector for {', '.join(missing)} of {record['modules']} modules: as if it were zeros.",
            ]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Command line."""
    if sys.argv[1:2] == ["ir2vec"]:
        write_ir2vec(Path(sys.argv[2]), Path(sys.argv[3]))
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("work", type=Path, help="folder for IR and vectors")
    parser.add_argument("out", type=Path, help="name of the results, without suffix")
    parser.add_argument("--models", nargs="*", default=["mirenc-fast"], help="mirenc model names or folders")
    parser.add_argument("--ir2vec", help="Python that has IR2Vec")
    parser.add_argument(
        "--forms", nargs="+", default=["plain", "O2"], help="forms of mirenc.llvm.passes.optimise.FORMS"
    )
    parser.add_argument("--compiler", default="clang-19")
    parser.add_argument("--names", nargs="+", choices=["written", "hidden"], default=["written", "hidden"])
    parser.add_argument("--halvings", type=int, default=5)
    arguments = parser.parse_args()
    tables_by_naming = {}
    programs = compile_all(arguments.work / "written" / "plain", arguments.compiler)
    for names in arguments.names:
        if names == "hidden":
            programs = rewritten(
                programs, arguments.work / names / "plain", lambda path: hide_names(path.read_text("utf-8"))
            )
        options: Any = (arguments.forms, arguments.models, arguments.ir2vec, arguments.halvings)
        tables_by_naming[names] = compare(programs, arguments.work / names, *options, hidden=names == "hidden")
    record = {
        "tasks": len({program.task for program in programs}),
        "sources": len({program.source for program in programs}),
        "modules": len(programs),
        "compiler": arguments.compiler,
        "halvings": arguments.halvings,
        "names": tables_by_naming,
    }
    arguments.out.with_suffix(".json").write_text(json.dumps(record) + "\n", encoding="utf-8")
    arguments.out.with_suffix(".md").write_text(markdown(record), encoding="utf-8")
    print(markdown(record), end="")


if __name__ == "__main__":
    main()
