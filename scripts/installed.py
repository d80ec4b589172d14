"""Build what a release uploads, install mirenc out of the checkout's sight, and run there the README's commands.

    python scripts/installed.py

The wheel is built from the sdist; `twine check` reads both, and each file is compared with the checkout's.

Needs git, a package registry and, for OpenCL C, a clang on PATH. Every line of the README's ``sh`` blocks that begins
with ``mirenc`` is run in a folder of its own and must succeed, show something and say nothing wrong; `LEFT_OUT` has
those that need more than the package. `FINDINGS` and `judge_vectors` say what must be in the output. mirenc-base, a
package of its own, is installed after all that, so none of it needs that model.
"""

from __future__ import annotations

import json
import math
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[1]
# Beginnings of commands, and what they need.
LEFT_OUT = {
    "mirenc models evaluate": "IR of other projects, and torch",
    "mirenc corpus build": "sources of several projects, and torch",
    "mirenc pretrain": "a corpus, and torch",
    "mirenc datasets": "the published data",
    "mirenc evaluate": "the published data, or a task of one's own",
    "mirenc measure": "a quiet machine and its time",
    "mirenc suggest": "a source of one's own, and libLLVM",
    "mirenc tune": "a program of one's own that is built and timed",
    "mirenc serve": "a build of one's own, and libLLVM",
    "mirenc diff old/libfoo.a": "two builds of one's own",
    "mirenc mcp": "a client that asks",
}
LARGEST = 40e6  # bytes of mirenc's wheel
APART = "models/mirenc-base"
# Not in the README word for word: before and after the model that is a package of its own is installed.
MORE = [f"mirenc models verify {name}" for name in ("mirenc-tiny", "mirenc-fast")]
THEN = ["mirenc models show mirenc-base", "mirenc models verify mirenc-base", "mirenc models list"]
# Beginnings of commands, and what their output must hold.
FINDINGS = {
    "mirenc inspect": r"(?m)^instructions +40$",
    "mirenc fit": r"(?m)^Use it: ",
    "mirenc graph": r"(?s)^digraph .*getelementptr",
    "mirenc models list": r"(?m)^mirenc-fast .*\(default\)$",
    "mirenc models verify": "vectors of golden.json reproduced",
    "mirenc predict device_mapping": r"(?m)^ *(?:cpu|gpu) .*\d",
    "mirenc predict vectorization": r"(?m)^foo\.c:\d+: saxpy",
    "mirenc predict openmp": r"expected: default [\d.]+ us",
    "mirenc predict thread_coarsening": r"(?m)^ *16 .*\d",
}
# A file that a command names and that is not there is made from one of these.
EXAMPLES = {".c": "saxpy.c", ".cl": "vector_add.cl", ".ll": "saxpy.ll"}
DIMENSION = 1280


def main() -> None:
    """Do all of it; an exception is a failure."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        tracked = git_files()
        wheel, model = build_wheels(tracked, folder)
        check_contents(wheel, [name for name in tracked if name.startswith("mirenc/")], CHECKOUT)
        model_files = [name.removeprefix(f"{APART}/") for name in tracked if name.startswith(f"{APART}/mirenc_base/")]
        check_contents(model, model_files, CHECKOUT / APART)
        if wheel.stat().st_size > LARGEST:
            sys.exit(f"error: {wheel.name} has more than {LARGEST / 1e6:.0f} MB")
        binaries = install(wheel, folder / "environment")
        work_folder = folder / "work"
        for data in ("examples", "downstream/own_labels"):
            shutil.copytree(CHECKOUT / data, work_folder / data)
        environment = {key: value for key, value in os.environ.items() if not key.startswith(("MIRENC", "PYTHON"))}
        environment |= {"PATH": f"{binaries}:{os.environ['PATH']}", "MIRENC_CACHE": str(folder / "cache")}
        check_location(binaries, work_folder, environment)
        for command in [*readme_commands(), *MORE]:
            check_command(command, work_folder, environment)
        check_missing(binaries, work_folder, environment)
        subprocess.run([str(binaries / "python"), "-m", "pip", "install", "--quiet", str(model)], check=True)
        for command in THEN:
            check_command(command, work_folder, environment)


def git_files() -> list[str]:
    """Files of the repository."""
    process = subprocess.run(["git", "ls-files", "-z"], cwd=CHECKOUT, capture_output=True, text=True, check=True)
    return [name for name in process.stdout.split("\0") if name]


def build_wheels(tracked: list[str], folder: Path) -> tuple[Path, Path]:
    """Build sdists, and wheels of these, from a copy: an old ``build/`` would bring back what was deleted since."""
    for name in tracked:
        (folder / "source" / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(CHECKOUT / name, folder / "source" / name)
    subprocess.run([sys.executable, "-m", "venv", str(folder / "tools")], check=True)
    python = str(folder / "tools" / "bin" / "python")
    subprocess.run([python, "-m", "pip", "install", "--quiet", "build", "twine"], check=True)
    built = folder / "dist"
    for source in (folder / "source", folder / "source" / APART):
        build = [python, "-m", "build", "--outdir", str(built), str(source)]
        subprocess.run(build, stdout=subprocess.DEVNULL, check=True)
    subprocess.run([python, "-m", "twine", "check", "--strict", *map(str, built.iterdir())], check=True)
    (wheel,), (model,) = (built.glob(f"{name}-*.whl") for name in ("mirenc", "mirenc_base"))
    return wheel, model


def check_contents(wheel: Path, files: list[str], root: Path) -> None:
    """Demand every one of the files below the root in the wheel, as it is there, and nothing else."""
    with zipfile.ZipFile(wheel) as archive:
        members = [member for member in archive.infolist() if ".dist-info/" not in member.filename]
        packed, expected = {member.filename for member in members}, set(files)
        changed = [name for name in packed & expected if archive.read(name) != (root / name).read_bytes()]
    if packed != expected or changed:
        only = f"not in the wheel: {sorted(expected - packed)}; only in the wheel: {sorted(packed - expected)}"
        sys.exit(f"error: {only}; not as in the checkout: {sorted(changed)}")
    unpacked = sum(member.file_size for member in members) / 1e6
    print(f"{wheel.name}: all {len(packed)} files, {wheel.stat().st_size / 1e6:.1f} MB, {unpacked:.1f} unpacked")


def install(wheel: Path, environment: Path) -> Path:
    """A new environment with the wheel and the ``tasks`` extra; the folder of its programs."""
    subprocess.run([sys.executable, "-m", "venv", str(environment)], check=True)
    python = environment / "bin" / "python"
    pins = ["--constraint", str(CHECKOUT / "constraints.txt")]
    subprocess.run([str(python), "-m", "pip", "install", "--quiet", *pins, f"{wheel}[tasks]"], check=True)
    return python.parent


def check_location(binaries: Path, work: Path, environment: dict[str, str]) -> None:
    """Demand that it is the installed package which is imported."""
    command = [str(binaries / "python"), "-c", "import mirenc; print(mirenc.__file__)"]
    process = subprocess.run(command, cwd=work, env=environment, capture_output=True, text=True, check=True)
    if not Path(process.stdout.strip()).is_relative_to(binaries.parent):
        sys.exit(f"error: mirenc comes from {process.stdout.strip()}")


def check_missing(binaries: Path, work: Path, environment: dict[str, str]) -> None:
    """Demand that who asks for a model that is not installed is told what to type."""
    command = [str(binaries / "mirenc"), "models", "show", "mirenc-base"]
    process = subprocess.run(command, cwd=work, env=environment, capture_output=True, text=True, check=False)
    if process.returncode != 1 or f"pip install ./{APART}" not in process.stderr:
        sys.exit(f"error: exit status {process.returncode} without mirenc-base\n{process.stderr}")


def readme_commands() -> list[str]:
    """The README's commands, without comments and without those that are left out."""
    text = (CHECKOUT / "README.md").read_text(encoding="utf-8")
    lines = [line for block in re.findall(r"(?s)^```sh\n(.*?)^```", text, re.MULTILINE) for line in block.splitlines()]
    commands = [shlex.join(shlex.split(line, comments=True)) for line in lines if line.startswith("mirenc ")]
    runnable = [command for command in commands if not command.startswith(tuple(LEFT_OUT))]
    for verb in ("embed", "inspect", "graph", "predict"):
        if not any(command.startswith(f"mirenc {verb} ") for command in runnable):
            sys.exit(f"error: the README has no `mirenc {verb}` any more that could be run")
    return runnable


def check_command(command: str, work: Path, environment: dict[str, str]) -> None:
    """Run one command and judge what it gives."""
    print(f"$ {command}", flush=True)
    words = [match for word in shlex.split(command) for match in expand(word, work)]
    process = subprocess.run(words, cwd=work, env=environment, capture_output=True, text=True, check=False)
    if process.returncode or "Traceback" in process.stderr or "mirenc: error" in process.stderr:
        sys.exit(f"error: exit status {process.returncode}\n{process.stderr}")
    output = work / words[words.index("-o") + 1] if "-o" in words else None
    if "--c" in words:  # a folder
        output = work / words[words.index("--c") + 1] / f"{words[2].replace('.', '_')}.c"
    text = process.stdout if output is None or output.is_dir() else output.read_bytes().decode("utf-8", "replace")
    if not text.strip():
        sys.exit("error: no output")
    for beginning, pattern in FINDINGS.items():
        if command.startswith(beginning) and not re.search(pattern, text):
            sys.exit(f"error: {pattern} is not in the output:\n{text}")
    if command.startswith("mirenc embed"):
        judge_vectors(text, output, words)


def expand(word: str, work: Path) -> list[str]:
    """What a shell makes of a word; a file that does not exist is made."""
    if "*" in word:
        return sorted(str(path.relative_to(work)) for path in work.glob(word))
    path = work / word
    if path.suffix in EXAMPLES and not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(work / "examples" / EXAMPLES[path.suffix], path)
    return [word]


def judge_vectors(text: str, output: Path | None, words: list[str]) -> None:
    """Demand finite vectors of the default model, one for each file, or more for its functions."""
    if output is not None:
        from mirenc.search import read_vectors

        vectors = read_vectors(output).vectors.tolist()
    else:
        vectors = [json.loads(line)["vector"] for line in text.splitlines()]
    files = sum(Path(word).suffix in EXAMPLES for word in words)
    if len(vectors) < files or ("--level" not in words and len(vectors) != files):
        sys.exit(f"error: {len(vectors)} vectors of {files} files")
    if not all(len(vector) == DIMENSION and all(map(math.isfinite, vector)) for vector in vectors):
        sys.exit(f"error: a vector is not {DIMENSION} finite numbers")


if __name__ == "__main__":
    main()
