"""Programs of a recipe for search: which packages are taken, and crates of Rust among them."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from fake_tools import FakeTools

from mirenc.llvm.sources.ir_folder import IRFolder

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "pretrain"))

from compile_pairs import main
from debian import crate_command
from debian_recipe import Package

RECIPE = """
[[package]]
name = "alpha"
[[package]]
name = "beta"
headers_of = ["alpha"]
[[package]]
name = "gamma"
[[package]]
name = "librust-count-up-dev"
languages = ["rust"]
flags = ["--edition=2018"]
"""
# Hands out an empty file as `librust-count-up-dev`, version 0.3.1-2; unpacking it makes the crate.
APT_GET = r"""#!/bin/sh
echo "apt-get $*" >> "$(dirname "$0")/calls"
: > librust-count-up-dev_0.3.1-2_amd64.deb
"""
DPKG_DEB = r"""#!/bin/sh
mkdir -p "$3/usr/share/doc" "$3/usr/share/cargo/registry/count-up-0.3.1/src"
echo 'mod inner;' > "$3/usr/share/cargo/registry/count-up-0.3.1/src/lib.rs"
echo 'fn f() {}' > "$3/usr/share/cargo/registry/count-up-0.3.1/src/inner.rs"
"""


def compile_pairs(monkeypatch: pytest.MonkeyPatch, folder: Path, *words: str) -> None:
    """Run the command on the recipe; sources in ``folder/work``, IR in ``folder/out``."""
    recipe = folder / "recipe.toml"
    recipe.write_text(RECIPE, encoding="utf-8")
    places = [str(recipe), str(folder / "out"), "--work", str(folder / "work"), "--jobs", "1"]
    monkeypatch.setattr(sys, "argv", ["compile_pairs.py", *places, *words])
    main()


def test_only_the_packages_that_are_named_and_what_they_include(
    fake_tools: FakeTools, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("alpha", "beta", "gamma"):
        source = tmp_path / "work" / name / "src" / "a.c"
        source.parent.mkdir(parents=True)
        source.write_text(f"int {name};", encoding="utf-8")
    compile_pairs(monkeypatch, tmp_path, "--compilers", "clang-19", "--levels", "O1", "--packages", "beta")
    out = tmp_path / "out"
    assert sorted(path.relative_to(out).parts[1] for path in out.rglob("*.ll")) == ["alpha", "beta"]
    with pytest.raises(SystemExit, match=r"no package delta to compile\. It has: alpha, beta, gamma, lib"):
        compile_pairs(monkeypatch, tmp_path, "--packages", "delta", "beta")


def test_what_was_too_large_is_tried_again_with_more_bytes(
    fake_tools: FakeTools, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "work" / "gamma" / "src" / "a.c"
    source.parent.mkdir(parents=True)
    source.write_text(f"int {'a' * 2000};", encoding="utf-8")
    words = ("--compilers", "clang-14", "--levels", "O2", "--packages", "gamma", "--max-file-bytes")
    for most, status in (("1999", "large"), ("4000", "ok")):
        compile_pairs(monkeypatch, tmp_path, *words, most)
        with IRFolder(tmp_path / "out" / "clang-14") as folder:
            assert [record.status for record in folder.records()] == [status]


def test_a_crate_comes_from_its_binary_package(
    fake_tools: FakeTools, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_tools.add("rustc")
    fake_tools.add("apt-get", APT_GET)
    fake_tools.add("dpkg-deb", DPKG_DEB)
    words = ("--compilers", "rustc", "--levels", "O0", "Oz", "--packages", "librust-count-up-dev")
    compile_pairs(monkeypatch, tmp_path, *words)
    with IRFolder(tmp_path / "out" / "rustc") as folder:
        records = [(each.file, each.language, each.compiler, each.version, each.opt_level) for each in folder.kept()]
    assert records == [("src/lib.rs", "rust", "rustc", "0.3.1-2", level) for level in ("O0", "Oz")]
    assert sorted(path.name for path in (tmp_path / "work/librust-count-up-dev/src").iterdir()) == ["src"]
    calls = fake_tools.calls()
    assert [call[-2:] for call in calls if call[0] == "apt-get"] == [["download", "librust-count-up-dev"]]
    levels = [[word for word in call if word.startswith("-Copt-level")] for call in calls if call[0] == "rustc"]
    assert levels == [["-Copt-level=0"], ["-Copt-level=z"]]


@pytest.mark.needs("rustc")
def test_a_crate_has_the_same_names_and_no_checks_at_every_level(tmp_path: Path) -> None:
    source = "#[inline(never)] pub fn sum(a: &[u32]) -> u32 { let mut s = 0; for x in a { s += *x; } s }"
    (tmp_path / "lib.rs").write_text(source, encoding="utf-8")
    names = []
    for level in ("O0", "O2", "Oz"):
        command = crate_command(Package(name="librust-sums-dev", languages=("rust",)), level, "lib.rs")
        subprocess.run((*command, "-o", f"{level}.ll"), cwd=tmp_path, check=True)
        ir = (tmp_path / f"{level}.ll").read_text(encoding="utf-8")
        names.append(re.findall(r"^define .*@(_ZN4sums\w+|_RN\w*4sums\w+)\(", ir, re.M))
        assert "overflow" not in ir
    assert len(names[1]) == 1
    assert names[0].count(names[1][0]) == 1
    assert names[2] == names[1]
