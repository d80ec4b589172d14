"""What changed between two builds, as a report for people: a page of HTML, and Markdown for a pull request."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from itertools import accumulate
from typing import NamedTuple

from mirenc.base.shown import printable, shorten, shorten_all
from mirenc.search.diff import Change
from mirenc.search.pages import fill_page

_MAX_COMMENT = 60_000  # characters of a report in Markdown; GitHub takes comments of up to 65,536
_MAX_FAILED, _MAX_COMPLAINT = 10, 300  # files that a comment names, and characters about each
_SQUARES = 8  # of the longest bar in Markdown
# What may start a tag, a cell, an emphasis, a mention, a link; underscores inside of a word do nothing.
_MARKUP = re.compile(r"(?<![^\W_])_+|_+(?![^\W_])|[\\`*{}\[\]<>#|~@&!$^]|:(?=//)|(?<=w)\.", re.IGNORECASE)


class Row(NamedTuple):
    """A function or file. ``more``: bytes added; sizes are None where a build lacks it or its size is unknown."""

    file: str
    name: str
    more: int | None
    old: int | None
    new: int | None
    kind: str = ""
    why: tuple[str, ...] = ()

    @property
    def sizes(self) -> tuple[str, str, str]:
        """Bytes added, in OLD and in NEW; "?" for an unknown size, empty where a build lacks the function."""
        delta = "?" if self.more is None else f"{self.more:+,}"
        old, new = ("?" if size is None else f"{size:,}" for size in (self.old, self.new))
        return delta, "" if self.kind == "appeared" else old, "" if self.kind == "vanished" else new

    @property
    def label(self) -> str:
        """The file, if it is not the only one, and the name."""
        return ": ".join(part for part in (self.file, self.name) if part)


@dataclass(frozen=True)
class Report:
    """The changes between the builds ``old`` and ``new`` (paths), by the vectors of ``model``, in the form ``form``.

    ``failed`` has a line for each file that was not read.
    """

    old: str
    new: str
    model: str
    form: str
    changes: Sequence[Change]
    failed: Sequence[str] = ()

    @cached_property
    def functions(self) -> list[Row]:
        """Functions that are not identical, the largest change of size first; files without their common folders."""
        rows = [_function_row(change, self._folder) for change in self.changes if change.kind != "identical"]
        return sorted(rows, key=lambda row: (-abs(row.more or 0), row.kind, row.label))

    @cached_property
    def files(self) -> list[Row]:
        """Files by the bytes of their functions, the largest change first."""
        old, new = Counter[str](), Counter[str]()
        for change in self.changes:
            for count, function in ((old, change.old), (new, change.new)):
                if function and change.bytes is not None:
                    count[function.file] += function.bytes or 0
        rows = [Row(name, "", new[name] - old[name], old[name], new[name]) for name in old.keys() | new.keys()]
        return sorted(rows, key=lambda row: (-abs(row.more or 0), row.file))

    @property
    def changed_files(self) -> list[Row]:
        """Files that grew or shrank, without their common folders; none if there is one file."""
        changed = [row for row in self.files if row.more and len(self.files) > 1]
        return [row._replace(file=row.file.removeprefix(self._folder)) for row in changed]

    @cached_property
    def _folder(self) -> str:
        """The folders that all files have in common, with a slash at the end; "" if there are none."""
        folders = [os.path.dirname(row.file) for row in self.files]
        try:
            return os.path.join(os.path.commonpath(folders), "")
        except ValueError:  # no files, or absolute and relative paths
            return ""

    @property
    def short_builds(self) -> list[str]:
        """The paths of the builds, printable, without the folders that they have in common at the start."""
        common = os.path.commonprefix([path[: path.rfind("/") + 1] for path in (self.old, self.new)])  # noqa: RUF071
        start = common.rfind("/") + 1
        return [printable(path[start:]) for path in (self.old, self.new)]

    @cached_property
    def total(self) -> Row:
        """All functions whose sizes are known; its sizes are None if there are functions, but none of known size."""
        if self.changes and not self.files:
            return Row("all", "", None, None, None)
        old = sum(row.old or 0 for row in self.files)
        new = sum(row.new or 0 for row in self.files)
        return Row("all", "", new - old, old, new)

    @cached_property
    def kinds(self) -> dict[str, int]:
        """Number of changes of each kind (`Change.kind`), sorted by kind."""
        return dict(sorted(Counter(change.kind for change in self.changes).items()))

    @property
    def headline(self) -> str:
        """The bytes added in all, also in percent."""
        share = f", {100 * self.total.more / self.total.old:+.1f} %" if self.total.more and self.total.old else ""
        return f"{self.total.sizes[0]} bytes of code{share}"


def _function_row(change: Change, folder: str) -> Row:
    builds = [function for function in (change.old, change.new) if function]
    files = dict.fromkeys(function.file.removeprefix(folder) for function in builds if function.file != ".")
    names = dict.fromkeys(function.name for function in builds)
    old, new = change.old and change.old.bytes, change.new and change.new.bytes
    return Row(" -> ".join(files), " -> ".join(names), change.bytes, old, new, change.kind, change.why)


def _arrows(text: str) -> str:
    return printable(text).replace(" -> ", " → ")


def _largest_change(rows: Iterable[Row]) -> int:
    return max((abs(row.more or 0) for row in rows), default=0) or 1


# -- Markdown ----------------------------------------------------------------------------------------------------------
def markdown_report(report: Report, k: int) -> str:
    """The report for a comment on a pull request: totals, the first ``k`` functions and files, long names at the end.

    Names from the code are escaped: they make no markup, link or mention. Squares are bars, blue for smaller. What a
    comment has no room for is left out, and the report says how much that is.
    """
    kinds = ", ".join(f"{count:,} {kind}" for kind, count in report.kinds.items())
    _, old, new = report.total.sizes
    heading = [f"### {_markdown(shorten(report.old))} → {_markdown(shorten(report.new))}: {report.headline}", ""]
    heading += [f"{old} → {new} bytes. Functions: {kinds}."]
    if report.failed:
        lines = [shorten(line, _MAX_COMPLAINT) for line in report.failed[:_MAX_FAILED]]
        remainder = [f"and {len(report.failed) - _MAX_FAILED:,} more"] * (len(report.failed) > _MAX_FAILED)
        heading += ["", "Files that were not read:", "", *(f"- {_markdown(line)}" for line in lines + remainder)]
    while True:
        tables = _markdown_table(report.functions, "function", k) + _markdown_table(report.changed_files, "file", k)
        text = "\n".join(heading + tables) + "\n"
        if len(text) < _MAX_COMMENT or not k:
            break
        k = 9 * k // 10
    rows = report.functions[:k] + report.changed_files[:k]
    names = dict.fromkeys(row.label for row in rows if shorten(row.label) != printable(row.label))
    return text + _long_names([report.old, report.new, *names], _MAX_COMMENT - len(text))


def _long_names(names: list[str], room: int) -> str:
    """A section with the full names that the report shortens, in at most ``room`` characters."""
    lines = [f"- {_code(name)}\n" for name in names if shorten(name) != printable(name)]
    fitting_lines = [line for line, length in zip(lines, accumulate(map(len, lines)), strict=True) if length < room]
    omitted = len(lines) - len(fitting_lines)
    if omitted:
        fitting_lines.append(f"- {omitted:,} more are too long for a comment; a report in .html or .json has them.\n")
    return f"\n<details><summary>Long names</summary>\n\n{''.join(fitting_lines)}\n</details>\n" if lines else ""


def _markdown_table(rows: Sequence[Row], title: str, k: int) -> list[str]:
    if not rows:
        return []
    largest, has_reasons = _largest_change(rows), title == "function"
    labels = shorten_all(row.label for row in rows)
    lines = ["", f"| bytes | | old | new | {title} |" + " change | why |" * has_reasons]
    lines += ["| ---: | :--- | ---: | ---: | :--- |" + " :--- | :--- |" * has_reasons]
    for row in rows[:k]:
        delta, old, new = row.sizes
        squares = ("🟧" if (row.more or 0) > 0 else "🟦") * -(-abs(row.more or 0) * _SQUARES // largest)
        cells = [delta, squares, old, new, _code(labels[row.label])]
        cells += [row.kind, _markdown("; ".join(map(shorten, row.why)))] if has_reasons else []
        lines.append(f"| {' | '.join(cells)} |")
    return [*lines, *(["", f"And {len(rows) - k:,} more."] if len(rows) > k else [])]


def _code(text: str) -> str:
    return f"<code>{_markdown(text)}</code>"


def _markdown(text: str) -> str:
    """``text`` as Markdown that shows it as it is."""
    escaped = _MARKUP.sub(lambda match: "".join(f"&#{ord(c)};" for c in match[0]), _arrows(text))
    return escaped.replace("&#64;", "&#64;&#8288;")  # a word joiner: nobody is mentioned


# -- HTML --------------------------------------------------------------------------------------------------------------
def html_report(report: Report) -> str:
    """The report as one page, with all functions and files. Its search wants every word of what is typed in a row."""
    files = report.changed_files
    kinds = [
        f'<label><input type="checkbox" value="{kind}" checked> {count:,} {kind}</label>'
        for kind, count in report.kinds.items()
        if kind != "identical"
    ]
    if identical := report.kinds.get("identical"):
        kinds.append(f'<span class="soft">{identical:,} identical, not listed</span>')
    failures = "".join(f"<li>{escape(printable(line))}</li>" for line in report.failed)
    return fill_page(
        "report.html",
        title=escape(" → ".join(report.short_builds)),
        builds=escape(f"{printable(report.old)} → {printable(report.new)}"),
        headline=escape(report.headline),
        sizes=" → ".join(report.total.sizes[1:]),
        kinds="\n".join(kinds),
        functions=_html_rows(report.functions) or '<tr><td class="soft">No function changed.</td></tr>',
        files=f'<h2>Files</h2>\n<table class="files">\n{_html_rows(files)}\n</table>' if files else "",
        failed=f"<h2>Files that were not read</h2>\n<ul>{failures}</ul>" if failures else "",
        model=escape(report.model),
        form=escape(report.form),
    )


def _html_rows(rows: Sequence[Row]) -> str:
    largest = _largest_change(rows)
    short = shorten_all(_arrows(name) for row in rows for name in (row.name or row.file, row.file))
    return "\n".join(_html_row(row, largest, short) for row in rows)


def _html_row(row: Row, largest: int, short: dict[str, str]) -> str:
    delta, old, new = row.sizes
    change = f"{old} → {new}" if old and new else old or new
    width = f"{50 * abs(row.more or 0) / largest:.1f}%"
    bar = f'<i class="{"more" if row.more > 0 else "less"}" style="width:{width}"></i>' if row.more else ""
    reasons = "".join(f"<li>{escape(_arrows(reason))}</li>" for reason in row.why)
    location = f"<small>{_html_name(row.file, short)}</small>" if row.file and row.name else ""
    kind = f'<td class="kind">{escape(row.kind)}</td>' if row.kind else ""
    return (
        f'<tr data-kind="{escape(row.kind)}"><td class="name">{_html_name(row.name or row.file, short)}{location}</td>'
        f'<td class="bar">{bar}</td><td class="bytes">{delta}</td><td class="sizes">{change}</td>'
        f"{kind}{f'<td class=why><ul>{reasons}</ul></td>' if row.kind else ''}</tr>"
    )


def _html_name(name: str, short: dict[str, str]) -> str:
    """A long name is shortened, and a click shows the whole."""
    full = _arrows(name)
    code = f"<code>{escape(short[full])}</code>"
    if short[full] == full:
        return code
    return f'<details><summary title="Show the whole name">{code}</summary><code>{escape(full)}</code></details>'
