"""Programs of Debian packages by several compilers at several levels: what functions are searched in.

What you get: `OUT/COMPILER/PROJECT/O0/x.ll` and `OUT/COMPILER/PROJECT/O2/x.ll` for `compare_functions.py`, and more
levels for `function_pools.py`. A run that was stopped goes on.
How long: five minutes a compiler on one core for the ten projects of `debian-search.toml`.
On what: Debian with `deb-src` enabled, `dpkg-dev`, and the compilers.

    python pretrain/compile_pairs.py pretrain/debian-search.toml OUT --compilers clang-14 clang-16 clang-19
    python pretrain/compile_pairs.py RECIPE OUT --compilers clang-14 clang-19 --levels O0 O1 O2 O3 Os Oz --cap 12
    (with --settings O0-Oz XM O2-Oz O3-Os only the builds that these settings of function_pools.py draw)

Crates of Rust and Fortran: the folder has the name that is given as the compiler (`debian-unseen-languages.toml`).
With ``--training`` packages that are reserved for evaluation, and those that the recipe holds out, are left out.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from debian import compile_recipe
from debian_recipe import read_recipe
from function_pools import drawn_builds

from mirenc.llvm.sources.compile_programs import Choices, Program
from mirenc.llvm.sources.ir_folder import IRFolder
from mirenc.llvm.sources.reserved import is_reserved_package


def drawn_levels(settings: Sequence[str], group: Sequence[str], compiler: str, program: Program) -> set[str]:
    """The levels of a program by one compiler of a group that settings of `function_pools.py` draw."""
    key = program.project, f"{program.file.replace('/', '__')}.ll"  # an IR folder's name
    builds = [build for setting in settings for build in drawn_builds(setting, key, group)]
    return {level for build_compiler, level in builds if build_compiler == compiler}


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("recipe", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--compilers", nargs="+", default=["clang-14", "clang-16", "clang-19"])
    parser.add_argument("--levels", nargs="+", default=["O0", "O2"])
    parser.add_argument("--settings", nargs="+", help="only the builds that these of function_pools.py draw")
    parser.add_argument("--cap", type=int, help="at most so many sources of a package [default: as the recipe has it]")
    parser.add_argument("--max-file-bytes", type=int, help="of IR; then a package ends at its cap alone")
    parser.add_argument("--packages", nargs="+", metavar="NAME", help="only these, and those whose headers they need")
    parser.add_argument("--training", action="store_true", help="only packages for training")
    parser.add_argument("--work", type=Path, help="folder for the sources [default: OUT/work]")
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    recipe = read_recipe(arguments.recipe, with_reserved=True)
    packages = recipe.packages
    if arguments.training:
        unreserved = (pkg for pkg in packages if pkg.name not in recipe.held_out and not is_reserved_package(pkg.name))
        packages = tuple(unreserved)
    if arguments.packages is not None:
        if missing := sorted(set(arguments.packages) - (names := {package.name for package in packages})):
            sys.exit(f"{arguments.recipe} has no package {missing[0]} to compile. It has: {', '.join(sorted(names))}")
        header_packages = {
            name for package in packages if package.name in arguments.packages for name in package.headers_of
        }
        packages = tuple(package for package in packages if package.name in header_packages.union(arguments.packages))
    if arguments.cap is not None:
        packages = tuple(package.model_copy(update={"cap": arguments.cap}) for package in packages)
    recipe = recipe.model_copy(update={"packages": packages})
    if arguments.max_file_bytes is not None:
        limits = {
            "max_file_bytes": arguments.max_file_bytes,
            "max_project_bytes": sys.maxsize,
            "max_bytes": sys.maxsize,
        }
        recipe = recipe.model_copy(update={"limits": recipe.limits.model_copy(update=limits)})
    levels_of_setting = arguments.settings and partial(drawn_levels, arguments.settings, arguments.compilers)
    for compiler in arguments.compilers:
        with IRFolder(arguments.out / compiler) as folder:
            if arguments.max_file_bytes is not None:
                folder.keep_only(lambda record: record.status != "large")  # an earlier limit may have been lower
            compile_recipe(
                recipe,
                folder,
                arguments.work or arguments.out / "work",
                Choices(levels=arguments.levels, compiler=compiler),
                jobs=arguments.jobs,
                levels_of=levels_of_setting and partial(levels_of_setting, compiler),
                report=lambda line: print(line, file=sys.stderr),
            )


if __name__ == "__main__":
    main()
