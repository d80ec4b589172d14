"""Compile the source packages of a Debian release to LLVM IR: the pre-training corpus.

What you get: `OUT/<project>/<O0|O2|Oz>/<source path>.ll`, text IR without debug information, every
file different from every other one, and a manifest with one row for each of them.
How long: see README.md in this folder. It is bound by clang, so twice the cores is half the time.
On what: a Debian machine with `deb-src` enabled, apt-get, dpkg-source, clang-14 and clang-19.
No GPU, nothing from this package; Python's standard library only.

    python pretrain/prepare_debian.py pretrain/debian-small.toml OUT --work WORK --manifest M.csv

The recipe (TOML) lists the packages and what each of them needs to compile without its own build
system. A file that does not compile is counted and skipped: a corpus needs many programs, not all
of them. Two clang versions take turns, so that both IR dialects (typed and opaque pointers) occur.
A run that was stopped continues where it was: what `OUT/log.jsonl` knows is not compiled again.
"""

from __future__ import annotations

import argparse
import collections
import csv
import dataclasses
import fnmatch
import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

# The evaluation compiles these; a model must not have seen them, whatever a recipe says.
RESERVED = re.compile(
    r"(?i)^(sqlite3?|lua(5\.\d|jit)?|bzip2|lz4|tcc|gsl|fftw[23]?|hpcc|libtommath|darktable"
    r"|llvm-toolchain-.*|(snu-?)?npb|parboil|polybench.*|rodinia|shoc|amd-?app.*)$"
)
# The same programs travel inside other packages: as a folder, or as a file.
RESERVED_FOLDER = re.compile(
    r"(?i)^(sqlite|lua|bzip2|lz4|tcc|gsl|fftw|hpcc|(lib)?tommath|polybench|rodinia|parboil|shoc"
    r"|npb)[-_.\d]*$"
)
RESERVED_FILE = re.compile(r"(?i)^(sqlite3.*|lz4(hc|frame|file)?|bz(lib|ip2)|l(api|vm)|tommath)\.c$")

LANGUAGES = {"c": (".c",), "c++": (".cc", ".cpp", ".cxx", ".C"), "opencl": (".cl",)}
HEADERS = (".h", ".hh", ".hpp", ".hxx", ".inc", ".def", ".tcc", ".cl", ".clh")
LEVELS = {"O0": ["-O0", "-Xclang", "-disable-O0-optnone"], "O2": ["-O2"], "Oz": ["-Oz"]}
# Debian installs omp.h with one clang version only; the other one may borrow it.
OMP_HEADER = [f"-idirafter{p.parent}" for p in Path("/usr/lib").glob("llvm-*/lib/clang/*/include/omp.h")]
COMMON = ["-S", "-emit-llvm", "-w", "-ferror-limit=2", "-fno-color-diagnostics"]
DIALECT = {
    "c": [
        *("-x", "c"),
        # Old C is legal C to its authors: what clang 16 made an error stays a warning here.
        *("-Wno-implicit-function-declaration", "-Wno-implicit-int"),
        *("-Wno-int-conversion", "-Wno-incompatible-function-pointer-types"),
    ],
    "c++": ["-x", "c++", "-std=gnu++17"],
    "opencl": [
        *("-x", "cl", "-cl-std=CL1.2", "-target", "spir64-unknown-unknown"),
        *("-Xclang", "-finclude-default-header"),
    ],
}
SKIPPED_FOLDERS = ["test", "tests", "testing", "testsuite", "win32", "windows", "msvc", "debian"]
SKIPPED_FOLDERS += [
    "vms",
    "os2",
    "amiga",
    "macos",
    "dos",
    "winnt",
    ".pc",
    ".git",
    "fuzz",
    "fuzzing",
]
SKIPPED_HEADERS = {".pc", "debian", "win32", "windows", "msvc", "vms"}
MANIFEST = ["project", "version", "file", "language", "opt_level", "compiler"]
MANIFEST += ["sha256_of_ir", "ir_bytes"]
FAILURES = ("failed", "timeout")
Key = tuple[str, str, str]  # project, file, level
CHUNK = 24  # files handed to the pool at once; a package whose first chunk all fails is dropped


@dataclasses.dataclass(frozen=True)
class Package:
    """One `[[package]]` table of a recipe; see debian-small.toml for what each key is for."""

    name: str
    languages: tuple[str, ...] = ("c",)
    include: tuple[str, ...] = ("*",)
    exclude: tuple[str, ...] = ()
    keep_folders: tuple[str, ...] = ()
    include_dirs: tuple[str, ...] = ()
    defines: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    headers_of: tuple[str, ...] = ()
    prepare: str = ""
    files: dict[str, str] = dataclasses.field(default_factory=dict)
    prelude: dict[str, list[str]] = dataclasses.field(default_factory=dict)
    openmp: bool = False
    cap: int = 120


@dataclasses.dataclass(frozen=True)
class Job:
    """One source file to compile at its levels."""

    package: Package
    version: str
    root: Path
    file: str
    language: str
    header_flags: tuple[str, ...]


def digest(text: str) -> int:
    """Return a number that depends on `text` only, for choices that every machine repeats."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")


def read_recipe(path: Path) -> list[Package]:
    """Read a recipe; refuse reserved packages and keys that are not known."""
    known = {field.name for field in dataclasses.fields(Package)}
    packages = []
    for table in tomllib.loads(path.read_text())["package"]:
        if unknown := set(table) - known:
            raise SystemExit(f"{path}: unknown keys {sorted(unknown)}; known: {sorted(known)}")
        if RESERVED.match(table["name"]):
            raise SystemExit(f"{path}: {table['name']} is reserved for evaluation. Remove it.")
        packages.append(Package(**{k: tuple(v) if isinstance(v, list) else v for k, v in table.items()}))
    return packages


def run(command: list[str], folder: Path, seconds: float) -> subprocess.CompletedProcess[str]:
    """Run a command quietly at low priority; timeout(1) ends its children too and returns 124."""
    return subprocess.run(
        ["timeout", "-k", "5", str(seconds), "nice", "-n", "10", *command],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )


def fetch(package: Package, work: Path) -> tuple[Path, str] | str:
    """Download, unpack and prepare one source package.

    Returns
    -------
    tuple[Path, str] | str
        The source folder and the Debian version, or why there is none.
    """
    folder = work / package.name
    folder.mkdir(parents=True, exist_ok=True)
    root = folder / "src"
    if not root.is_dir():
        apt = ["apt-get", "-o", "APT::Sandbox::User=root", "-qq", "source", "--only-source"]
        done = run([*apt, "--download-only", package.name], folder, 600)
        if reason := unpack(folder, root):
            return reason + done.stderr.strip()[-120:]
    names = sorted(path.name for path in (*folder.glob("*.dsc"), *folder.glob("*.orig.tar.*z")))
    version = re.split(r"_|\.dsc$|\.orig\.tar", names[0])[1]
    prepared = folder / "prepared"
    recipe = json.dumps([package.prepare, package.files])
    if not prepared.exists() or prepared.read_text() != recipe:
        for name, text in package.files.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        if package.prepare and run(["sh", "-c", package.prepare], root, 90).returncode:
            print(f"{package.name}: `{package.prepare}` failed; going on without", file=sys.stderr)
        prepared.write_text(recipe)
    return root, version


def unpack(folder: Path, root: Path) -> str:
    """Unpack what was downloaded; return why that was impossible, or an empty string."""
    unpacking = folder / "unpacking"
    shutil.rmtree(unpacking, ignore_errors=True)
    for dsc in folder.glob("*.dsc"):
        done = run(["dpkg-source", "--no-check", "-x", dsc.name, unpacking.name], folder, 300)
        if not done.returncode:
            unpacking.rename(root)
            return ""
        shutil.rmtree(unpacking, ignore_errors=True)
    # A mirror may lack Debian's patches; the upstream sources alone are good enough here.
    for archive in folder.glob("*.orig.tar.*z*"):
        unpacking.mkdir()
        tar = ["tar", "--strip-components=1", "--no-same-owner", "-C", unpacking.name, "-xf"]
        if not run([*tar, archive.name], folder, 300).returncode:
            unpacking.rename(root)
            return ""
        shutil.rmtree(unpacking, ignore_errors=True)
    return "no usable source archive: "


def header_folders(root: Path) -> list[str]:
    """Return the folders below `root` with headers below them, shallow ones first, at most 150."""
    found = {
        folder.as_posix()
        for suffix in HEADERS
        for path in root.rglob(f"*{suffix}")
        for folder in path.relative_to(root).parents
        if not SKIPPED_HEADERS.intersection(folder.parts)
    }
    return sorted(found, key=lambda folder: (folder.count("/"), folder))[:150]


def is_reserved(file: str) -> bool:
    """Say whether a path inside a package is a copy of a program kept for evaluation."""
    *folders, name = file.split("/")
    return any(map(RESERVED_FOLDER.match, folders)) or bool(RESERVED_FILE.match(name))


def find_sources(package: Package, root: Path) -> list[tuple[str, str]]:
    """Return (file, language) for the sources the recipe wants, in an order fixed by a hash."""
    language_of = {suffix: name for name in package.languages for suffix in LANGUAGES[name]}
    skipped = set(SKIPPED_FOLDERS) - set(package.keep_folders)
    sources = []
    for path in root.rglob("*"):
        file = path.relative_to(root).as_posix()
        if path.suffix not in language_of or not path.is_file() or path.is_symlink():
            continue
        if skipped & {part.lower() for part in file.split("/")[:-1]} or is_reserved(file):
            continue
        if not any(fnmatch.fnmatchcase(file, glob) for glob in package.include):
            continue
        if any(fnmatch.fnmatchcase(file, glob) for glob in package.exclude):
            continue
        sources.append((file, language_of[path.suffix]))
    return sorted(sources, key=lambda source: (digest(source[0]), source[0]))


def command_for(job: Job, level: str) -> tuple[str, list[str]]:
    """Return the compiler's name and the whole command; paths are relative to the source root.

    Relative paths keep this machine's folders out of the IR (`source_filename`, `__FILE__`).
    """
    package = job.package
    number = digest(f"{package.name}/{job.file}")
    compiler = "clang-19" if job.language == "opencl" or number % 2 else "clang-14"
    command = [compiler, *COMMON, *DIALECT[job.language], *LEVELS[level]]
    for glob, preludes in package.prelude.items():
        if fnmatch.fnmatchcase(job.file, glob):
            command += [part for prelude in preludes for part in ("-include", prelude)]
    if package.openmp and job.language != "opencl":
        command += ["-fopenmp", *OMP_HEADER]
    command += [f"-D{define}" for define in package.defines] + list(package.flags)
    command += [f"-I{folder}" for folder in package.include_dirs]
    return compiler, [*command, *job.header_flags, job.file, "-o", "-"]


def levels_for(job: Job) -> list[str]:
    """Return the optimisation levels of one file: two for all, a third one for every third file."""
    third = digest(f"{job.file}/{job.package.name}") % 3 == 0
    return ["O0", "O2", "Oz"] if third else ["O0", "O2"]


def compile_job(job: Job, known: dict[Key, dict], limits: argparse.Namespace) -> list[dict]:
    """Compile one file at its levels; one record each. What fails at -O0 is not tried again."""
    records = []
    for level in levels_for(job):
        if done_before := known.get((job.package.name, job.file, level)):
            if done_before["status"] in FAILURES:
                break
            continue
        compiler, command = command_for(job, level)
        record = {
            "project": job.package.name,
            "version": job.version,
            "file": job.file,
            "language": job.language,
            "opt_level": level,
            "compiler": compiler,
        }
        done = run(command, job.root, limits.seconds)
        ir = done.stdout
        record["sha256_of_ir"] = hashlib.sha256(ir.split("\n", 2)[-1].encode()).hexdigest()
        record["ir_bytes"] = len(ir.encode())
        if done.returncode:
            record["status"] = "timeout" if done.returncode == 124 else "failed"
            record["reason"] = next((x for x in done.stderr.split("\n") if "error" in x), "")[:200]
        elif record["ir_bytes"] > limits.max_file_bytes:
            record["status"] = "large"
        elif "\ndefine " not in ir:
            record["status"] = "empty"
        else:
            record["status"] = "ok"
            record["ir"] = ir
            if "__kmpc_" in ir:
                record["language"] = f"{job.language}+openmp"
        records.append(record)
        if record["status"] in FAILURES:
            break
    return records


class Corpus:
    """The output folder: keeps the IR that is new, and a log of everything that was tried."""

    def __init__(self, out: Path, retry: bool) -> None:
        """Open `out` and read its log; with `retry`, failures count as not yet tried."""
        out.mkdir(parents=True, exist_ok=True)
        self.out = out
        self.records: dict[Key, dict] = {}
        log = out / "log.jsonl"
        if log.exists():
            for line in log.read_text().splitlines():
                self.remember(json.loads(line))
        if retry:
            self.records = {k: r for k, r in self.records.items() if r["status"] not in FAILURES}
        self.seen = {r["sha256_of_ir"] for r in self.records.values() if r["status"] == "ok"}
        self.log = log.open("a")

    def remember(self, record: dict) -> None:
        """Store a record; a later one about the same file and level replaces it."""
        self.records[record["project"], record["file"], record["opt_level"]] = record

    def add(self, record: dict) -> bool:
        """Store one result; return whether it is IR that was not there before."""
        ir = record.pop("ir", None)
        if record["status"] == "ok" and record["sha256_of_ir"] in self.seen:
            record["status"] = "duplicate"
        if record["status"] == "ok" and ir is not None:
            path = self.path_of(record)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.with_suffix(".part").write_text(ir)
            os.replace(path.with_suffix(".part"), path)
            self.seen.add(record["sha256_of_ir"])
        self.remember(record)
        self.log.write(json.dumps(record) + "\n")
        self.log.flush()
        return record["status"] == "ok"

    def path_of(self, record: dict) -> Path:
        """Return where a record's IR lies: the source path, flattened, below project and level."""
        name = record["file"].replace("/", "__")
        if len(name) > 180:
            name = f"{digest(name):016x}__{name[-150:]}"
        return self.out / record["project"] / record["opt_level"] / f"{name}.ll"

    def kept(self) -> list[dict]:
        """Return the records whose IR is in the corpus, sorted."""
        kept = [record for record in self.records.values() if record["status"] == "ok"]
        return sorted(kept, key=lambda r: (r["project"], r["file"], r["opt_level"]))

    def ir_bytes(self) -> int:
        """Return the size of all IR, bytes."""
        return sum(r["ir_bytes"] for r in self.records.values() if r["status"] == "ok")

    def write_manifest(self, path: Path) -> None:
        """Write one CSV row for each IR file."""
        with path.open("w", newline="") as stream:
            writer = csv.DictWriter(stream, MANIFEST, extrasaction="ignore", lineterminator="\n")
            writer.writeheader()
            writer.writerows(self.kept())

    def summary(self) -> str:
        """Return counts by project, language, level and compiler, and what went wrong."""
        kept = self.kept()
        sources = {(r["project"], r["file"]) for r in kept}
        projects = {record["project"] for record in kept}
        size = f"{self.ir_bytes() / 1e6:.0f} MB"
        lines = [f"{len(kept)} IR files, {size}, {len(sources)} sources, {len(projects)} projects"]
        for key in ("language", "opt_level", "compiler"):
            lines.append(f"{key}: {dict(sorted(collections.Counter(r[key] for r in kept).items()))}")
        status = collections.Counter(r["status"] for r in self.records.values())
        lines.append(f"tried (file, level): {dict(status.most_common())}")
        wrong = collections.Counter(r["project"] for r in self.records.values() if r["status"] in FAILURES)
        lines.append(f"files that did not compile, by project: {dict(wrong.most_common())}")
        files = collections.Counter(project for project, _ in sources)
        lines.append(f"sources by project: {dict(files.most_common())}")
        return "\n".join(lines)


def build(package: Package, root: Path, version: str, corpus: Corpus, args: argparse.Namespace) -> None:
    """Compile one unpacked package, chunk by chunk, until its cap or its sources are reached."""
    # -idirafter comes last in clang's search, so no package's string.h hides the system's. A folder
    # that is named in both ways would come last, too.
    folders = [folder for folder in header_folders(root) if folder not in package.include_dirs]
    header_flags = [f"-idirafter{folder}" for folder in folders]
    for other in package.headers_of:
        folder = args.work / other / "src"
        header_flags += [f"-idirafter../../{other}/src/{f}" for f in header_folders(folder)]
    jobs = [
        Job(package, version, root, file, language, tuple(header_flags))
        for file, language in find_sources(package, root)
    ]
    known = dict(corpus.records)
    # Counted over the chunks in order, not over what the log holds: a run that was stopped inside
    # a chunk then goes on as if it had not been.
    good, spent, failed = 0, 0, collections.Counter[str]()
    with ThreadPoolExecutor(args.jobs) as pool:
        for start in range(0, len(jobs), CHUNK):
            chunk = jobs[start : start + CHUNK][: max(package.cap - good, 0)]
            if not chunk or (start and not good):
                break
            if corpus.ir_bytes() > args.max_bytes:
                break
            if spent > args.max_project_bytes:
                break
            results = pool.map(lambda job: (job, compile_job(job, known, args)), chunk)
            for job, records in results:
                for record in records:
                    corpus.add(record)
                    if record["status"] in FAILURES:
                        failed[record["reason"]] += 1
                tried = [corpus.records.get((package.name, job.file, level)) for level in LEVELS]
                kept = [record for record in tried if record and record["status"] == "ok"]
                good += bool(kept)
                spent += sum(record["ir_bytes"] for record in kept)
    inside = {r["file"] for r in corpus.kept() if r["project"] == package.name}
    print(
        f"{package.name} {version}: {len(inside)} of {len(jobs)} sources are in,"
        f" {failed.total()} failed now; corpus {corpus.ir_bytes() / 1e6:.0f} MB",
        file=sys.stderr,
        flush=True,
    )
    for reason, count in failed.most_common(args.reasons):
        print(f"    {count} x {reason}", file=sys.stderr, flush=True)


def main() -> None:
    """Read the command line and build the corpus."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("recipe", type=Path, help="TOML file with the packages")
    parser.add_argument("out", type=Path, help="folder for the IR")
    parser.add_argument("--work", type=Path, required=True, help="folder for unpacked sources")
    parser.add_argument("--manifest", type=Path, help="CSV file to write")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="only these packages")
    parser.add_argument("--jobs", type=int, default=2, help="compilers at once (default: 2)")
    parser.add_argument("--seconds", type=float, default=60, help="time limit of one compilation")
    parser.add_argument("--max-file-bytes", type=int, default=1_500_000, help="largest IR file")
    parser.add_argument("--max-bytes", type=int, default=700_000_000, help="largest corpus")
    parser.add_argument("--max-project-bytes", type=int, default=6_000_000, help="a project ends past this much IR")
    parser.add_argument("--retry-failed", action="store_true", help="compile failures again")
    parser.add_argument("--reasons", type=int, default=3, help="error messages shown a package")
    args = parser.parse_args()
    args.work = args.work.resolve()
    packages = read_recipe(args.recipe)
    if args.only:
        if missing := set(args.only) - {package.name for package in packages}:
            raise SystemExit(f"{args.recipe}: no package {sorted(missing)}")
        packages = [package for package in packages if package.name in args.only]
    corpus = Corpus(args.out, args.retry_failed)
    # One thread fetches ahead while the pool compiles.
    with ThreadPoolExecutor(1) as fetcher:
        sources = [(p, fetcher.submit(fetch, p, args.work)) for p in packages]
        for number, (package, future) in enumerate(sources, 1):
            print(f"[{number}/{len(packages)}] {package.name}", file=sys.stderr, flush=True)
            fetched = future.result()
            if isinstance(fetched, str):
                print(f"{package.name}: {shlex.quote(fetched)}", file=sys.stderr, flush=True)
                continue
            build(package, *fetched, corpus, args)
    if args.manifest:
        corpus.write_manifest(args.manifest)
    print(corpus.summary())


if __name__ == "__main__":
    main()
