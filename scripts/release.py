"""Make the checkout release a version: the version everywhere, the changelog, and the models checked.

    python scripts/release.py 1.0.0

It writes the version to the files of `VERSIONS` and gives the unreleased part of CHANGELOG.md a heading. Before that it
checks, and where something is wrong it says so and writes nothing. The checkout must have no change that is not
committed, the version must be a later one, and something must be unreleased. Every model must be whole, give its golden
vectors, and be the one that the last release had under its name; a model's package that has changed must have another
version. Committing and tagging are left to you.
"""

from __future__ import annotations

import datetime
import re
import subprocess
import sys
import tomllib
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[1]
# Where the version stands, and what surrounds it.
VERSIONS = {
    "mirenc/__init__.py": r'(?m)^(__version__ = ")([^"]+)(")$',
    "CITATION.cff": r"(?m)^(version: )(\S+)()$",
    "packaging/recipe.yaml": r'(?m)^(  version: ")([^"]+)(")$',
}
SHIPPED, APART = "mirenc/encoder/weights/*/SHA256SUMS", "models/*/*/SHA256SUMS"
# Of a model's files, those that its vectors come from.
FIXED = ("config.json", "tokenizer.json", "model.safetensors")
UNRELEASED = "## [Unreleased]\n"


def main() -> None:
    """Release the version that is named."""
    if len(sys.argv) != 2 or not re.fullmatch(r"\d+\.\d+\.\d+", sys.argv[1]):
        sys.exit("usage: python scripts/release.py MAJOR.MINOR.PATCH")
    version = sys.argv[1]
    if problems := [*check_tree(CHECKOUT, version), *check_models(CHECKOUT)]:
        sys.exit("".join(f"error: {problem}\n" for problem in problems) + "Nothing was written.")
    changed_files = write(CHECKOUT, version, datetime.datetime.now(datetime.UTC).date())
    print(f"wrote {', '.join(changed_files)}. Look at `git diff`, then type:")
    print(f'    git commit --all --message "Release {version}" && git tag v{version}')
    print("    python scripts/installed.py   # builds sdist and wheels, checks them, and runs the README's commands")
    print("    python -m build && python -m twine upload dist/*")


def git(root: Path, *words: str) -> str:
    """Output of a git command; "" where it fails."""
    process = subprocess.run(["git", *words], cwd=root, capture_output=True, text=True, check=False)
    return process.stdout.strip() if process.returncode == 0 else ""


def last_tag(root: Path) -> str:
    """The tag of the last release; "" before the first."""
    return git(root, "describe", "--tags", "--abbrev=0", "--match=v[0-9]*")


def check_tree(root: Path, version: str) -> list[str]:
    """What is wrong with the checkout, but for its models."""
    problems = []
    if changed := git(root, "status", "--porcelain"):
        problems.append(f"changes are not committed:\n{changed}\nCommit them, or type: git stash --include-untracked")
    matched = {
        file: re.findall(pattern, (root / file).read_text(encoding="utf-8")) for file, pattern in VERSIONS.items()
    }
    for file, matches in matched.items():
        if len(matches) != 1:
            problems.append(f"{file} has {len(matches)} versions, and needs one. Mend it")
    current = {match[1] for matches in matched.values() for match in matches}
    if len(current) > 1:
        problems.append(f"versions differ: {', '.join(sorted(current))} ({', '.join(VERSIONS)}). Mend them")
    elif any(numbers(version) <= numbers(old) for old in current) or git(root, "tag", "--list", f"v{version}"):
        problems.append(f"{version} is not after {', '.join(current)}, or has a tag. Name a later version")
    _, unreleased, rest = (root / "CHANGELOG.md").read_text(encoding="utf-8").partition(UNRELEASED)
    if not unreleased or "\n- " not in rest.partition("\n## ")[0]:
        problems.append(f"CHANGELOG.md has no change under {UNRELEASED.strip()}. Write what users notice there")
    return problems


def numbers(version: str) -> tuple[int, ...]:
    """A version, to be compared."""
    return tuple(map(int, version.split(".")))


def check_models(root: Path) -> list[str]:
    """What is wrong with the models, shipped ones and those that are packages of their own."""
    from mirenc.base.errors import MirencError
    from mirenc.encoder.golden import check_golden
    from mirenc.encoder.weights import verify_files

    problems, tag = [], last_tag(root)
    for sums in sorted([*root.glob(SHIPPED), *root.glob(APART)]):
        folder = sums.parent
        try:
            names = [*verify_files(folder), sums.name]
            check_golden(folder)
        except MirencError as error:
            problems.append(str(error))
            continue
        if extras := sorted({path.name for path in folder.iterdir() if path.is_file()} - {*names, "__init__.py"}):
            problems.append(f"{folder}: {sums.name} does not list {', '.join(extras)}. Remove it, or seal the folder")
        sums_path = sums.relative_to(root).as_posix()
        tagged_text = git(root, "show", f"{tag}:{sums_path}") if tag else ""
        if tagged_text and fixed(tagged_text) != fixed(sums.read_text(encoding="utf-8")):
            problems.append(f"{folder}: is another model than that of {tag}. A better model gets a new name")
    for project in sorted(root.glob("models/*/pyproject.toml")) if tag else ():
        name = project.parent.relative_to(root).as_posix()
        tagged_text = git(root, "show", f"{tag}:{name}/pyproject.toml")
        project_version = tomllib.loads(project.read_text(encoding="utf-8"))["project"]["version"]
        if (
            tagged_text
            and tomllib.loads(tagged_text)["project"]["version"] == project_version
            and git(root, "diff", "--name-only", tag, "--", name)
        ):
            problems.append(f"{name}: has changed since {tag} and still has version {project_version}. Give it another")
    return problems


def fixed(sums: str) -> list[str]:
    """The lines of a SHA256SUMS that a model's vectors depend on."""
    return [line for line in sums.splitlines() if line.endswith(FIXED)]


def write(root: Path, version: str, date: datetime.date) -> list[str]:
    """Write the version and the changelog; returns the names of the files."""
    for file, pattern in VERSIONS.items():
        text = (root / file).read_text(encoding="utf-8")
        (root / file).write_text(re.sub(pattern, rf"\g<1>{version}\g<3>", text), encoding="utf-8")
    citation = root / "CITATION.cff"
    text = re.sub(r"(?m)^date-released:.*\n", "", citation.read_text(encoding="utf-8"))
    text = re.sub(r"(?m)^(version: .*\n)", rf"\g<1>date-released: {date}\n", text)
    citation.write_text(text, encoding="utf-8")
    changes = root / "CHANGELOG.md"
    header, _, rest = changes.read_text(encoding="utf-8").partition(UNRELEASED)
    # What stands before the first heading is about what is not released yet.
    section, mark, older = rest.partition("\n## ")
    section = section[max(section.find("\n### "), 0) :]
    changes.write_text(f"{header}{UNRELEASED}\n## [{version}] - {date}\n{section}{mark}{older}", encoding="utf-8")
    return [*VERSIONS, "CHANGELOG.md"]


if __name__ == "__main__":
    main()
