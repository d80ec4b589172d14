"""The report of two builds: what stands in it, and that names from the code make no markup."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
from diff_functions import function

from mirenc.search.diff import Change
from mirenc.search.report import Report, html_report, markdown_report

LONG = "std::map<" + "int, " * 30 + "int>::find"
HOSTILE = "<script>alert(1)</script>|`*a*` [x](http://e.vil) @all #1 __b__\n</td>\u202e"


def report(*changes: Change) -> Report:
    return Report("old", "new", "mirenc-search", "O2", changes)


@pytest.fixture
def changes() -> Report:
    """200 bytes less in ``a.ll``, 25 more in ``b.ll``."""
    return report(
        Change(function("same", size=1000), function("same", size=1000), same_code=True),
        Change(function("more", "b.ll", 100), function("more", "b.ll", 125), why=("loops 1 -> 2", "calls puts")),
        Change(function("gone", size=200), None),
        Change(function("unknown", size=None), function("unknown", size=None), why=("operands or branches",)),
    )


def test_rows_and_totals(changes: Report) -> None:
    assert [(row.name, row.kind, *row.sizes) for row in changes.functions] == [
        ("gone", "vanished", "-200", "200", ""),
        ("more", "grew", "+25", "100", "125"),
        ("unknown", "size unknown", "?", "?", "?"),
    ]
    assert [(row.file, row.more, row.old, row.new) for row in changes.files] == [
        ("a.ll", -200, 1200, 1000),
        ("b.ll", 25, 100, 125),
    ]
    assert changes.kinds == {"grew": 1, "identical": 1, "size unknown": 1, "vanished": 1}
    assert changes.headline == "-175 bytes of code, -13.5 %"  # of 1,300
    deep = report(*(Change(None, function("f", f"../x/lib/{name}")) for name in ("a.ll", "z/b.ll")))
    assert [row.label for row in deep.functions] == ["a.ll: f", "z/b.ll: f"]
    assert [row.file for row in deep.changed_files] == ["a.ll", "z/b.ll"]
    assert deep.files[0].file == "../x/lib/a.ll"
    renamed = report(Change(function("f"), function("g", "b.ll"), same_code=True))
    assert renamed.functions[0].label == "a.ll -> b.ll: f -> g"
    assert (renamed.headline, report().headline) == ("+0 bytes of code", "+0 bytes of code")


def test_a_total_of_unknown_sizes_is_unknown() -> None:
    unknown = report(Change(function("f", size=None), function("f", size=None)), Change(function("g", size=None), None))
    assert (unknown.total.sizes, unknown.headline) == (("?", "?", "?"), "? bytes of code")
    assert "\n? → ? bytes. Functions: 1 size unknown, 1 vanished." in markdown_report(unknown, 2)


def test_markdown(changes: Report) -> None:
    text = markdown_report(changes, 2)
    assert text.startswith("### old → new: -175 bytes of code, -13&#46;5 %\n".replace("&#46;", "."))
    rows = [line.split(" | ") for line in text.splitlines() if "<code>" in line]
    assert [row[1].count("🟦") - row[1].count("🟧") for row in rows] == [8, -1, 8, -1]
    assert rows[1][-1] == "loops 1 → 2; calls puts |"
    assert "And 1 more." in text
    assert "<details>" not in text


class Tags(HTMLParser):
    """Counts the tags of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)


def test_names_make_no_markup() -> None:
    def with_name(name: str) -> Report:
        return report(Change(function(name), function(name, size=20), why=(f"calls {name}",)))

    plain = with_name("x" * len(HOSTILE))
    page, text = html_report(with_name(HOSTILE)), markdown_report(with_name(HOSTILE), 9)
    assert Tags(page).tags == Tags(html_report(plain)).tags
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    (row,) = [line for line in text.splitlines() if line.startswith("| +10")]
    assert row.count("|") == 8
    assert re.findall(r"<[^>]*>", text) == re.findall(r"<[^>]*>", markdown_report(plain, 9))
    assert not re.search(r"[`*@]|\b_|_\b|\]\(|http:|(?<!&)#|&#64;\w", row.replace("&#64;&#8288;", ""))
    assert "\u202e" not in page + text


def test_long_names_are_shortened_and_given_whole() -> None:
    changes = report(Change(None, function(LONG)))
    assert LONG.replace("<", "&lt;").replace(">", "&gt;") in html_report(changes)
    (listed,) = [line for line in markdown_report(changes, 9).splitlines() if line.startswith("- ")]
    assert listed.count("int, ") == 30


@pytest.mark.parametrize(("names", "k", "rows", "shown_names"), [(4, 9, 4, 2), (400, 400, 165, 0)])
def test_a_report_fits_a_comment(names: int, k: int, rows: int, shown_names: int) -> None:
    """Of GitHub, 65,536 characters: long names are left out before rows, and counted."""
    changes = (Change(None, function(f"{place}{'*' * 5000}"), why=("calls f",)) for place in range(names))
    text = markdown_report(report(*changes), k)
    assert 50_000 < len(text) < 65_536
    shown = text.count("| +")
    assert shown == pytest.approx(rows, abs=rows // 9)
    assert (f"And {names - shown:,} more." in text) == (shown < names)
    listed = re.findall("^- <code>.*", text, re.MULTILINE)
    assert len(listed) == shown_names
    assert (
        f"\n- {shown - shown_names:,} more are too long for a comment; a report in .html or .json has them.\n" in text
    )


def test_the_page_asks_nobody_for_anything(changes: Report) -> None:
    assert not re.search(r"(src|href|url)\s*[=(]", html_report(changes))


def test_common_folders_of_the_builds_are_not_in_the_heading() -> None:
    def heading(old: str, new: str) -> str:
        return html_report(Report(old, new, "m", "O2", [])).partition("<h1>")[2].partition("</h1>")[0]

    assert heading("/r/one/old", "/r/one/new") == "old → new"
    assert heading("/r/one/a", "/r/only/a") == "one/a → only/a"
    assert heading("O2", "Oz") == "O2 → Oz"
    assert heading("p/a.ll", "p/a.ll") == "a.ll → a.ll"


def test_functions_of_equal_size_have_no_bar() -> None:
    assert Tags(html_report(report(Change(function("f"), function("f"), why=("calls g",))))).tags.count("i") == 0


def test_nothing_changed() -> None:
    same = report(Change(function("f"), function("f"), same_code=True))
    assert "No function changed." in html_report(same)
    assert "|" not in markdown_report(same, 9)
