"""``mirenc cc``: a compiler that keeps the LLVM IR of what it compiles. `mirenc.__main__` runs it without this file."""

from typing import Annotated

from typer import Argument

SETTINGS = {"ignore_unknown_options": True, "allow_interspersed_args": False}  # options are the compiler's


def cc(command: Annotated[list[str], Argument(metavar="COMPILER", help="The compiler and its arguments.")]) -> None:
    """Run your build's compiler unchanged, and keep the LLVM IR of each source beside its object: x.o.bc beside x.o.

    Give it to a build, as in make CC="mirenc cc clang". A second compilation makes the IR, at the same -O level and
    with the same flags, except those for debug information, sanitizers, coverage, profiles, LTO and the like. Where it
    cannot be made, a warning says so; the build goes on. If the compiler is no clang, the first clang on PATH makes it.

    The environment variable MIRENC_IR names a folder for the IR, as an absolute path.

    mirenc cc gcc -O2 -c foo.c -o foo.o
    mirenc cc gcc -c foo.c && mirenc inspect foo.o.bc
    """
    from mirenc.tools.keep_ir import run_compiler

    run_compiler(command)
