"""What evaluation compiles is in no corpus: as a package, as a folder of another one, or as a file."""

import pytest

from mirenc.llvm.sources.reserved import is_reserved, is_reserved_package

PACKAGES = "sqlite3 lua5.4 luajit bzip2 gsl fftw3 llvm-toolchain-19 NPB polybench-gpu".split()
ADDRESSES = [
    "https://host.example/lua/lua/archive/v5.4.tar.gz",
    "https://host.example/lz4-1.9.4.tar.gz",
    "git@host.example:sqlite.git",
    "spack: gsl@2.7",
]
OTHER_PACKAGES = ["zlib", "luarocks", "libgsl-dev-tools", "tccutils", "https://host.example/z/zlib-1.3.tar.gz"]
FILES = "thirdparty/sqlite/shell.c deps/lua-5.3/src/x.c src/sqlite3.c lib/lz4hc.c a/bzlib.c libtommath/mp.c".split()
OTHER_FILES = ["src/main.c", "lua.c", "sqlite3.c/x.c", "src/lz4_wrapper.c", "fft/fftwrap.c"]


@pytest.mark.parametrize("name", [*PACKAGES, *ADDRESSES, *OTHER_PACKAGES])
def test_reserved_packages(name: str) -> None:
    assert is_reserved_package(name) == (name not in OTHER_PACKAGES)


@pytest.mark.parametrize("file", [*FILES, *OTHER_FILES])
def test_reserved_files(file: str) -> None:
    assert is_reserved(file) == (file not in OTHER_FILES)
