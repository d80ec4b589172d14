"""Programs that stand for compilers and for Debian's tools: fast, the same everywhere, and they count their calls."""

import os
import shutil
from pathlib import Path
from typing import Self

import pytest

# Writes "IR" that depends on the source and the level; #error fails, `hang` never ends, `declare` has no function.
COMPILER = r"""#!/bin/sh
echo "$(basename "$0") $*" >> "$(dirname "$0")/calls"
level=none
while [ $# -gt 0 ]; do
    case $1 in
        -o) out=$2; shift ;;
        -idirafter) shift ;;
        -O* | -Copt-level=*) level=$1 ;;
        *.c | *.cpp | *.f90 | *.rs) file=$1 ;;
    esac
    shift
done
if grep -q '#error' "$file"; then echo "$file:1:2: error: told so" >&2; exit 1; fi
if grep -q hang "$file"; then sleep 60; fi
what=define
if grep -q declare "$file"; then what=declare; fi
{
    echo "; ModuleID = $file"
    echo "source_filename = $file"
    echo "; $level $(cat "$file")"
    echo "$what void @f()"
} > "$out"
"""
# Hands out what lies beside it as `<package>.orig.tar.gz`; one package name stands for a machine without deb-src.
APT_GET = r"""#!/bin/sh
here=$(dirname "$0")
echo "apt-get $*" >> "$here/calls"
for package; do :; done
if [ -e "$here/no-deb-src" ]; then echo "E: You must put some 'deb-src' URIs in your sources.list" >&2; exit 100; fi
if [ ! -e "$here/$package.orig.tar.gz" ]; then echo "E: Unable to find a source package for $package" >&2; exit 100; fi
cp "$here/$package.orig.tar.gz" "${package}_1.5.orig.tar.gz"
"""
SYSTEM = "basename cat cp dirname env false grep gzip mkdir nice sed sh sleep tar touch".split()


class FakeTools:
    """A PATH of stand-ins: ``folder`` is the only one on it, and has the system's small tools, too."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @classmethod
    def only(cls, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Self:
        """Make the folder, and have nothing else on PATH that compiles or fetches."""
        if os.name != "posix":
            pytest.skip("the stand-ins are shell scripts")
        folder.mkdir()
        for name in SYSTEM:
            program = shutil.which(name)
            assert program is not None, f"the tests need {name}"
            (folder / name).symlink_to(program)
        tools = cls(folder)
        tools.add("clang-14")
        tools.add("clang-19")
        tools.add("apt-get", APT_GET)
        tools.add("dpkg-source", "#!/bin/sh\nexit 1\n")
        monkeypatch.setenv("PATH", str(folder))
        return tools

    def add(self, name: str, script: str = COMPILER) -> None:
        """Put a program on PATH."""
        path = self.folder / name
        path.write_text(script, encoding="utf-8")
        path.chmod(0o755)

    def calls(self) -> list[list[str]]:
        """Name and arguments of each call so far, in an order of chance where several ran at once."""
        log = self.folder / "calls"
        return [line.split() for line in log.read_text(encoding="utf-8").splitlines()] if log.exists() else []

    def forget(self) -> None:
        """Forget the calls so far."""
        (self.folder / "calls").unlink(missing_ok=True)
