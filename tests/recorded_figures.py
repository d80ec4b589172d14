"""What the documents say, made of the records: sentences and rows of tables, for `test_figures.py`."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from mirenc.metrics import group_interval

ROOT = Path(__file__).resolve().parents[1]
README, FIGURES, PRETRAIN = "README.md", "docs/figures.md", "pretrain/README.md"
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


def line(*cells: str) -> str:
    return " ".join(f"| {' | '.join(cells)} |".split())


# -- search ----------------------------------------------------------------------------------------------------------
PAIRS = [
    ("clang-14", "clang-16"),
    ("clang-14", "clang-19"),
    ("clang-16", "clang-19"),
]


def functions(names: str) -> list[dict[str, Any]]:
    settings = load("pretrain/functions.json")["settings"]
    return [settings[f"{first} {second} {names}"] for first, second in PAIRS]


FUNCTION_ROWS = {
    "mirenc-fast": "mirenc-fast",
    "its words alone, untrained": "mirenc-fast, words alone",
    "its text and graph without them": "mirenc-fast, text and graph",
    "mirenc-base": "mirenc-base",
    "bag of statements (tf-idf)": "bag of statements (tf-idf)",
    "opcode histogram": "opcode histogram, log1p",
}


def function_lines() -> Iterator[str]:
    """One row for each method, recall at 1 with names as written and hidden."""
    for title, row in FUNCTION_ROWS.items():
        cells = []
        for written, hidden in zip(functions("written"), functions("hidden"), strict=True):
            both = (f"{100 * one['rows'][row]['recall_at_1']:.1f}" for one in (written, hidden))
            cells.append(" / ".join(both))
        yield line(title, *cells)


def over(names: str, peer: str) -> str:
    return ", ".join(points(*one["rows"]["mirenc-fast"][peer]) for one in functions(names))


PROGRAM_ROWS = {
    "mirenc-fast": "mirenc-fast both",
    "its words alone, untrained": "mirenc-fast words",
    "its text and graph without them": "mirenc-fast text and graph",
    "mirenc-base": "mirenc-base both",
    "bag of statements (tf-idf)": "bag of statements",
    "opcode histogram": "opcode histogram, log1p",
    "IR2Vec 2.1.1, the better mode": "IR2Vec",
}
PROGRAM_SETTINGS = ("C", "C++", "C to C++", "-O0 to -O2")
PROGRAM_TITLES = ("within C", "within C++", "from C to C++", "from -O0 to -O2")


def program_scores(names: str, method: str) -> list[dict[str, Any]]:
    """MAP@R of each setting; of several modes of a method the best in each."""
    rows = [
        row
        for row in load("pretrain/programs.json")["names"][names]["pooled"]
        if row["vectors"] == "as it is" and row["method"].startswith(method)
    ]
    found = [[row["settings"][setting]["map_at_r"] for row in rows] for setting in PROGRAM_SETTINGS]
    return [max(scores, key=lambda score: score["mean"]) for scores in found]


def program_lines() -> Iterator[str]:
    """MAP@R with names as written and hidden; bold where it is above the bag by more than the interval."""
    yield line("", *PROGRAM_TITLES)
    for title, method in PROGRAM_ROWS.items():
        both = zip(program_scores("written", method), program_scores("hidden", method), strict=True)
        yield line(title, *(" / ".join(map(program_cell, scores)) for scores in both))


def program_cell(score: dict[str, Any]) -> str:
    cell = f"{100 * score['mean']:.1f}"
    return f"**{cell}**" if score["against_bag"][0] > 0 else cell


def program_gains(names: str) -> list[tuple[float, float, float]]:
    """MAP@R of the whole vector over its words alone, with the interval over tasks, which all have as many queries."""
    found = []
    for whole, words in zip(*(program_scores(names, f"mirenc-fast {part}") for part in ("both", "words")), strict=True):
        tasks = list(whole["by_task"])
        difference = np.array([whole["by_task"][task] - words["by_task"][task] for task in tasks])
        found.append((float(difference.mean()), *group_interval(difference, np.array(tasks))))
    return found


def learned_programs() -> Iterator[str]:
    yield f"({', '.join(PROGRAM_TITLES)}): {', '.join(points(*each) for each in program_gains('written'))} points"
    yield f"names hidden {', '.join(points(*each) for each in program_gains('hidden'))}"


def search_phrases() -> Iterator[str]:
    written = functions("written")
    yield f"Recall@1 in percent of {written[0]['functions']:,} functions"
    yield line("", *(f"{first} to {second}" for first, second in PAIRS))
    yield from function_lines()
    yield f"{over('written', 'over_words')} points"
    yield f"names hidden {over('hidden', 'over_words')}"
    yield f"{load('pretrain/programs.json')['tasks']} tasks with five solutions each"
    yield next(learned_programs())


# -- pre-training ----------------------------------------------------------------------------------------------------
def three(figures: dict[str, Any], key: str) -> str:
    return " / ".join(f"{figures[flow][key]:.3f}" for flow in ("control", "data", "call"))


def unseen_lines() -> Iterator[str]:
    """Both models on projects that no model before them saw, each beside the baselines that it came with."""
    record = load("pretrain/unseen.json")
    yield f"{len(record['versions'])} projects ({record['modules']:,} modules)"
    models = [record["models"][model] for model in MODELS]
    for title, kind in (("that stand in no training shard", "unseen"), ("as they occur", "occurring")):
        each = [model["mlm"][kind] for model in models]
        cells = [f"{percent(one['accuracy'])} (bigram {percent(one['accuracy_neighbours'])})" for one in each]
        yield line(f"Masked tokens of statements {title}, accuracy", *cells)
    cells = [f"{three(model['gae'], 'auc')} ({three(model['gae'], 'auc_degree_product')})" for model in models]
    yield line("Hidden edges, ROC AUC, control / data / call (degree product)", *cells)
    for title, key in (("", "accuracy_random"), (", pairs of near size", "accuracy_near_size")):
        each = [model["matching"] for model in models]
        cells = [f"{percent(one[key])} ({percent(one[f'{key}_size'])})" for one in each]
        yield line(f"Text and graph of one IR?, accuracy{title} (size alone)", *cells)


# -- decisions -------------------------------------------------------------------------------------------------------
ROWS = ("no_code", "hand", "histogram", "ir2vec", "both")


def rows_of(record: str) -> Any:
    """Figures of a record, named ``task/protocol`` or ``task/variant.protocol``."""
    return load(f"downstream/{record}.json")["figures"][re.split(r"[/.]", record)[-1]]


def gpu_only(row: dict[str, Any]) -> float:
    return row["speedup_over"]["GPU only"]["geometric"]


def gain(row: dict[str, Any], of: str = "") -> str:
    return factor(row[f"speedup_gain{of}"], row[f"speedup_gain{of}_interval"])


def accuracy_gain(row: dict[str, Any]) -> str:
    return f"{points(row['accuracy_gain'], *row['accuracy_gain_interval'])} points"


TASKS = {
    "Thread coarsening, speedup over never coarsening": "thread_coarsening/kernel",
    "Loop vectorization, measured, over LLVM's choice": "vectorization/structure",
    "OpenMP on two cores, measured, over all threads and static": "openmp/kernel",
    "OpenCL work groups on a CPU, measured, over 256 and 16x16": "block_size/kernel",
}
COMPILER = "the same, over a head that knows LLVM's choice and no code"


def decision_lines() -> Iterator[str]:
    for variant, gpu in (("nvidia", "NVIDIA"), ("amd", "AMD")):
        rows = rows_of(f"device_mapping/{variant}.kernel")
        cells = [percent(rows[row]["accuracy"]) for row in ROWS]
        yield line(f"Device mapping, {gpu}, accuracy", *cells, accuracy_gain(rows["both"]))
        cells = [f"{gpu_only(rows[row]):.3f}" for row in ROWS]
        yield line("the same in time, speedup over GPU only", *cells, gain(rows["both"]))
    for title, record in TASKS.items():
        rows = rows_of(record)
        cells = [f"{rows[row]['speedup_geometric']:.3f}" if row in rows else "" for row in ROWS]
        yield line(title, *cells, gain(rows["both"]))
        if "compiler" in rows:
            cells = [
                f"{rows[row]['speedup_gain_over_compiler']:.3f}" for row in ROWS if row in rows and row != "no_code"
            ]
            yield line(COMPILER, "", "", *cells, gain(rows["both"], "_over_compiler"))


def device_lines() -> Iterator[str]:
    """All rows of both GPUs in both metrics."""
    titles = {
        "no_code": "no code",
        "hand": "hand features",
        "histogram": "opcode histogram",
        "ir2vec": "IR2Vec 2.1.1 flow-aware",
        "text": "mirenc, text alone",
        "graph": "mirenc, graph alone",
        "both": "mirenc",
        "both_histogram": "mirenc + opcode histogram",
        "both_mlp": "mirenc, the paper's MLP head",
    }
    gpus = [rows_of(f"device_mapping/{variant}.kernel") for variant in ("nvidia", "amd")]
    for row, title in titles.items():
        cells = []
        for rows in gpus:
            one = rows[row]
            bare = row == "no_code"
            cells.append(
                percent(one["accuracy"])
                + ("" if bare else f", {points(one['accuracy_gain'], *one['accuracy_gain_interval'])}")
            )
            cells.append(f"{gpu_only(one):.3f}" + ("" if bare else f", {gain(one)}"))
        yield line(title, *cells)


def limits() -> Iterator[str]:
    """What a decision is not worth."""
    suite = {variant: rows_of(f"device_mapping/{variant}.suite") for variant in ("nvidia", "amd")}
    nvidia, amd = (percent(rows["both"]["accuracy"], 0) for rows in suite.values())
    always, no_code = suite["nvidia"]["default"]["accuracy"], suite["amd"]["no_code"]["accuracy"]
    yield f"{nvidia} on NVIDIA (always the GPU: {percent(always, 0)}), {amd} on AMD (no code: {percent(no_code, 0)})"
    loops, machine = rows_of("vectorization/structure"), load("downstream/vectorization/table/machine.json")
    yield f"The oracle is {loops['both']['oracle_geometric']:.2f} over LLVM on {machine['kernels']:,} loops"
    yield f"of {machine['groups']} structures"
    ours, histogram = (percent(loops[row]["oracle_gain_share"], 0) for row in ("both", "histogram"))
    yield f"{ours} of that gain, with an opcode histogram {histogram}"
    yield f"that alone has {loops['compiler']['speedup_geometric']:.3f}"
    openmp = rows_of("openmp/kernel")["both"]
    yield f"oracle {openmp['oracle_geometric']:.2f}, {percent(openmp['oracle_gain_share'], 0)} of it learned"


PASS_ROWS = ("no_code", "histogram", "ir2vec", "both")


def pass_figures(record: str) -> Any:
    return load(f"downstream/passes/{record}.held_out.json")["figures"]


def pass_lines() -> Iterator[str]:
    for title, record, figure, beside in (
        ("Bytes after -Oz, mean error in percent (MAPE)", "size_after.Oz", "mape", "both:without_sizes-0"),
        ("Which passes of -O3 fire, AUC", "pass_fires.O3", "auc", "both:without_fires-0"),
    ):
        figures = pass_figures(record)
        write = percent if figure == "mape" else "{:.3f}".format
        yield line(title, *(write(figures[row][figure]) for row in (*PASS_ROWS, beside)))
    figures = pass_figures("pass_list")
    saved = [f"{100 * (1 - 1 / figures[row]['speedup_geometric']):.2f} %" for row in PASS_ROWS]
    yield line("Best of 50 pass lists, smaller than -Oz by", *saved, "")


def pass_sentences() -> Iterator[str]:
    """The same in the README."""
    sizes, fires = pass_figures("size_after.Oz"), pass_figures("pass_fires.O3")
    cells = [percent(sizes[row]["mape"], 0) for row in (*PASS_ROWS, "both:without_sizes-0")]
    before = "Bytes after -Oz, mean error: no code {}, opcode histogram {}, IR2Vec {}, mirenc-fast {}"
    yield f"{before}, {{}} if taught all but sizes".format(*cells)
    cells = [f"{fires[row]['auc']:.3f}" for row in (*PASS_ROWS, "both:without_fires-0")]
    yield "Which passes of -O3 fire, AUC: {}, {}, {}, {}, {} if taught all but that".format(*cells)


def pass_phrases() -> Iterator[str]:
    record = load("downstream/passes/size_after.Oz.held_out.json")
    yield f"{record['tested']:,} functions and modules of {record['tested_groups']} unseen projects, one seed"
    found = load("downstream/passes/suggest.json")["figures"]["all"]
    tens = {row: found[row]["saved"]["10"] for row in ("cover", "both", "no_code", "random")}
    cover, code, size, random = (f"{tens[row][0]:.2f}" for row in tens)
    low, high = tens["cover"][1:]
    yield (
        f"save {cover} % [{low:.2f}, {high:.2f}] over -Oz; ten that the code chose save {code}, "
        f"ten that the size chose {size}, ten at random {random}"
    )
    projects = load("downstream/passes/projects.json")["projects"]
    saved = ", ".join(f"{name} {one['saved']:.1f} %" for name, one in projects.items())
    yield f"smaller than -Oz by: {saved}"


# -- what only pretrain/README.md has --------------------------------------------------------------------------------
def masked(figures: dict[str, Any]) -> tuple[str, str]:
    """Cells of the model and of its baselines."""
    bigram = f"{percent(figures['accuracy_neighbours'])}: {percent(figures['errors_removed'])} of its errors removed"
    often = f"most frequent token {percent(figures['accuracy_most_frequent'])}"
    return f"{percent(figures['accuracy'])} ({figures['perplexity']:.1f})", f"bigram {bigram}; {often}"


def retrieved(figures: dict[str, Any]) -> str:
    return f"{percent(figures['recall_at_1'])} / {figures['mrr']:.3f}"


def base_lines() -> Iterator[str]:
    figures = load("pretrain/mirenc-base.figures.json")
    mlm, gae, matching, retrieval = (figures[name] for name in ("mlm", "gae", "matching", "retrieval"))
    for title, kind in (
        ("distinct statements that training never saw", "unseen"),
        ("distinct statements", "distinct"),
        ("statements as they occur", "occurring"),
    ):
        yield line(f"Masked tokens of {title}, accuracy (perplexity)", *masked(mlm[kind]))
    baselines = f"degree product {three(gae, 'auc_degree_product')}"
    baselines += f", common neighbours {three(gae, 'auc_common_neighbours')}"
    yield line("Graph reconstruction, ROC AUC, control / data / call", three(gae, "auc"), baselines)
    for title, key in (
        ("Text and graph of one IR?, accuracy, random negatives", "accuracy_random"),
        ("the same, negatives of nearest size", "accuracy_near_size"),
    ):
        yield line(title, percent(matching[key]), f"size difference {percent(matching[f'{key}_size'])}")
    title = f"Function at -O0 to itself at -O2, {retrieval['functions']:,} candidates, recall@1 / MRR, both"
    histogram, bag = (retrieved(retrieval[name]) for name in ("opcode_histogram", "bag_of_statements"))
    baselines = f"opcode histogram {histogram}; bag of statements (tf-idf) {bag}"
    yield line(title, retrieved(retrieval["both"]), baselines)


def intervals() -> Iterator[str]:
    for peer, title in (
        ("over_words", "its words alone"),
        ("over_bag", "the bag"),
        ("over_mirenc-base", "mirenc-base"),
    ):
        yield f"over {title}: {over('written', peer)} points; hidden {over('hidden', peer)}"
    words = (f"{100 * score['mean']:.1f}" for score in program_scores("written", "mirenc-fast words"))
    yield f"Its words alone have {', '.join(words)}"


# -- what only docs/figures.md has -----------------------------------------------------------------------------------
def other_pool() -> Iterator[str]:
    record = load("pretrain/retrieval.json")
    found = {(row["method"], row["vectors"]): percent(row["recall_at_1"]) for row in record["rows"]}
    ir2vec, mapped = found["IR2Vec symbolic", "as it is"], found["IR2Vec symbolic", "level map"]
    ours, bag = found["mirenc-base both", "as it is"], found["bag of statements", "as it is"]
    yield f"{record['functions']:,} functions that IR2Vec reads"
    yield f"{ir2vec} as it is and {mapped} with a map fitted like ours"
    yield f"`mirenc-base` {ours}, the bag of statements {bag}"


def protocols() -> Iterator[str]:
    """The paper's folds, beside the paper's own figures."""
    paper = [rows_of(f"device_mapping/{gpu}.paper") for gpu in ("nvidia", "amd")]
    accuracy = " / ".join(f"{100 * rows['both']['accuracy']:.1f}" for rows in paper)
    speedup = " / ".join(f"{gpu_only(rows['both']):.2f}" for rows in paper)
    yield f"{accuracy} % (the paper: 93.7 / 93.6) and {speedup} times GPU only (1.28 / 2.24)"


def published() -> Iterator[str]:
    """What one setting for all has, what several tried have, and the oracle; three settings of a loop; block sizes."""
    for record, tried in (("numa_prefetch/conf1.program", "try_3"), ("openmp_published/program", "try_4")):
        rows = rows_of(record)
        best, several = (f"{rows[row]['speedup_geometric']:.3f}" for row in ("best_single", tried))
        count = {"try_3": "three", "try_4": "four"}[tried]
        oracle = rows["default"]["oracle_geometric"]
        yield f"best single setting {best} over the default, {count} settings tried {several}, oracle {oracle:.3f}"
    loops = rows_of("vectorization/structure")
    ours, no_code = (f"{loops[row]['best_of_three']['speedup_geometric']:.2f}" for row in ("both", "no_code"))
    yield f"Three settings measured have {ours}, proposed without code {no_code}"
    blocks = rows_of("block_size/kernel")
    ours, histogram = (percent(blocks[row]["oracle_gain_share"], 0) for row in ("both", "histogram"))
    oracle = blocks["both"]["oracle_geometric"]
    yield f"oracle {oracle:.2f}, our vectors find {ours} of it, an opcode histogram {histogram}"
    best = rows_of("block_size_published/gpu")["best_single"]["error_rate"]
    yield f"the best block of the other GPUs is {percent(best)} from the best"


# -- the documents ---------------------------------------------------------------------------------------------------
def parameters() -> Iterator[str]:
    """As the cards count them."""
    for model in MODELS:
        card = next(
            path
            for folder in ("mirenc/weights", "models")
            for path in ROOT.glob(f"{folder}/**/MODEL_CARD.md")
            if path.read_text(encoding="utf-8").startswith(f"# {model}\n")
        )
        count = re.search(r"([\d,]+) parameters", card.read_text(encoding="utf-8"))
        assert count is not None
        yield f"{int(count[1].replace(',', '')) / 1e6:.1f} M parameters"


BOTH = (parameters, search_phrases, unseen_lines, decision_lines, limits, pass_phrases)
PHRASES = {
    PRETRAIN: [phrase for part in (base_lines, function_lines, intervals) for phrase in part()],
    README: [phrase for part in (*BOTH, pass_sentences) for phrase in part()],
    FIGURES: [
        phrase
        for part in (*BOTH, program_lines, learned_programs, pass_lines, other_pool, device_lines, protocols, published)
        for phrase in part()
    ],
}
