"""Imports inside ``mirenc`` point one way, and starting up loads nothing heavy.

Why: the order of the house (errors at the bottom, the command line on top) keeps every part
readable and testable without the parts above it. Nothing but this test holds it up, so it reads the
source of every module, lazy imports inside functions included.
"""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import networkx
import pytest

import mirenc
import mirenc.llvm

PACKAGE = Path(mirenc.__file__).parent

# The house, bottom to top. A part may import parts of a lower floor, and its own modules; never a
# higher floor, nor a neighbour on its own floor. A new part of mirenc/ must be given a floor here.
FLOORS = (
    ("base",),
    ("llvm",),
    ("model",),
    ("encoder",),
    ("decide", "search"),
    ("pretrain",),
    ("tools",),
    ("__init__",),
    ("cli",),  # with __main__, which runs it
)
FLOOR_OF = {part: floor for floor, parts in enumerate(FLOORS) for part in parts}

# Only reading and running passes may know LLVM: everything above them works on canonical text and on figures.
LLVM_PARTS = {"llvm"}

HEAVY = ("torch", "torch_geometric", "llvmlite")


def part_of(path: Path, package: Path) -> str:
    """First name below the package: ``llvm`` for ``llvm/ir/read.py``, ``cli`` for ``__main__.py``."""
    part = path.relative_to(package).with_suffix("").parts[0]
    return "cli" if part == "__main__" else part


def imported_names(path: Path, package: Path) -> Iterator[tuple[int, str]]:
    """Line and absolute dotted name of everything that a module imports, at any depth.

    ``from mirenc.llvm import read_ir`` gives ``mirenc.llvm.read_ir``: what follows the part does not
    matter here. A relative import is resolved against the module's own place.
    """
    home = [package.name, *path.relative_to(package).parent.parts]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"), filename=str(path))):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name
        elif isinstance(node, ast.ImportFrom):
            base = home[: len(home) - node.level + 1] if node.level else []
            base = [*base, *(node.module.split(".") if node.module else [])]
            for alias in node.names:
                yield node.lineno, ".".join([*base, alias.name])


def wrong_arrows(package: Path) -> list[str]:
    """One line for each import under ``package`` that breaks the order, or part without a floor."""
    wrong = []
    for path in sorted(package.rglob("*.py")):
        part = part_of(path, package)
        where = path.relative_to(package.parent).as_posix()
        if part not in FLOOR_OF:
            wrong.append(f"{where}: part {part!r} has no floor; place it in FLOORS")
            continue
        for line, name in imported_names(path, package):
            root, _, rest = name.partition(".")
            if root == "llvmlite" and part not in LLVM_PARTS:
                wrong.append(f"{where}:{line}: {part} imports llvmlite; only {' and '.join(sorted(LLVM_PARTS))} may")
            if root != package.name or rest == "__version__":
                continue
            target = rest.split(".")[0]
            if target not in FLOOR_OF:
                target = "__init__"  # a public name of the package itself
            if target != part and FLOOR_OF[target] >= FLOOR_OF[part]:
                wrong.append(f"{where}:{line}: {part} imports {target}, which is not below it")
    return wrong


def test_imports_point_one_way() -> None:
    assert wrong_arrows(PACKAGE) == []


def circles(package: Path) -> list[list[str]]:
    """Files that import each other in a round, however they import: lazily, or for type checkers alone."""
    files = {}
    for path in package.rglob("*.py"):
        parts = [package.name, *path.relative_to(package).with_suffix("").parts]
        files[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    arrows = networkx.DiGraph()
    for module, path in files.items():
        for _, name in imported_names(path, package):
            while name and name not in files:
                name = name.rpartition(".")[0]
            if name not in ("", module, package.name):  # the package itself imports all when it is asked for a name
                arrows.add_edge(module, name)
    return [sorted(group) for group in networkx.strongly_connected_components(arrows) if len(group) > 1]


def test_no_files_import_each_other_in_a_round() -> None:
    assert circles(PACKAGE) == []


def test_a_circle_is_seen(tmp_path: Path) -> None:
    files = {
        "llvm/a.py": "from mirenc.llvm import b",
        "llvm/b.py": "def f():\n    from .c import x",
        "llvm/c.py": "import mirenc.llvm.a",
    }
    package = make_package(tmp_path, {"llvm/__init__.py": "", **files})
    assert circles(package) == [["mirenc.llvm.a", "mirenc.llvm.b", "mirenc.llvm.c"]]


def test_the_house_has_at_most_ten_rooms() -> None:
    rooms = {path.name for path in PACKAGE.iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert rooms == set(FLOOR_OF) - {"__init__"}
    assert len(rooms) <= 10


def test_every_file_of_the_package_was_read() -> None:
    read = {part_of(path, PACKAGE) for path in PACKAGE.rglob("*.py")}
    assert read == set(FLOOR_OF)


def make_package(root: Path, files: dict[str, str]) -> Path:
    """Write a package named ``mirenc`` of the given files, and ``__init__.py`` where missing."""
    package = root / "mirenc"
    for name, text in {"__init__.py": "", **files}.items():
        path = package / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return package


@pytest.mark.parametrize(
    ("file", "text", "complaint"),
    [
        ("base/errors.py", "import mirenc.llvm", "errors.py:1: base imports llvm"),
        ("llvm/a.py", "\nfrom ..model import graph", "a.py:2: llvm imports model"),
        ("llvm/__init__.py", "from .. import model", "llvm/__init__.py:1: llvm imports model"),
        ("base/config.py", "if 1:\n    from mirenc import load", "config.py:2: base imports __init__"),
        ("base/errors.py", "import mirenc", "errors.py:1: base imports __init__"),
        ("decide/a.py", "import mirenc.search", "a.py:1: decide imports search"),
        ("pretrain/a.py", "import mirenc.cli", "a.py:1: pretrain imports cli"),
        ("model/a.py", "import llvmlite.binding as llvm", "model imports llvmlite"),
        ("attic.py", "", "part 'attic' has no floor"),
    ],
)
def test_a_wrong_arrow_is_reported(tmp_path: Path, file: str, text: str, complaint: str) -> None:
    parts = ("base", "cli", "decide", "llvm", "model", "pretrain", "search")
    package = make_package(tmp_path, {f"{part}/__init__.py": "" for part in parts} | {file: text})
    arrows = wrong_arrows(package)
    assert len(arrows) == 1
    assert complaint in arrows[0]


def test_right_arrows_are_accepted(tmp_path: Path) -> None:
    package = make_package(
        tmp_path,
        {
            "base/errors.py": "import numpy",
            "base/config.py": "from mirenc.base.errors import ConfigError\nfrom mirenc import __version__",
            "llvm/reader.py": "import llvmlite.binding\nfrom ..base.errors import ReadError",
            "llvm/text.py": "from . import reader\nfrom mirenc.llvm.reader import x",
            "decide/a.py": "from ..base.arrays import starts\nfrom mirenc.encoder import load",
            "cli.py": "from mirenc import load\nimport mirenc.decide.a",
            "__main__.py": "from mirenc.cli import main",
        },
    )
    assert wrong_arrows(package) == []


def heavy_modules_after(statements: str) -> list[str]:
    """Those of `HEAVY` that a fresh interpreter has loaded after running ``statements``."""
    report = f"print('loaded', *(name for name in {HEAVY} if name in sys.modules))"
    code = f"import sys\n{statements}\n{report}"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return run.stdout.splitlines()[-1].split()[1:]


def test_importing_mirenc_loads_nothing_heavy() -> None:
    assert heavy_modules_after("import mirenc") == []


def test_sources_are_compiled_without_what_corpora_need() -> None:
    """A prediction about a project compiles it as a corpus does, and has neither torch nor zstandard."""
    statements = """
sys.modules["zstandard"] = sys.modules["torch"] = None
import mirenc.llvm.sources.prepare
sys.modules.pop("torch")
"""
    assert heavy_modules_after(statements) == []


def test_the_command_line_help_loads_nothing_heavy() -> None:
    statements = """
from mirenc.cli import main
sys.argv = ["mirenc", "--help"]
try:
    main()
except SystemExit as stop:
    assert not stop.code
"""
    assert heavy_modules_after(statements) == []


def test_the_heavy_list_can_be_seen() -> None:
    assert heavy_modules_after("import llvmlite") == ["llvmlite"]


@pytest.mark.parametrize("package", [mirenc, mirenc.llvm])
def test_type_checkers_see_every_name_at_the_top(package: Any) -> None:
    """``from x import name as name`` is what a strict checker takes for exported: it cannot read a computed __all__."""
    tree = ast.parse(Path(package.__file__).read_text(encoding="utf-8"))
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    exported = {alias.name: node.module for node in imports for alias in node.names if alias.asname == alias.name}
    assert exported == package._HOME
    assert all(getattr(package, name) is not None for name in package.__all__)


def test_a_name_that_a_package_has_not_is_an_error() -> None:
    with pytest.raises(AttributeError, match=r"module 'mirenc\.llvm' has no attribute 'read'"):
        _ = mirenc.llvm.read  # type: ignore[attr-defined]
