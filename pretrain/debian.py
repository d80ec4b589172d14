"""Source packages of a Debian release to a folder of IR: fetched by apt-get, compiled without their build systems.

    python pretrain/debian.py pretrain/debian-tiny.toml IR                  # then: mirenc corpus build IR -o corpus
    python pretrain/debian.py downstream/passes/corpus.toml IR --testing --compiler clang-19 --levels Oz-start

The sources go to ``IR-work``. Needs Debian with ``deb-src`` enabled, ``dpkg-dev``, and the compilers: clang-14 and
clang-19 in turns, unless one is named. A run that was stopped goes on; an edited package is not seen. A recipe's keys
stand in ``debian.toml``.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import os
import re
import shutil
import sys
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from debian_recipe import Package, Recipe, RecipeLimits, read_recipe

from mirenc.base.errors import IRFileError, MirencError, ToolchainError
from mirenc.llvm.inputs.input import Report
from mirenc.llvm.inputs.projects import header_flags, header_folders
from mirenc.llvm.sources.compile_programs import CHUNK, Advance, Choices, Program, compile_chunk, run_quietly
from mirenc.llvm.sources.ir_folder import FAILURES, IRFolder, IRRecord, Key, digest
from mirenc.llvm.sources.programs import find_sources, make_program
from mirenc.llvm.sources.reserved import is_reserved_package

# Fixed by a language; C and C++ alternate, so that both dialects of IR occur (typed and opaque pointers).
_COMPILERS = {"opencl": ("clang-19",), "cuda": ("clang-19",), "fortran": ("flang-new-19",), "rust": ("rustc",)}
_C_COMPILERS = ("clang-14", "clang-19")
_DEBIAN_PACKAGE_OF = {"flang-new-19": "flang-19", "apt-get": "apt", "dpkg-source": "dpkg-dev"}
_SKIPPED_FOLDERS = (
    *("test", "tests", "testing", "testsuite", "win32", "windows", "msvc", "debian"),
    *("vms", "os2", "amiga", "macos", "dos", "winnt", ".pc", ".git", "fuzz", "fuzzing"),
)
_APT = ("apt-get", "-o", "APT::Sandbox::User=root", "-qq")
_APT_SOURCE = (*_APT, "source", "--only-source", "--download-only")
_CRATE = re.compile(r"librust-(.+)-dev")  # a binary package, whose contents are the sources of a crate
_CRATE_ROOT = "src/lib.rs"
_DOWNLOAD_SECONDS, _UNPACK_SECONDS, _PREPARE_SECONDS = 600, 300, 90
_REASONS_SHOWN = 3
LevelsOf = Callable[[Program], Collection[str]]
"""The levels that a program is wanted at."""


def compile_recipe(
    recipe: Recipe,
    folder: IRFolder,
    work: Path,
    choices: Choices,
    *,
    jobs: int,
    levels_of: LevelsOf | None = None,
    advance: Advance = lambda *_: None,
    report: Report = lambda line: None,
) -> None:
    """Fetch a recipe's packages into ``work``, unless they are there, and compile them into a folder of IR.

    Of the choices the compiler is for C and C++ alone, and the flags are not used; ``levels_of`` says which of the
    levels a program has. ``jobs`` compilers run at once, and one more thread fetches ahead. Raises ToolchainError: a
    program is missing, apt-get knows no source packages, or CUDA sources and no ``cuda_path``. A package that cannot be
    had is reported, no more.
    """
    c_compilers = (choices.compiler,) if choices.compiler else _C_COMPILERS
    languages = {language for package in recipe.packages for language in package.languages}
    _need(*sorted({name for language in languages for name in _COMPILERS.get(language, c_compilers)}))
    if "cuda" in languages and choices.cuda_path is None:
        need = "the recipe has CUDA sources, which need the toolkit's headers"
        raise ToolchainError(f"{need}. Give their folder with --cuda-path")
    build = _Build(recipe.limits, folder, work.resolve(), choices, c_compilers, levels_of, advance, report)
    with ThreadPoolExecutor(1) as fetcher, ThreadPoolExecutor(jobs) as pool:
        fetched: dict[str, Future[tuple[str | None, list[str]]]] = {}
        try:
            # All tables of a package prepare its sources before any of them is compiled.
            for name in dict.fromkeys(package.name for package in recipe.packages):
                tables = [package for package in recipe.packages if package.name == name]
                fetched[name] = fetcher.submit(_fetch, tables, build.work)
            for number, package in enumerate(recipe.packages, 1):
                build.report(f"[{number}/{len(recipe.packages)}] {package.name}")
                for header_package in package.headers_of:
                    fetched[header_package].result()
                version, problems = fetched[package.name].result()
                for problem in problems:
                    build.report(f"{package.name}: {problem}")
                if version is not None:
                    build.compile(package, version, pool)
        finally:
            fetcher.shutdown(cancel_futures=True)


def _need(*programs: str) -> None:
    missing = [name for name in programs if shutil.which(name) is None]
    if missing:
        packages = " ".join(_DEBIAN_PACKAGE_OF.get(name, name) for name in missing)
        raise ToolchainError(f"not on PATH: {', '.join(missing)}. Type: apt-get install {packages}")


@dataclass
class _Build:
    """What compiling the packages one after the other shares."""

    limits: RecipeLimits
    folder: IRFolder
    work: Path
    choices: Choices
    c_compilers: Sequence[str]
    levels_of: LevelsOf | None
    advance: Advance
    report: Report
    # Counted over the chunks in order, not over what the log holds: a run that was stopped inside a chunk then goes on
    # as if it had not been.
    ir_bytes: int = 0
    counted_keys: set[Key] = field(default_factory=set)

    def compile(self, package: Package, version: str, pool: ThreadPoolExecutor) -> None:
        """Compile one unpacked package, chunk by chunk, until its cap or its sources are reached."""
        root = self.work / package.name / "src"
        headers = {language: self._header_flags(package, root, language) for language in package.languages}
        sources = _sources_of(package, root)
        included, spent, failures = 0, 0, Counter[str]()
        for start in range(0, len(sources), CHUNK):
            chunk = sources[start : start + CHUNK][: package.cap - included]
            is_full = self.ir_bytes > self.limits.max_bytes or spent > self.limits.max_project_bytes
            # A package whose first chunk fails altogether is not worth the time of the others.
            if is_full or not chunk or (start and not included):
                break
            programs = [self._select(self._program(package, version, root, *src, headers[src[1]])) for src in chunk]
            for program, records in compile_chunk(pool, programs, self.folder, self.limits):
                failures.update(record.reason for record in records if record.status in FAILURES)
                keys = ((program.project, program.file, level) for level in program.commands)
                compiled = [item for key in keys if (item := self.folder.get(key)) is not None and item.status == "ok"]
                included += bool(compiled)
                spent += sum(record.ir_bytes for record in compiled)
                # Two tables of a package may name the same file.
                self.ir_bytes += sum(record.ir_bytes for record in compiled if record.key not in self.counted_keys)
                self.counted_keys.update(record.key for record in compiled)
                self.advance(1, package.name)
        self.report(
            f"{package.name} {version}: {included} of {len(sources)} sources are in, {failures.total()} failed now; "
            f"corpus {self.folder.ir_bytes / 1e6:.0f} MB"
        )
        for reason, count in failures.most_common(_REASONS_SHOWN):
            self.report(f"    {count} x {reason}")

    def _select(self, program: Program) -> Program:
        """The program without the levels that it is not to have."""
        if self.levels_of is None:
            return program
        levels = self.levels_of(program)
        return replace(program, commands={level: words for level, words in program.commands.items() if level in levels})

    def _header_flags(self, package: Package, root: Path, language: str) -> list[str]:
        """Flags for the package's folders with headers, then for those of its ``headers_of``."""
        folders = [folder for folder in header_folders(root, language) if folder not in package.include_dirs]
        for name in package.headers_of:
            folders += [f"../../{name}/src/{path}" for path in header_folders(self.work / name / "src", language)]
        return header_flags(folders, language)

    def _program(
        self, package: Package, version: str, root: Path, file: str, language: str, headers: Sequence[str]
    ) -> Program:
        compilers = _COMPILERS.get(language, self.c_compilers)
        compiler = compilers[digest(f"{package.name}/{file}") % len(compilers)]
        options = []
        if language != "fortran":
            for glob, preludes in package.prelude.items():
                if fnmatch.fnmatchcase(file, glob):
                    options += [word for prelude in preludes for word in ("-include", prelude)]
        if package.openmp and language in ("c", "c++", "fortran"):
            options.append("-fopenmp")
            if language != "fortran":  # Debian installs omp.h with one clang only; the other one may borrow it
                openmp_headers = Path("/usr/lib").glob("llvm-*/lib/clang/*/include/omp.h")
                options += [f"-idirafter{path.parent}" for path in openmp_headers]
        options += [f"-D{define}" for define in package.defines]
        options += [*package.flags, *(f"-I{folder}" for folder in package.include_dirs), *headers]
        facts: dict[str, Any] = {"project": package.name, "version": version, "language": language, "root": root}
        if language == "rust":
            commands = {level: crate_command(package, level, file) for level in self.choices.levels or ("O0", "O2")}
            return Program(file=file, compiler=compiler, commands=commands, **facts)
        return make_program(self.choices, (compiler,), options, file=file, **facts)


def crate_command(package: Package, level: str, file: str) -> tuple[str, ...]:
    """Command of rustc that compiles a crate to text IR, as one module; the output is added.

    Symbols have a hash of the crate's name and ``metadata``: the same at every level. So are overflow checks and
    assertions, which rustc itself would add at -O0.
    """
    match = _CRATE.fullmatch(package.name)
    crate = (match[1] if match else package.name).replace("-", "_")
    options = ("-Ccodegen-units=1", "-Cdebug-assertions=off", "-Coverflow-checks=off", f"-Cmetadata={crate}")
    names = ("--crate-type=lib", f"--crate-name={crate}", "--cap-lints=allow", "--emit=llvm-ir")
    return ("rustc", *names, *options, f"-Copt-level={level[1:]}", *package.flags, file)


def _sources_of(package: Package, root: Path) -> list[tuple[str, str]]:
    """Files of a package that its table wants, with their languages, ordered by a hash: the first n are a sample."""
    skipped = set(_SKIPPED_FOLDERS) - set(package.keep_folders)

    def is_chosen(file: str, language: str) -> bool:
        included, excluded = (
            any(fnmatch.fnmatchcase(file, glob) for glob in globs) for globs in (package.include, package.exclude)
        )
        folders = file.lower().split("/")[:-1]
        return language in package.languages and included and not excluded and skipped.isdisjoint(folders)

    # The recipe's reader has decided whether a reserved package may be here; it then comes whole. In others, copies of
    # reserved programs stay out.
    sources = find_sources(root, with_reserved=is_reserved_package(package.name))
    if (root / _CRATE_ROOT).is_file():
        sources.append((_CRATE_ROOT, "rust"))
    return [source for source in sources if is_chosen(*source)]


def _fetch(tables: Sequence[Package], work: Path) -> tuple[str | None, list[str]]:
    """Download, unpack and prepare one source package, of which a recipe has some tables, in ``work/<name>/src``.

    Gives its Debian version, None if there are no sources, and what went wrong.
    """
    name = tables[0].name
    folder = work / name
    folder.mkdir(parents=True, exist_ok=True)
    root, marker = folder / "src", folder / "prepared"
    steps = {json.dumps([table.prepare, table.files]): table for table in tables if table.prepare or table.files}
    is_prepared = (marker.read_text(encoding="utf-8").splitlines() if marker.exists() else []) == list(steps)
    if root.is_dir() and not is_prepared and _archives(folder):
        # Stopped while it was prepared, or prepared for another recipe: begin again with the sources as packed.
        shutil.rmtree(root)
    if not root.is_dir():
        is_prepared = False
        words = _download(name, folder)
        if not _unpack(folder, root):
            return None, [f"no usable source archive: {words.strip()[-120:]}"]
    problems = []
    if not is_prepared:
        for table in steps.values():
            problems += _prepare(table, root)
        marker.write_text("\n".join(steps), encoding="utf-8")
    archives = _archives(folder)
    return re.split(r"_|\.dsc$|\.orig\.tar", archives[0])[1] if archives else "", problems


def _prepare(table: Package, root: Path) -> list[str]:
    """Write a table's files and run its command; what went wrong."""
    problems = []
    for name, text in table.files.items():
        file = root / name
        # The recipe's own paths stay below (`Package`), but an archive may hold links to anywhere.
        if not file.resolve().is_relative_to(root.resolve()):
            problems.append(f"file {name!r} is a link that leads out of the sources; not written")
            continue
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    command = ("nice", "-n", "10", "sh", "-c", table.prepare)
    if table.prepare and run_quietly(command, root, _PREPARE_SECONDS)[0] != 0:
        problems.append(f"`{table.prepare}` failed; going on without")
    return problems


def _archives(folder: Path) -> list[str]:
    """Debian's archives, then upstream's; or a crate's binary package."""
    return [path.name for pattern in ("*.dsc", "*.orig.tar.*z*", "*.deb") for path in sorted(folder.glob(pattern))]


def _download(name: str, folder: Path) -> str:
    """Let apt-get download a source package, or the binary one that has a crate's sources; what it said."""
    _need("apt-get", "dpkg-source")
    # In English, because its words decide.
    command = (*_APT, "download", name) if _CRATE.fullmatch(name) else (*_APT_SOURCE, name)
    code, words = run_quietly(("env", "LC_ALL=C", *command), folder, _DOWNLOAD_SECONDS)
    if code != 0 and "deb-src" in words:
        advice = "sed -i 's/^Types: deb$/Types: deb deb-src/' /etc/apt/sources.list.d/debian.sources && apt-get update"
        raise ToolchainError(f"apt-get knows no source packages. Type: {advice}")
    return words


def _unpack(folder: Path, root: Path) -> bool:
    """Unpack what was downloaded to ``root``, which is then there as a whole or not at all; say whether it is."""
    unpacking = folder / "unpacking"
    # A mirror may lack Debian's patches; the upstream sources alone are good enough here.
    tar = ("tar", "--strip-components=1", "--no-same-owner", "-C", unpacking.name, "-xf")
    for archive in _archives(folder):
        shutil.rmtree(unpacking, ignore_errors=True)
        if archive.endswith(".deb"):
            command: tuple[str, ...] = ("dpkg-deb", "-x", archive, unpacking.name)
        elif archive.endswith(".dsc"):
            command = ("dpkg-source", "--no-check", "-x", archive, unpacking.name)
        else:
            unpacking.mkdir()
            command = (*tar, archive)
        if run_quietly(command, folder, _UNPACK_SECONDS)[0] == 0:
            crates = sorted(unpacking.glob("usr/share/cargo/registry/*"))
            (crates[0] if crates else unpacking).rename(root)
            shutil.rmtree(unpacking, ignore_errors=True)
            return True
    shutil.rmtree(unpacking, ignore_errors=True)
    return False


def make_ir(recipe: Recipe, out: Path, choices: Choices, *, jobs: int, report: Report) -> None:
    """Compile a recipe into ``out``; what earlier runs made of packages now gone goes.

    Raises as `compile_recipe`; IRFileError: nothing became IR.
    """
    names = {package.name for package in recipe.packages}

    def stays(record: IRRecord) -> bool:
        return record.project in names and (record.status != "ok" or folder.path_of(record).is_file())

    with IRFolder(out) as folder:
        # Where nothing worked so far, what was wrong may have been mended.
        folder.keep_only(stays if folder.kept() else lambda record: False)
        compile_recipe(recipe, folder, out.with_name(f"{out.name}-work"), choices, jobs=jobs, report=report)
        report(folder.summary())
        if not folder.kept():
            raise IRFileError(f"{out}: nothing became IR. {out / 'log.jsonl'} has a line for each try")


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("recipe", type=Path)
    parser.add_argument("out", type=Path, help="folder for the IR")
    parser.add_argument("--levels", nargs="+", help="[default: O0 and O2 for all, Oz for every eighth file]")
    parser.add_argument("--compiler", help="of C and C++")
    parser.add_argument("--cuda-path", type=Path, help="CUDA toolkit with headers, for CUDA sources")
    parser.add_argument("--testing", action="store_true", help="also packages kept for evaluation")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    arguments = parser.parse_args()
    choices = Choices(arguments.levels, arguments.compiler, cuda_path=arguments.cuda_path)
    try:
        recipe = read_recipe(arguments.recipe, with_reserved=arguments.testing)
        make_ir(recipe, arguments.out, choices, jobs=arguments.jobs, report=lambda line: print(line, file=sys.stderr))
    except MirencError as error:
        sys.exit(f"{error}")


if __name__ == "__main__":
    main()
