"""The site, the page of `mirenc map` and that of `mirenc diff` in a browser: a desktop's and a phone's, light and dark.

Nothing may be cut: a page does not scroll sideways, and what is wider than the page scrolls inside its own box.
``MIRENC_SCREENSHOTS=FOLDER`` keeps a picture of each.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from diff_functions import function

from mirenc.search import Maker, VectorTable
from mirenc.search.diff import Change
from mirenc.search.report import Report, html_report

pytestmark = [pytest.mark.needs("browser"), pytest.mark.slow]
ROOT = Path(__file__).resolve().parents[1]
SIZES = {"desktop": (1280, 800), "phone": (390, 844)}
SITE = ("", "guides/search/", "guides/review/", "guides/decide/", "figures/", "reference/cli/", "reference/search/")

# Elements with text or a picture that end outside of the window and outside of every box that scrolls.
CUT = """() => {
  const inside = element => element.getBoundingClientRect().right <= innerWidth + 1;
  const scrolls = element => ["auto", "scroll"].includes(getComputedStyle(element).overflowX);
  const shown = (element) => {
    for (let box = element; box; box = box.parentElement) {
      if (inside(box) && (box === element || scrolls(box))) return true;
    }
    return false;
  };
  const cut = [...document.querySelectorAll("pre, code, table, img, h1, h2, p, input, label, td")]
    .filter(element => element.getBoundingClientRect().width && !element.closest("nav, .md-sidebar, .md-search"))
    .filter(element => !shown(element));
  const wide = document.documentElement.scrollWidth > innerWidth ? ["the page itself"] : [];
  return wide.concat(cut.map(element => element.tagName + " " + element.textContent.slice(0, 80)));
}"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        # As root, which CI is, Chromium has no sandbox.
        chromium = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        yield chromium
        chromium.close()


def opened(browser: Any, address: str, size: str, scheme: str = "light") -> Any:
    """The page at ``address``. Raises AssertionError: it asks for something elsewhere, or a script of it fails."""
    width, height = SIZES[size]
    context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
    page, problems, here = context.new_page(), list[str](), address.partition("/")[0]
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on(
        "request",
        lambda request: problems.append(request.url) if not request.url.startswith((here, "data:", "blob:")) else None,
    )
    page.goto(address, wait_until="load")
    page.wait_for_timeout(500)
    assert problems == []
    return page


def keep(page: Any, name: str) -> None:
    if folder := os.environ.get("MIRENC_SCREENSHOTS"):
        page.screenshot(path=Path(folder) / f"{name}.png")


def background(page: Any) -> float:
    """Lightness of the page's background, 0 to 255."""
    colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
    return float(np.mean([int(part) for part in colour[colour.index("(") + 1 : -1].split(",")[:3]]))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    pytest.importorskip("mkdocs", reason="mkdocs, of the `docs` extra, is not installed")
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    subprocess.run(command, cwd=ROOT, env=os.environ | {"NO_MKDOCS_2_WARNING": "1"}, check=True)

    class Silent(SimpleHTTPRequestHandler):
        def log_message(self, format: str, *words: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Silent, directory=str(folder))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", SIZES)
def test_nothing_of_the_site_is_cut(browser: Any, site: str, size: str, scheme: str) -> None:
    for path in SITE:
        page = opened(browser, site + path, size, scheme)
        assert (path, page.evaluate(CUT)) == (path, [])
        assert (background(page) < 64) == (scheme == "dark")
        if not path and size == "desktop":  # a reader's first commands are seen whole, without scrolling
            boxes = page.eval_on_selector_all("pre > code", "all => all.map(box => box.scrollWidth - box.clientWidth)")
            assert max(boxes) <= 1
        keep(page, f"site-{path.strip('/').replace('/', '-') or 'start'}-{size}-{scheme}")
        page.context.close()


def test_the_sites_search_finds_a_word_with_a_hyphen(browser: Any, site: str) -> None:
    page = opened(browser, site, "desktop")
    page.click(".md-search__input")
    page.keyboard.type("cross-validation")
    page.wait_for_selector(".md-search-result__link")
    links = page.eval_on_selector_all(".md-search-result__link", "links => links.map(link => link.href)")
    assert any("guides/libraries/" in link for link in links)


@pytest.fixture
def report(tmp_path: Path) -> str:
    names = ["std::vector<" + "unsigned_int_" * 20 + ">::at(int)", "short", "gone"]
    old = [function(name, "folder/" * 12 + "a.ll", 100) for name in names]
    new = [function(name, "b.ll", size) for name, size in zip(names, (150, 20), strict=False)]
    why = ("calls " + "long_name_" * 20, "loops 1 -> 2")
    changes = [Change(*pair, why=why) for pair in zip(old, new, strict=False)]
    path = tmp_path / "report.html"
    changes.append(Change(old[2], None))
    path.write_text(html_report(Report("old/" * 30, "new", "mirenc-search", "O2", changes)), encoding="utf-8")
    return path.as_uri()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", SIZES)
def test_nothing_of_a_report_is_cut(browser: Any, report: str, size: str, scheme: str) -> None:
    page = opened(browser, report, size, scheme)
    assert page.evaluate(CUT) == []
    assert (background(page) < 64) == (scheme == "dark")
    keep(page, f"report-{size}-{scheme}")
    widths = page.eval_on_selector_all("#functions .bar i", "bars => bars.map(bar => bar.offsetWidth)")
    # Of -80, +50 and -100 bytes, the largest first.
    assert np.divide(widths, widths[0]) == pytest.approx([1, 0.8, 0.5], abs=0.03)
    page.click("#functions summary >> nth=0")
    assert page.evaluate(CUT) == []


def test_a_report_is_searched_and_filtered(browser: Any, report: str) -> None:
    page = opened(browser, report, "desktop")

    def shown() -> list[str]:
        return page.eval_on_selector_all("#functions tr:not([hidden])", "rows => rows.map(row => row.dataset.kind)")

    assert shown() == ["vanished", "shrank", "grew"]
    page.fill("#find", "calls short")
    assert shown() == ["shrank"]
    page.fill("#find", "  ")
    page.uncheck("#kinds input[value=grew]")
    assert shown() == ["vanished", "shrank"]
    assert page.inner_text("#found") == "2 of 3"
    assert not page.is_visible("#none")
    page.fill("#find", "no such name")
    assert page.inner_text("#none") == "No function matches."


@pytest.fixture
def map_page(tmp_path: Path) -> str:
    """30 functions, of which ten are copies of one."""
    pytest.importorskip("plotly", reason="plotly, of the `map` extra, is not installed")
    from mirenc.search.map import draw_map

    vectors = np.random.default_rng(7).normal(size=(30, 24)).astype(np.float32)
    vectors[:10] = vectors[0]
    names = [f"operator new {row}" for row in range(30)]
    sources = [{"file": f"project/{name}/file.ll"} for name in ("left", "right")]
    table = VectorTable(Maker("m", "d" * 64, "function"), vectors, {"name": names}, sources, [*[0] * 10, *[1] * 20])
    path = tmp_path / "map.html"
    path.write_text(draw_map(table, "folder/" * 20 + "x.parquet"), encoding="utf-8")
    return path.as_uri()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", SIZES)
def test_nothing_of_a_map_is_cut(browser: Any, map_page: str, size: str, scheme: str) -> None:
    page = opened(browser, map_page, size, scheme)
    assert page.evaluate(CUT) == []
    assert (background(page) < 64) == (scheme == "dark")
    keep(page, f"map-{size}-{scheme}")
    paper = page.evaluate("document.getElementById('map')._fullLayout.paper_bgcolor")
    assert paper.strip() == {"light": "#ffffff", "dark": "#171b22"}[scheme]
    page.click("summary")
    assert page.evaluate(CUT) == []


def test_a_map_is_searched_by_several_words(browser: Any, map_page: str) -> None:
    page = opened(browser, map_page, "desktop")
    for words, count in (("left new", "10 found"), ("new 29", "1 found"), ("left 29", "0 found"), (" ", "")):
        page.fill("#find", words)
        assert page.inner_text("#found") == count
    page.evaluate("Plotly.Fx.hover('map', [{curveNumber: 0, pointNumber: 0}])")
    assert page.locator(".hoverlayer .hovertext").count() == 1
    page.fill("#find", "new")
    assert page.locator(".hoverlayer .hovertext").count() == 0


def test_few_points_have_their_names_beside_them(browser: Any, map_page: str) -> None:
    page = opened(browser, map_page, "desktop")
    names = page.eval_on_selector_all("#map .textpoint", "all => all.map(text => text.textContent)")
    assert sorted(names) == sorted(f"operator new {row}" for row in range(30))


def test_copies_do_not_hide_each_other(browser: Any, map_page: str) -> None:
    page = opened(browser, map_page, "desktop")
    places = page.evaluate(
        """() => {
          const map = document.getElementById("map"), {xaxis, yaxis} = map._fullLayout;
          return map.data.flatMap(group => Array.from(group.x, (x, row) => [xaxis.d2p(x), yaxis.d2p(group.y[row])]));
        }"""
    )
    away = np.linalg.norm(np.subtract(np.array(places)[:, None], places), axis=2) + 1e9 * np.eye(30)
    assert away.min() > 3  # pixels; a point has six
