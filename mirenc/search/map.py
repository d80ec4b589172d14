"""A scatter plot of a table of vectors as one HTML page, which needs no network.

By t-SNE (van der Maaten and Hinton, JMLR 2008) of the cosines that a search ranks by.
"""

import json
from collections import Counter
from collections.abc import Callable
from html import escape
from pathlib import PurePath
from typing import Any

import numpy as np

from mirenc.base.arrays import Float32, Int64
from mirenc.base.cosines import Nearest, nearest
from mirenc.base.errors import ConfigError, needs
from mirenc.base.shown import shorten
from mirenc.search.pages import fill_page
from mirenc.search.table import VectorTable

with needs("map", "a map needs plotly and scikit-learn"):
    from plotly.offline import get_plotlyjs
    from scipy.sparse import csr_array
    from scipy.spatial import cKDTree
    from sklearn.manifold import TSNE
    from sklearn.neighbors import NearestNeighbors

# Fewer steps and coarser sums than scikit-learn's defaults: 4.90 instead of 4.92 neighbours are kept for 5,000
# functions, in 0.4 of the time.
_TSNE_OPTIONS = {"max_iter": 500, "angle": 0.8}
_MIN_ROWS = 10  # for t-SNE
_PERPLEXITY = 30
_SHOWN_NEIGHBOURS = 3  # neighbours that a point names
_GROUPS = 49  # and one for the rest: map.html has five symbols in ten colours
_MAX_LABELLED = 40  # points: fewer have their names beside them
_MIN_DISTANCE = 0.008  # of the larger side of the map: about a point's width on a screen
_NOTE = """ The percentage says how often the nearest function at such a cosine was the right one, where projects never
trained on were searched for the same functions as another compiler or level made them."""


def draw_map(
    table: VectorTable, name: str, *, most: int = 5000, sure: Callable[[float], float | None] = lambda cosine: None
) -> str:
    """The HTML page for a table called ``name``; deterministic on one machine.

    At most ``most`` rows are drawn, a sample with a fixed seed; neighbours are those among all rows. ``sure`` maps a
    cosine to the share of nearest functions at that cosine which are the right ones. Colours stand for the first
    folders, or files, in which the paths differ.

    Raises ConfigError: fewer than two rows. Importing this module raises MissingExtraError: no plotly or scikit-learn.
    """
    if len(table) < 2:
        problem = f"{name}: a map needs at least two points, and there is only {len(table)} {table.level}"
        raise ConfigError(f"{problem}. Give more files or a finer level (--level)")
    rows = np.sort(np.random.default_rng(0).permutation(len(table))[:most])
    sample = np.asarray(table.vectors[rows])
    neighbours, cosines = _nearest_others(sample, np.arange(len(rows)), sample, 3 * _PERPLEXITY + 1)
    places, k = _spread(_places(sample, neighbours, cosines)).round(4), min(10, len(rows) - 1)
    map_rows = NearestNeighbors(n_neighbors=k).fit(places).kneighbors(return_distance=False)  # (n, k), itself left out
    mean_kept = (map_rows[:, :, None] == neighbours[:, None, :k]).any(axis=2).sum(axis=1).mean()
    if len(rows) < len(table):
        neighbours, cosines = _nearest_others(sample, rows, table.vectors, _SHOWN_NEIGHBOURS)
    paths, tops = _paths([source["file"] for source in table.sources])

    def label_lines(row: int) -> list[str]:
        path = paths[table.source_row[row]]
        return [path] if table.level == "module" else [table.names[row], path]

    counts = Counter(tops[table.source_row[row]] for row in rows.tolist()).most_common()
    other_group = f"{len(counts) - _GROUPS} others"
    group_of = {top: top if rank < _GROUPS else other_group for rank, (top, _) in enumerate(counts)}
    groups: dict[str, Any] = {name: {"name": _html_label(name), "points": []} for name in group_of.values()}
    for number, row in enumerate(rows.tolist()):
        first, *details = map(_html_label, label_lines(row))
        lines = [f"<b>{first}</b>", *details, ""]
        for rank, neighbour in enumerate(neighbours[number, :_SHOWN_NEIGHBOURS].tolist()):
            right = None if rank else sure(float(cosines[number, rank]))
            share = "" if right is None else f" ({right:.0%})"
            lines.append(f"{cosines[number, rank]:.3f}{share}  {'  '.join(map(_html_label, label_lines(neighbour)))}")
        point = [*places[number].tolist(), "<br>".join(lines), "\n".join(label_lines(row))]
        point += [_html_label(label_lines(row)[0], 24)] * (len(rows) < _MAX_LABELLED)
        groups[group_of[tops[table.source_row[row]]]]["points"].append(point)
    maker, total_text = table.maker, f" of {len(table):,}" if len(rows) < len(table) else ""
    return fill_page(
        "map.html",
        title=escape(f"{len(rows):,}{total_text} {maker.level}s of {name}"),
        level=maker.level,
        k=str(k),
        few=json.dumps(len(rows) < _MAX_LABELLED),
        kept=f"{mean_kept:.1f}",
        all=f"{len(table):,}",
        right="" if sure(1) is None else _NOTE,
        plotly=get_plotlyjs(),
        groups=json.dumps(list(groups.values())).replace("<", "\\u003c"),  # no end of the script
        model=escape(maker.model + (f" under the map {maker.map}" if maker.map else "")),
    )


def _nearest_others(vectors: Float32, rows: Int64, candidates: Float32, k: int) -> Nearest:
    """`nearest` for vectors that are ``rows`` of the candidates, each without itself."""
    neighbours, cosines = nearest(vectors, candidates, k + 1)
    itself = neighbours == rows[:, None]
    itself[~itself.any(axis=1), -1] = True  # one of more than k equals
    return neighbours[~itself].reshape(len(rows), -1), cosines[~itself].reshape(len(rows), -1)


def _places(vectors: Float32, neighbours: Int64, cosines: Float32) -> Float32:
    """Points (n, 2), by t-SNE that starts from the two principal components, or by these alone for few vectors."""
    unit = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    unit -= unit.mean(axis=0)
    components = unit @ np.linalg.eigh(unit.T @ unit)[1][:, :-3:-1]
    if (count := len(components)) < _MIN_ROWS:
        return components
    columns = np.column_stack([np.arange(count), neighbours])  # (n, k), each one first: scikit-learn wants it there
    distances = np.column_stack([np.zeros(count), np.sqrt(2 - 2 * cosines)])  # of vectors of length 1
    starts = np.arange(count + 1) * columns.shape[1]
    graph = csr_array((distances.ravel(), columns.ravel(), starts), shape=(count, count))
    init = 1e-4 * components / max(components[:, 0].std(), 1e-12)
    options = {"perplexity": min(_PERPLEXITY, (count - 1) / 3), "metric": "precomputed", "init": init, **_TSNE_OPTIONS}
    return TSNE(**options, random_state=0).fit_transform(graph)


def _spread(places: Float32) -> Float32:
    """Push points of ``places`` (n, 2) apart that would hide each other, such as copies of one function."""
    min_distance = _MIN_DISTANCE * float(np.ptp(places, axis=0).max()) or 1.0
    rng = np.random.default_rng(0)
    spread = places + rng.normal(scale=1e-3 * min_distance, size=places.shape)  # equal points get a direction
    for _ in range(100):
        pairs = cKDTree(spread).query_pairs(min_distance, output_type="ndarray")  # (p, 2)
        if not len(pairs):
            break
        offset = spread[pairs[:, 0]] - spread[pairs[:, 1]]  # (p, 2)
        length = np.maximum(np.linalg.norm(offset, axis=1, keepdims=True), 1e-9 * min_distance)
        push = offset / length * (1.02 * min_distance - length) / 2
        for column, sign in ((0, 1), (1, -1)):
            np.add.at(spread, pairs[:, column], sign * push)
    return spread.astype(np.float32)


def _paths(files: list[str]) -> tuple[list[str], list[str]]:
    """Paths without their common folders, and the first folder, or file, of what is left of each."""
    parts = [PurePath(file).parts for file in files]
    pairs = enumerate(zip(min(parts), max(parts), strict=False))
    start = next((position for position, (first, last) in pairs if first != last), len(parts[0]) - 1)
    return ["/".join(part[start:]) for part in parts], [part[start] for part in parts]


def _html_label(text: str, width: int = 60) -> str:
    """Shortened, and escaped for HTML."""
    return escape(shorten(text, width), quote=False)
