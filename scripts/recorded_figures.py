"""What the documents say, made of the records: tables and sentences, for `test_figures.py`.

``python scripts/recorded_figures.py`` writes the tables of README.md and docs/figures.md between their marks.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
README, FIGURES = "README.md", "docs/figures.md"
MODELS = ("mirenc-fast", "mirenc-base")


@cache
def load(name: str) -> Any:
    return json.loads((ROOT / name).read_text(encoding="utf-8"))


def percent(value: float, digits: int = 1) -> str:
    return f"{100 * value:.{digits}f} %"


def points(middle: float, low: float, high: float) -> str:
    return f"{100 * middle:+.1f} [{100 * low:+.1f}, {100 * high:+.1f}]"


def factor(middle: float, interval: list[float]) -> str:
    return f"x {middle:.3f} [{interval[0]:.3f}, {interval[1]:.3f}]"


def table(header: list[str], rows: list[list[str]]) -> str:
    """In Markdown, the first column on the left."""
    top, *lines = (f"| {' | '.join(cells)} |" for cells in (header, *rows))
    return "\n".join([top, f"|---{'|---:' * (len(header) - 1)}|", *lines])


# -- search ----------------------------------------------------------------------------------------------------------
def pool(names: str, setting: str = "O0-O2") -> dict[str, Any]:
    name = "function_pools_o0_o2" if setting == "O0-O2" else "function_pools"
    record: dict[str, Any] = load(f"pretrain/{name}.json")["names"][names][setting]
    return record


BAG = "bag of statements (tf-idf)"
SETTINGS = ("O0-O2", "O0-Oz", "XM", "O2-Oz", "O3-Os")
SEARCH = ("mirenc-search", "auto")
NO_WORDS = ("mirenc-search, text and graph", "auto")
# Method and rule for the forms of both sides (`function_pools.py`).
POOL_ROWS = {
    "mirenc-search": SEARCH,
    "ranked by the rest of the files, too": ("mirenc-search, re-ranked", "auto"),
    "its text and graph without words": NO_WORDS,
    "terms and statements counted, tf-idf": ("bag of terms and statements", "auto"),
    "statements counted, tf-idf": ("bag of statements", "auto"),
    "opcode histogram": ("opcode histogram", "auto"),
    "mirenc-search, IR as it is": ("mirenc-search", "plain"),
    "terms and statements counted, IR as it is": ("bag of terms and statements", "plain"),
}


def recall(row: tuple[str, str], record: dict[str, Any], group: str = "") -> float:
    """Among all functions; of a language or size alone with ``group``."""
    method, rule = row
    large = record["rows"][rule][method]["large"]
    value: float = (large["by"][group] if group else large["recall_at_1"])[0]
    return value


def function_table() -> str:
    """One row for each method, recall at 1 among all with names as written and hidden; by language, of the first."""
    settings = [(pool("written", setting), pool("hidden", setting)) for setting in SETTINGS]
    rows = [
        [title, *(" / ".join(f"{100 * recall(row, way):.1f}" for way in pair) for pair in settings)]
        for title, row in POOL_ROWS.items()
    ]
    for language in sorted(settings[0][0]["projects"]):
        cells = [
            " / ".join(f"{100 * recall(SEARCH, way, language):.1f}" for way in pair) + f" ({pair[0]['by'][language]:,})"
            if pair[0]["by"].get(language)
            else ""
            for pair in settings
        ]
        rows.append([f"mirenc-search, {language} alone", *cells])
    return table(
        ["", *(f"{setting} ({way['functions']:,})" for setting, (way, _) in zip(SETTINGS, settings, strict=True))], rows
    )


# On a transparent ground: the bars have a contrast of 3 with white and with the dark page, the text follows the page.
PICTURE_HEAD = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 800 292" font-family="sans-serif" font-size="13">
<style>text { fill: #1d2733 } @media (prefers-color-scheme: dark) { text { fill: #e4e9ef } }</style>"""
BARS = {
    "mirenc-search": (SEARCH, "#1f77b4"),
    "the same model, IR as compiled": (("mirenc-search", "plain"), "#1a9c94"),
    "counting statements": (("bag of statements", "auto"), "#d9730d"),
    "counting opcodes": (("opcode histogram", "auto"), "#858d96"),
}


def recall_picture() -> str:
    """Bars of recall at 1, by language of the program, names hidden: an SVG of 800 x 292."""
    record = pool("hidden")
    counts = record["by"]
    languages = [name for name in ("C", "C++", "Fortran", "Rust") if counts.get(name)]
    title = "Functions built at -O0, found first among those built at -O2 (names hidden)"
    lines = [
        PICTURE_HEAD,
        f'<text x="20" y="26" font-size="16">{title}</text>',
    ]
    for column, (title, (_, colour)) in enumerate(BARS.items()):
        x = 20 + (0, 150, 410, 610)[column]
        lines += [f'<rect x="{x}" y="42" width="12" height="12" fill="{colour}"/>']
        lines += [f'<text x="{x + 18}" y="53">{title}</text>']
    for place, language in enumerate(languages):
        left = 40 + 190 * place
        for column, (row, colour) in enumerate(BARS.values()):
            share = recall(row, record, language)
            x, height = left + 38 * column, 160 * share
            lines += [f'<rect x="{x}" y="{240 - height:.1f}" width="34" height="{height:.1f}" fill="{colour}"/>']
            place_of_number = f'x="{x + 17}" y="{234 - height:.1f}" text-anchor="middle" font-size="12"'
            lines += [f"<text {place_of_number}>{100 * share:.0f}</text>"]
        title = f"{language} ({counts[language]:,} functions)"
        lines += [f'<text x="{left + 74}" y="262" text-anchor="middle">{title}</text>']
    note = "Recall at 1 in %, programs that were not trained on; searched among functions of all languages"
    return "\n".join([*lines, f'<text x="20" y="284" font-size="12" opacity="0.8">{note}</text>', "</svg>"]) + "\n"


def over_bag(row: tuple[str, str], names: str, setting: str = "O0-O2") -> str:
    """Over the best bag over the same forms."""
    method, rule = row
    return points(*pool(names, setting)["rows"][rule][method]["large"]["over_best_bag"])


PROGRAM_ROWS = {
    "mirenc-fast": ("mirenc-fast both", "O2"),
    "mirenc-fast, form plain": ("mirenc-fast both", "plain"),
    "mirenc-search": ("mirenc-search both", "O2"),
    "words of mirenc-fast alone, untrained": ("mirenc-fast words", "O2"),
    "its text and graph without them": ("mirenc-fast text and graph", "O2"),
    "bag of words (tf-idf)": ("bag of words", "O2"),
    "bag of words, form plain": ("bag of words", "plain"),
    BAG: ("bag of statements", "O2"),
    "opcode histogram": ("opcode histogram, log1p", "O2"),
    "IR2Vec 2.1.1, the better mode": ("IR2Vec", "O2"),
}
PROGRAM_SETTINGS = {
    "C": "within C",
    "C++": "within C++",
    "C to C++": "from C to C++",
    "-O0 to -O2": "from -O0 to -O2",
    "itself, -O0 to -O2": "itself from -O0 to -O2",
}


def program_scores(names: str, method: str, form: str) -> list[dict[str, Any]]:
    """MAP@R of each setting, recall at 1 of the program itself; of several modes of a method the best in each."""
    rows = [
        row["settings"]
        for row in load("pretrain/programs.json")["names"][names]["pooled"]
        if row["form"] == form and row["method"].startswith(method)
    ]
    scores_of_settings = [
        [row[setting].get("map_at_r", row[setting]["recall_at_1"]) for row in rows] for setting in PROGRAM_SETTINGS
    ]
    return [max(scores, key=lambda score: score["mean"]) for scores in scores_of_settings]


def program_table() -> str:
    """Names as written and hidden; bold where a row is above both bags of its form by more than the interval."""
    rows = []
    for title, key in PROGRAM_ROWS.items():
        cells = zip(program_scores("written", *key), program_scores("hidden", *key), strict=True)
        rows.append([title, *(" / ".join(map(program_cell, scores)) for scores in cells)])
    return table(["", *PROGRAM_SETTINGS.values()], rows)


def program_cell(score: dict[str, Any]) -> str:
    cell = f"{100 * score['mean']:.1f}"
    bags = [low for peer, (_, low, _) in score["over"].items() if peer.startswith("bag of")]
    return f"**{cell}**" if len(bags) == 2 and min(bags) > 0 else cell


def program_gains(names: str, peer: str) -> str:
    """Of mirenc-fast in the form O2 over its words, or over its form plain, in each setting."""
    return ", ".join(points(*score["over"][peer]) for score in program_scores(names, *PROGRAM_ROWS["mirenc-fast"]))


def learned_programs() -> Iterator[str]:
    for peer in ("plain", "its words"):
        yield f"{program_gains('written', peer)} points; with names hidden {program_gains('hidden', peer)} points"


def search_phrases() -> Iterator[str]:
    projects = max(pool("written", setting)["projects_in_all"] for setting in SETTINGS)
    yield f"they are from up to {projects} projects"
    yield f"with names hidden, {pool('hidden')['functions']:,}"
    for row in (SEARCH, NO_WORDS):
        yield f"by {over_bag(row, 'written')} points, and by {over_bag(row, 'hidden')} points with names hidden"
    yield f"{load('pretrain/programs.json')['tasks']} tasks with five solutions each"
    yield from learned_programs()


# -- pre-training ----------------------------------------------------------------------------------------------------
def flows(figures: dict[str, Any], key: str) -> str:
    return " / ".join(f"{figures[flow][key]:.3f}" for flow in ("control", "data", "call"))


def unseen_table() -> str:
    """Both models on projects that no model before them saw, each beside the baselines that it came with."""
    models = [load("pretrain/unseen.json")["models"][model] for model in MODELS]
    rows = []
    for title, kind in (("that stand in no training shard", "unseen"), ("as they occur", "occurring")):
        scores = [model["mlm"][kind] for model in models]
        cells = [f"{percent(score['accuracy'])} (bigram {percent(score['accuracy_neighbours'])})" for score in scores]
        rows.append([f"Masked tokens of statements {title}, accuracy", *cells])
    cells = [f"{flows(model['gae'], 'auc')} ({flows(model['gae'], 'auc_degree_product')})" for model in models]
    rows.append(["Hidden edges, ROC AUC, control / data / call (degree product)", *cells])
    for title, key in (("", "accuracy_random"), (", pairs of near size", "accuracy_near_size")):
        scores = [model["matching"] for model in models]
        cells = [f"{percent(score[key])} ({percent(score[f'{key}_size'])})" for score in scores]
        rows.append([f"Text and graph of one IR?, accuracy{title} (size alone)", *cells])
    scores = [model["retrieval"] for model in models]
    title = f"Function at -O0 to itself at -O2 among {scores[0]['functions']:,}, recall@1 (bag of statements)"
    pairs = ([percent(score[row]["recall_at_1"]) for row in ("both", "bag_of_statements")] for score in scores)
    cells = [f"{figure} ({bag})" for figure, bag in pairs]
    rows.append([title, *cells])
    return table(["", *MODELS], rows)


def unseen_phrases() -> Iterator[str]:
    record = load("pretrain/unseen.json")
    yield f"{len(record['versions'])} projects ({record['modules']:,} modules)"


# -- decisions -------------------------------------------------------------------------------------------------------
ROWS = {
    "no_code": "no code",
    "hand": "hand features",
    "histogram": "opcode histogram",
    "ir2vec": "IR2Vec 2.1.1",
    "both": "mirenc-fast",
}


def rows_of(record: str) -> Any:
    """Figures of a record, named ``task/protocol`` or ``task/variant.protocol``."""
    return load(f"downstream/{record}.json")["figures"][re.split(r"[/.]", record)[-1]]


def gpu_only(row: dict[str, Any]) -> float:
    return row["speedup_over"]["GPU only"]["geometric"]


def gain(row: dict[str, Any], suffix: str = "") -> str:
    return factor(row[f"speedup_gain{suffix}"], row[f"speedup_gain{suffix}_interval"])


def accuracy_gain(row: dict[str, Any]) -> str:
    return f"{points(row['accuracy_gain'], *row['accuracy_gain_interval'])} points"


TASKS = {
    "Thread coarsening, speedup over never coarsening": "thread_coarsening/kernel",
    "Loop vectorization, measured, over LLVM's choice": "vectorization/structure",
    "OpenMP on two cores, measured, over all threads and static": "openmp/kernel",
    "OpenCL work groups on a CPU, measured, over 256 and 16x16": "block_size/kernel",
    "CUDA blocks on an NVIDIA H200, measured, over 256 and 16x16": "block_size/h200.kernel",
}
COMPILER = "the same, over a head that knows LLVM's choice and no code"


def decision_table() -> str:
    rows = []
    for variant, gpu in (("nvidia", "NVIDIA"), ("amd", "AMD")):
        figures = rows_of(f"device_mapping/{variant}.kernel")
        cells = [percent(figures[row]["accuracy"]) for row in ROWS]
        rows.append([f"Device mapping, {gpu}, accuracy", *cells, accuracy_gain(figures["both"])])
        cells = [f"{gpu_only(figures[row]):.3f}" for row in ROWS]
        rows.append(["the same in time, speedup over GPU only", *cells, gain(figures["both"])])
    for title, record in TASKS.items():
        figures = rows_of(record)
        rows.append([title, *speedups(figures, ROWS), gain(figures["both"])])
        if "compiler" in figures:
            with_code = [row for row in ROWS if row in figures and row != "no_code"]
            cells = [f"{figures[row]['speedup_gain_over_compiler']:.3f}" for row in with_code]
            rows.append([COMPILER, "", "", *cells, gain(figures["both"], "_over_compiler")])
    return table(["", *ROWS.values(), "mirenc-fast over no code [95 % over kernels]"], rows)


def speedups(figures: Any, rows: Iterable[str]) -> list[str]:
    return [f"{figures[row]['speedup_geometric']:.3f}" if row in figures else "" for row in rows]


def suites() -> Iterator[str]:
    """What a decision is not worth."""
    suite = {variant: rows_of(f"device_mapping/{variant}.suite") for variant in ("nvidia", "amd")}
    nvidia, amd = (percent(rows["both"]["accuracy"], 0) for rows in suite.values())
    always, no_code = suite["nvidia"]["default"]["accuracy"], suite["amd"]["no_code"]["accuracy"]
    yield f"of NVIDIA it is right in {nvidia} of the cases; always taking the GPU is right in {percent(always, 0)}"
    yield f"of AMD it is right in {amd}; a head that sees no code is right in {percent(no_code, 0)}"


def weak_gains() -> Iterator[str]:
    """In the README."""
    nvidia = rows_of("device_mapping/nvidia.kernel")["both"]
    yield f"significantly better ({accuracy_gain(nvidia)}), but"
    yield f"do not run significantly faster ({gain(nvidia)})"
    over_compiler = gain(rows_of("vectorization/structure")["both"], "_over_compiler").removeprefix("x ")
    yield f"the loops are {over_compiler} times as fast as with the head that knows only LLVM's choice"


def limits() -> Iterator[str]:
    loops, machine = rows_of("vectorization/structure"), load("downstream/vectorization/table/machine.json")
    oracle = f"{loops['both']['oracle_geometric']:.2f} times as fast as LLVM's choice"
    yield f"On {machine['kernels']:,} loops of {machine['groups']} structures, the oracle is {oracle}"
    mirenc, histogram = (percent(loops[row]["oracle_gain_share"], 0) for row in ("both", "histogram"))
    yield f"reaches {mirenc} of this gain, and one with an opcode histogram {histogram}. Most of"
    yield f"nothing else of the code has a speedup of {loops['compiler']['speedup_geometric']:.3f}"
    openmp = rows_of("openmp/kernel")["both"]
    share = percent(openmp["oracle_gain_share"], 0)
    yield f"the oracle is {openmp['oracle_geometric']:.2f}, and the head reaches {share} of this gain"


PASS_ROWS = ("no_code", "histogram", "ir2vec", "both")


def pass_figures(record: str) -> Any:
    return load(f"downstream/passes/{record}.held_out.json")["figures"]


PASS_TASKS = (
    ("Bytes after -Oz, mean error", "size_after.Oz", "mape", "both:without_sizes-0"),
    ("Which passes of -O3 change the code, AUC", "pass_fires.O3", "auc", "both:without_fires-0"),
)


def pass_cells(record: str, figure: str, rows: Iterable[str]) -> list[str]:
    figures = pass_figures(record)
    return [percent(figures[row][figure]) if figure == "mape" else f"{figures[row][figure]:.3f}" for row in rows]


def pass_table() -> str:
    rows = [[title, *pass_cells(record, figure, (*PASS_ROWS, last))] for title, record, figure, last in PASS_TASKS]
    figures = pass_figures("pass_list")
    saved = [f"{100 * (1 - 1 / figures[row]['speedup_geometric']):.2f} %" for row in PASS_ROWS]
    rows.append(["Best of 50 pass lists, smaller than -Oz by", *saved, ""])
    return table(["", *(ROWS[row] for row in PASS_ROWS), "without such answers"], rows)


def jobs_table() -> str:
    """The README's: what mirenc is for, beside what needs no pre-training."""
    large = pool("written")
    rows_of_pool = (("bag of statements", "auto"), ("opcode histogram", "auto"), SEARCH, ("mirenc-search", "plain"))
    rows = []
    for language in ("C", "C++"):
        bag, histogram, search, search_plain = (percent(recall(row, large, language)) for row in rows_of_pool)
        title = f"{language} function at -O0 found first among the functions of another clang's -O2 build"
        title += f" (counting statements: {bag})"
        rows.append([title, "", histogram, "", f"mirenc-search {search} (without LLVM's passes first: {search_plain})"])
    for title, record, figure, untaught in PASS_TASKS:
        *cells, without = pass_cells(record, figure, (*PASS_ROWS, untaught))
        cells[-1] += f" (untaught {without})"
        rows.append([title, *cells])
    for variant, gpu in (("nvidia", "NVIDIA"), ("amd", "AMD")):
        figures = rows_of(f"device_mapping/{variant}.kernel")
        rows.append([f"CPU or {gpu} GPU, accuracy", *(percent(figures[row]["accuracy"]) for row in PASS_ROWS)])
    for title, record in (
        ("Loop vectorization, speedup", "vectorization/structure"),
        ("OpenMP settings, speedup", "openmp/kernel"),
        ("OpenCL work groups, speedup", "block_size/kernel"),
        ("CUDA blocks on an H200, speedup", "block_size/h200.kernel"),
    ):
        rows.append([title, *speedups(rows_of(record), PASS_ROWS)])
    return table(["", *(ROWS[row] for row in PASS_ROWS)], rows)


def ten_lists() -> dict[str, Any]:
    """Bytes saved over -Oz by ten lists, in per cent with an interval: fixed ones, and those chosen in three ways."""
    figures = load("downstream/passes/suggest.json")["figures"]["all"]
    return {row: figures[row]["saved"]["10"] for row in ("cover", "both", "no_code", "random")}


def fixed_lists() -> Iterator[str]:
    """In the README."""
    cover, code = (f"{ten_lists()[row][0]:.2f} %" for row in ("cover", "both"))
    yield f"ten lists chosen for each program saves {code} over -Oz"
    yield f"the same ten for every program saves {cover}"


def pass_phrases() -> Iterator[str]:
    record = load("downstream/passes/size_after.Oz.held_out.json")
    yield f"{record['tested']:,} functions and modules of {record['tested_groups']} unseen projects, with one seed"
    cover, code, size, random = (f"{ten[0]:.2f}" for ten in ten_lists().values())
    low, high = ten_lists()["cover"][1:]
    yield (
        f"save {cover} % [{low:.2f}, {high:.2f}] over -Oz. Ten lists that a head chose by the code save {code} %, "
        f"ten that it chose by the size {size} %, and ten random lists {random} %"
    )
    projects = load("downstream/passes/projects.json")["projects"]
    saved = ", ".join(f"{name} {project['saved']:.1f} %" for name, project in projects.items())
    yield f"smaller than those of -Oz by: {saved}"
    record = load("downstream/inlining/saved_20.json")
    rows = {line[0].removesuffix(", 20 compilations"): line[1] for line in record["lines"][1:]}
    lists, inlining = (rows[row].split()[0] for row in ("pass lists", "inlining, what promises most first"))
    share = rows["pass lists, then inlining"].replace(" [", " % [")
    yield (
        f"20 compilations of each file in all, lists and then inlining save {share} on {record['files']} files of "
        f"these projects. Lists without inlining save {lists} %, and inlining without lists {inlining} %"
    )


# -- what else docs/figures.md has -----------------------------------------------------------------------------------
def other_pool() -> Iterator[str]:
    record = load("pretrain/retrieval.json")
    recalls = {(row["method"], row["vectors"]): percent(row["recall_at_1"]) for row in record["rows"]}
    ir2vec, ir2vec_mapped = recalls["IR2Vec symbolic", "as it is"], recalls["IR2Vec symbolic", "level map"]
    mirenc, bag = recalls["mirenc-base both", "as it is"], recalls["bag of statements", "as it is"]
    yield f"{record['functions']:,} functions that IR2Vec reads"
    yield f"IR2Vec finds {ir2vec} without a whitening map, and {ir2vec_mapped} with one"
    yield f"`mirenc-base` finds {mirenc}, and the bag of statements {bag}"


def drift_table() -> str:
    """Vectors and answers of one source, compiled otherwise."""
    header = ["", "modules", "functions", "loops", "sizes"]
    rows = [
        [
            change,
            *(f"{row[kind]['median']:.3f}" for kind in ("module", "function")),
            percent(row["loop"]["same"]),
            percent(row["size"]["mean"]),
        ]
        for change, row in load("downstream/drift.json")["rows"].items()
    ]
    return table(header, rows)


def drift_picture() -> str:
    """Bars of the median cosine of modules and functions, by what was changed: an SVG of 800 x 292."""
    rows = load("downstream/drift.json")["rows"]
    title = "One source, compiled otherwise than by clang 19 at -O2: how alike are its vectors?"
    lines = [
        PICTURE_HEAD,
        f'<text x="20" y="26" font-size="16">{title}</text>',
    ]
    for column, (level, colour) in enumerate((("function", "#1f77b4"), ("module", "#1a9c94"))):
        x = 20 + 150 * column
        lines += [f'<rect x="{x}" y="42" width="12" height="12" fill="{colour}"/>']
        lines += [f'<text x="{x + 18}" y="53">{level}s</text>']
        for place, (change, row) in enumerate(rows.items()):
            y, width = 72 + 32 * place, 520 * row[level]["median"]
            lines += [f'<rect x="180" y="{y + 13 * column}" width="{width:.1f}" height="12" fill="{colour}"/>']
            number = f'x="{186 + width:.1f}" y="{y + 13 * column + 11}" font-size="12"'
            lines += [f"<text {number}>{row[level]['median']:.3f}</text>"]
            if column:
                lines += [f'<text x="170" y="{y + 17}" text-anchor="end">{change}</text>']
    note = f"Median cosine (1: the same vector) over {load('downstream/drift.json')['sources']} small programs in C"
    return "\n".join([*lines, f'<text x="20" y="284" font-size="12" opacity="0.8">{note}</text>', "</svg>"]) + "\n"


def drift_phrase() -> Iterator[str]:
    """Of how many programs."""
    record = load("downstream/drift.json")
    yield f"than by {record['base'].partition(',')[0]} at -O2? This was measured on {record['sources']} small"


PROFILE_ROWS = {
    "LLVM's own estimate": "llvm",
    "trees of hand features (shipped)": "hand",
    "and of the blocks' vectors": "vectors",
    "the best that can be": "perfect",
}


def profile_table() -> str:
    """Static prediction of branches on projects that nothing was fitted on."""
    record = load("downstream/profile/branches.json")

    def cell(interval: list[float]) -> str:
        return "{:.1f} [{:.1f}, {:.1f}]".format(*(100 * bound for bound in interval))

    kinds = ("missed", "fewer", "unseen", "error", "unweighed", "trips", "hottest")
    rows = [[title, *(cell(record["rows"][row][kind]) for kind in kinds)] for title, row in PROFILE_ROWS.items()]
    title = f"{record['branches']:,} branches of {record['projects']} projects, per cent"
    unseen = f"fewer, {len(record['unseen'])} unseen"
    names = ["executions missed", "fewer than LLVM", unseen, "error", "branches missed", "loops right", "hottest found"]
    return table([title, *names], rows)


def profile_phrases() -> Iterator[str]:
    """What says how much of a trip count the code tells."""
    record = load("downstream/profile/branches.json")
    always, trees = (percent(record[name][0]) for name in ("commonest", "seen"))
    yield f"always 2 to 7 is right for {always} of loops, and trees that saw other files of the project for {trees}"


REPAIR_ROWS = {
    "scaled": "scaled",
    "a flow of least cost": "flow",
    "and LLVM's estimate": "flow_llvm",
    "and the trees": "flow_model",
    "LLVM's inference (profi)": "profi",
}
SPOILT = {
    "1 in 100": "100",
    "1 in 1,000": "1000",
    "1 in 10,000": "10000",
    "clang-14": "clang-14",
    "from -O1": "optimised",
    "lines moved": "moved",
}


def repair_table(kind: str, title: str) -> str:
    """Profiles repaired: one figure of all rows."""
    record = load("downstream/profile/repair.json")

    def cell(row: str, spoiling: str) -> str:
        return "{:.1f} [{:.1f}, {:.1f}]".format(*(100 * bound for bound in record["rows"][spoiling][row][kind]))

    rows = [[name, *(cell(row, spoiling) for spoiling in SPOILT.values())] for name, row in REPAIR_ROWS.items()]
    return table([title.format(**record), *SPOILT], rows)


def overlap_table() -> str:
    """What profiles have in common."""
    return repair_table("functions", "{functions:,} functions of {projects} projects, in common, per cent")


def error_table() -> str:
    """How far counts are off."""
    return repair_table("error", "all counts off, per cent of their sum")


TRIP_ROWS = {
    "the count": "counted",
    "its class": "class",
    "nothing": "nothing",
    "the commonest class": "commonest",
    "the commonest of its structure, truth included": "fixed",
    "the predicted class": "predicted",
    "that of the source": "predicted, source",
    "predicted chances": "chances",
    "those of the source": "chances, source",
}


def trips_table() -> str:
    """What decisions about loops are worth where the trip count is predicted."""
    record = load("downstream/profile/loops.json")

    def cells(row: str) -> Iterator[str]:
        yield percent(record["right"][row][0], 0) if row in record["right"] else ""
        for caution in ("told", "asked"):
            entry = record["rows"][f"{row}: {caution}"]
            low, high = entry["interval"]
            yield f"{entry['speedup_geometric']:.3f} [{low:.3f}, {high:.3f}]"
            yield from (percent(entry[name], digits) for name, digits in (("oracle_gain_share", 0), ("slowdowns_2", 1)))
        yield factor(entry["over_nothing"][0], entry["over_nothing"][1:])

    title = f"{record['samples']:,} loops, seeds: {record['seeds']}; the head is told"
    figures = ["speedup", "share of oracle's gain", "slower by 2 %"]
    header = ["class right", *figures, *(f"{figure}, cautious" for figure in figures), "over nothing, cautious"]
    return table([title, *header], [[name, *cells(row)] for name, row in TRIP_ROWS.items()])


WORTH_ROWS = {
    "true: branches and calls": "true",
    "true: branches": "true_branches",
    "predicted: branches": "predicted",
    "predicted: branches that end no loop": "predicted_outside_loops",
    "true: branches, the wrong way round": "inverted",
}


def worth_table() -> str:
    """What profiles are worth to clang -O2."""
    record = load("downstream/profile/worth.json")

    def cell(interval: list[float]) -> str:
        return "{:+.1f} [{:+.1f}, {:+.1f}]".format(*(100 * bound for bound in interval))

    kinds = ("instructions", "jumps", "mispredicted", "bytes")
    rows = [
        [title, *(cell(record["rows"][row]["change"][kind]) for kind in kinds)]
        + [cell(record["rows"][row]["share_of_true"]["instructions"]).replace("+", "")]
        for title, row in WORTH_ROWS.items()
    ]
    title = f"{len(record['programs'])} programs by clang -O2, per cent more than without"
    return table([title, "instructions", "jumps", "mispredicted", "bytes of code", "share of the gain"], rows)


def verified_phrase() -> Iterator[str]:
    """Of how many files LLVM's verifier took the IR with written weights."""
    record = load("downstream/profile/verified.json")
    new, old = (f"{counts['verified']:,} of {counts['files']:,}" for counts in record.values())
    yield f"verifier takes {new} files with weights written, and {old} of clang 14"


def protocols() -> Iterator[str]:
    """The paper's folds, beside the paper's own figures."""
    paper = [rows_of(f"device_mapping/{gpu}.paper") for gpu in ("nvidia", "amd")]
    accuracy = " / ".join(f"{100 * rows['both']['accuracy']:.1f}" for rows in paper)
    speedup = " / ".join(f"{gpu_only(rows['both']):.2f}" for rows in paper)
    yield f"{accuracy} % (in the paper 93.7 / 93.6 %)"
    yield f"The speedup over GPU only is {speedup} (in the paper 1.28 / 2.24)"


def published() -> Iterator[str]:
    """What one setting for all has, what several tried have, and the oracle; three settings of a loop; block sizes."""
    for record, portfolio in (("numa_prefetch/conf1.program", "try_3"), ("openmp_published/program", "try_4")):
        rows = rows_of(record)
        best, portfolio_gain = (f"{rows[row]['speedup_geometric']:.3f}" for row in ("best_single", portfolio))
        count = {"try_3": "three", "try_4": "four"}[portfolio]
        oracle = rows["default"]["oracle_geometric"]
        phrase = f"the best of {count} settings tried {portfolio_gain}"
        yield f"speedup of {best} over the default, {phrase}, and the oracle {oracle:.3f}"
    loops = rows_of("vectorization/structure")
    head, no_code = (f"{loops[row]['best_of_three']['speedup_geometric']:.2f}" for row in ("both", "no_code"))
    yield f"the speedup is {head}; with the three settings of a head without code it is {no_code}"
    for record in ("block_size/kernel", "block_size/h200.kernel"):
        blocks = rows_of(record)
        head, histogram = (percent(blocks[row]["oracle_gain_share"], 0) for row in ("both", "histogram"))
        oracle = blocks["both"]["oracle_geometric"]
        yield (
            f"the speedup of the oracle is {oracle:.2f}; a head with mirenc's vectors reaches {head} of this gain, and "
            f"one with an opcode histogram {histogram}"
        )
    yield f"Without code it is {percent(blocks['no_code']['oracle_gain_share'], 0)}"
    share = percent(blocks["both"]["best_of_three"]["oracle_gain_share"], 0)
    yield f"If three blocks are tried on the H200, it is {share}"
    yield f"The best block of one other GPU has {gain_share('all', 'as it is')} of the oracle's gain"
    best = rows_of("block_size_published/gpu")["best_single"]["error_rate"]
    yield f"the block that is best on all other GPUs takes {percent(best)} longer than the best block"


def gain_share(row: str, rule: str) -> str:
    """Share of the oracle's gain that the best block of one GPU has on another."""
    rows = {entry["title"]: entry["ways"] for entry in load("downstream/block_size_published/transfer.json")["rows"]}
    return percent(rows[row][rule]["oracle_gain_share"], 0)


def block_phrases() -> Iterator[str]:
    """In the README of the measured blocks: of the H200."""
    record, ceilings = rows_of("block_size/h200.kernel"), load("downstream/ceilings.json")["block_size.h200"]
    default, no_code, code = (record[row] for row in ("default", "no_code", "both"))
    yield f"is the best of {percent(default['accuracy'], 0)} of the samples"
    yield f"the best is x {default['oracle_geometric']:.3f}"
    yield f"over 5 % faster for {percent(default['headroom'], 0)}"
    oracle = ceilings["families"]
    largest = ", ".join(f"{name} {gain:.2f}" for name, gain in list(oracle.items())[:3])
    yield f"{largest}; everywhere else {[*oracle.values()][-1]:.2f} to {[*oracle.values()][3]:.2f}"
    low, high = code["speedup_interval"]
    yield f"x {code['speedup_geometric']:.3f} [{low:.3f}, {high:.3f}] on structures never seen"
    yield f"without code {no_code['speedup_geometric']:.3f}"
    yield f"adds {gain(code)}"
    slower = [percent(row["slowdowns_2"], 0) for row in (code, no_code)]
    yield f"by 2 % on {slower[0]} of the samples, without code on {slower[1]}"
    family = rows_of("block_size/h200.family")["both"]
    low, high = family["speedup_interval"]
    yield f"families never seen: x {family['speedup_geometric']:.3f} [{low:.3f}, {high:.3f}]"
    best_of_three = {row: record[row]["best_of_three"] for row in ("no_code", "both")}
    share = percent(best_of_three["both"]["oracle_gain_share"], 0)
    yield f"have x {best_of_three['both']['speedup_geometric']:.3f}, {share} of the oracle's"
    yield f"that a head without code prefers {best_of_three['no_code']['speedup_geometric']:.3f}"
    fixed_blocks = next(row for row in ceilings["rows"] if row["title"] == "the default and 2 fixed, the best kept")
    yield f"two fixed ones beside the default {fixed_blocks['speedup_geometric']:.3f}"
    ratio = load("mirenc/decide/ready/block_size.h200/head.json")["extra"]["evidence"]["worth"]
    yield f"worth {factor(ratio[0], ratio[1:])} of the default"


def transfer_phrases() -> Iterator[str]:
    """In the README of the published blocks."""
    as_is, one_try, two_tries = ("as it is", "tried beside the default", "the best two tried")
    rows = {row["title"]: row["ways"][as_is] for row in load("downstream/block_size_published/transfer.json")["rows"]}
    slower = {title: percent(row["slowdowns_2"], 0) for title, row in rows.items()}
    yield f"has {gain_share('all', as_is)} of the oracle's gain on another"
    yield f"slower than the default by 2 % on {slower['all']} of the pairs"
    other_maker = "to another maker's"
    yield f"Between makers it is {gain_share(other_maker, as_is)}, and {slower[other_maker]} are slower"
    yield f"One try beside the default has {gain_share('all', one_try)}, two tries {gain_share('all', two_tries)}"
    shares = [gain_share(kernel, as_is) for kernel in ("gemm", "convolution_kt", "dedispersion")]
    yield f"hold everywhere ({shares[0]} and {shares[1]}), those of dedispersion nowhere ({shares[2]})"


def speed() -> Iterator[str]:
    """In the README."""
    record = load("tests/benchmarks/runs.json")
    small = record["small"]["mirenc embed --no-cache"]["seconds"]
    large = record["large"]["mirenc embed, cold (empty cache)"]["seconds"]
    size = f"{record['counts']['instructions']:,} instructions"
    yield f"takes {small:.1f} s for a small file and {large:.0f} s for a module of {size}"


# -- the documents ---------------------------------------------------------------------------------------------------
def parameters() -> list[str]:
    """As the cards count them."""
    counts = []
    for model in MODELS:
        card = next(
            path
            for folder in ("mirenc/encoder/weights", "models")
            for path in ROOT.glob(f"{folder}/**/MODEL_CARD.md")
            if path.read_text(encoding="utf-8").startswith(f"# {model}\n")
        )
        count = re.search(r"([\d,]+) parameters", card.read_text(encoding="utf-8"))
        assert count is not None
        counts.append(f"{int(count[1].replace(',', '')) / 1e6:.1f} M parameters")
    return counts


IN_README = (weak_gains, suites, fixed_lists, speed)
IN_FIGURES = (
    *(parameters, search_phrases, unseen_phrases, suites, limits, pass_phrases),
    *(other_pool, drift_phrase, protocols, published),
)
PHRASES = {
    README: [parameters()[0], *(phrase for part in IN_README for phrase in part())],
    FIGURES: [phrase for part in IN_FIGURES for phrase in part()],
    "downstream/profile/README.md": [*profile_phrases(), *verified_phrase()],
    "downstream/block_size/README.md": [*block_phrases()],
    "downstream/block_size_published/README.md": [*transfer_phrases()],
}
TABLES: dict[str, dict[str, Callable[[], str]]] = {
    README: {"jobs": jobs_table},
    FIGURES: {
        "functions": function_table,
        "programs": program_table,
        "unseen": unseen_table,
        "drift": drift_table,
        "decisions": decision_table,
        "passes": pass_table,
    },
    "downstream/profile/README.md": {
        "branches": profile_table,
        "loops": trips_table,
        "repaired": overlap_table,
        "off": error_table,
        "worth": worth_table,
    },
}
MARKS = re.compile(r"(<!-- table (\w+) -->\s)(.*?)(<!-- end -->)", re.DOTALL)


PICTURES = {"docs/recall.svg": recall_picture, "docs/drift.svg": drift_picture}


def main() -> None:
    """Write the tables and pictures of the documents."""
    for picture, draw in PICTURES.items():
        (ROOT / picture).write_text(draw(), encoding="utf-8")
    for document, tables in TABLES.items():
        text = (ROOT / document).read_text(encoding="utf-8")
        text = MARKS.sub(lambda mark, tables=tables: f"{mark[1]}{tables[mark[2]]()}\n{mark[4]}", text)
        (ROOT / document).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
