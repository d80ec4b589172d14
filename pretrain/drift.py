"""How far vectors of one source move with the compiler and the level it is built at: plain, and brought to a form.

What you get: `OUT.json` and `OUT.md`. For each build (compiler and level) and language: the median cosine of a vector
of that build and the one of the same function, or file, of clang-19 -O2: of the IR as it is, and of both in the form
that vectors for search have; and the cosine that one in ten is below. Names are written; vectors are those for search,
of the model that finds functions.
How long: ten minutes of one core for ten files. Rows of earlier runs stay in `OUT.json`.
On what: the folder that `compile_pairs.py` wrote, of projects that no model was trained on.

    python pretrain/drift.py PAIRS pretrain/drift --projects lcms2 hunspell
"""

from __future__ import annotations

import argparse
import functools
import itertools
import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mirenc.encoder import Encoder, load
from mirenc.encoder.options import SEARCH_FORM, Level
from mirenc.encoder.weights import search_model
from mirenc.llvm.passes.optimise import Form

BASE = "clang-19", "O2"
COMPILERS = "clang-14", "clang-19"
OPT_LEVELS = "O0", "O1", "O2", "O3", "Os", "Oz"
LANGUAGES = "C", "C++"
FORMS: tuple[Form, ...] = ("plain", SEARCH_FORM)
LEVELS: tuple[Level, ...] = ("function", "module")
Vectors = dict[str, NDArray[np.float32]]


class Files:
    """Files of the base, ``limit`` a project, those that most builds have; and vectors of them in any build."""

    def __init__(self, pairs: Path, projects: list[str], limit: int, encoder: Encoder) -> None:
        self.pairs, self.encoder = pairs, encoder
        self.names: list[tuple[str, Path]] = []  # (project, path in it)
        for project in projects:
            folders = [pairs / compiler / project / level for compiler in COMPILERS for level in OPT_LEVELS]
            builds = Counter(path.relative_to(folder) for folder in folders for path in folder.rglob("*.ll"))
            paths = [path for path in builds if self.path(*BASE, (project, path)).is_file()]
            self.names += [(project, path) for path in sorted(paths, key=lambda path: (-builds[path], path))[:limit]]
        self.base_vectors = functools.cache(functools.partial(self.vectors, *BASE))

    def path(self, compiler: str, level: str, file: tuple[str, Path]) -> Path:
        """Where a build has a file."""
        return self.pairs / compiler / file[0] / level / file[1]

    def vectors(self, compiler: str, level: str, file: tuple[str, Path], part: Level, form: Form) -> Vectors:
        """Vectors of a file of a build by symbol; that of the module has none."""
        embedding = self.encoder.embed_parts(self.path(compiler, level, file), level=part, form=form)
        return {region.symbol: row for region, row in zip(embedding.regions, embedding.vector, strict=True)}

    def drift(self, compiler: str, level: str, language: str) -> dict[str, Any]:
        """Median cosines between a build and the base, of functions and modules that both have."""
        files = [
            file
            for file in self.names
            if (file[1].suffixes[-2] == ".c") == (language == "C") and self.path(compiler, level, file).is_file()
        ]
        record: dict[str, Any] = {"files": len(files), "form": SEARCH_FORM}
        for part, form in itertools.product(LEVELS, FORMS):
            cosines = []
            for file in files:
                base, build = self.base_vectors(file, part, form), self.vectors(compiler, level, file, part, form)
                for symbol in base.keys() & build.keys():
                    left, right = base[symbol], build[symbol]
                    cosines.append(float(left @ right / (np.linalg.norm(left) * np.linalg.norm(right))))
            record[f"{part}s"] = len(cosines)
            name = "plain" if form == "plain" else "formed"
            record[f"{part}_{name}"] = float(np.median(cosines)) if cosines else None
            record[f"{part}_{name}_tenth"] = float(np.quantile(cosines, 0.1)) if cosines else None
        return record


def table(rows: dict[str, dict[str, dict[str, Any]]]) -> str:
    """The rows in Markdown."""
    columns = ["build", "language", "functions", "plain", "formed", "lowest tenth, plain", "formed"]
    lines = [
        f"| {' | '.join([*columns, 'files', 'plain', 'formed'])} |",
        "|---|---|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for build, languages in rows.items():
        for language, row in languages.items():
            cells = [build, language]
            for part, kinds in (("function", ("", "_tenth")), ("module", ("",))):
                cells.append(str(row[f"{part}s"]))
                cells += [f"{row[f'{part}_{name}{kind}']:.3f}" for kind in kinds for name in ("plain", "formed")]
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pairs", type=Path, help="folder with COMPILER/PROJECT/LEVEL")
    parser.add_argument("out", type=Path, help="name of the results, without suffix")
    parser.add_argument("--projects", nargs="+", required=True, help="these")
    parser.add_argument("--levels", nargs="+", default=OPT_LEVELS, choices=OPT_LEVELS)
    parser.add_argument("--languages", nargs="+", default=LANGUAGES, choices=LANGUAGES)
    parser.add_argument("--files", type=int, default=3, help="of a project, at most")
    arguments = parser.parse_args()
    encoder = load(search_model("function"), cache=False)
    files = Files(arguments.pairs, arguments.projects, arguments.files, encoder)
    out = arguments.out.with_suffix(".json")
    for compiler, level in itertools.product(COMPILERS, arguments.levels):
        if (compiler, level) != BASE:
            drifts = {language: files.drift(compiler, level, language) for language in arguments.languages}
            rows = json.loads(out.read_text(encoding="utf-8"))["rows"] if out.is_file() else {}
            measured = {language: row for language, row in drifts.items() if row["functions"]}
            rows[f"{compiler} -{level}"] = rows.get(f"{compiler} -{level}", {}) | measured
            record = {"model": encoder.name, "base": f"{BASE[0]} -{BASE[1]}", "rows": dict(sorted(rows.items()))}
            out.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
            arguments.out.with_suffix(".md").write_text(table(record["rows"]), encoding="utf-8")


if __name__ == "__main__":
    main()
