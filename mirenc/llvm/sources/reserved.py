"""Programs kept for evaluation, since tasks compile them: no corpus may hold them."""

import re

_PACKAGE = re.compile(
    r"(?i)^(sqlite3?|lua(5\.\d|jit)?|bzip2|lz4|tcc|gsl|fftw[23]?|hpcc|libtommath|darktable"
    r"|llvm-toolchain-.*|(snu-?)?npb|parboil|polybench.*|rodinia|shoc|amd-?app.*)$"
)
# The same programs travel inside other packages: as a folder, or as a file.
_FOLDER = re.compile(
    r"(?i)^(sqlite|lua|bzip2|lz4|tcc|gsl|fftw|hpcc|(lib)?tommath|polybench|rodinia|parboil|shoc"
    r"|npb)[-_.\d]*$"
)
_FILE = re.compile(r"(?i)^(sqlite3.*|lz4(hc|frame|file)?|bz(lib|ip2)|l(api|vm)|tommath)\.c$")
# What stands between the names in the address of a package, and what its last name ends in.
_SEPARATOR = re.compile(r"[/@:#?=&\s]+")
_ARCHIVE = re.compile(r"(?i)\.(git|crate|zip|tgz|tar(\.\w+)?)$")


def is_reserved_package(name: str) -> bool:
    """Say whether a package is kept for evaluation; the name may be an address (``https://host/lua/lua-5.4.tar.gz``)."""
    parts = (_ARCHIVE.sub("", part) for part in _SEPARATOR.split(name))
    return any(_PACKAGE.match(part) or _FOLDER.match(part) for part in parts)


def is_reserved(file: str) -> bool:
    """Say whether a path inside a package (with ``/``) is a copy of a program kept for evaluation."""
    *folders, name = file.split("/")
    return any(map(_FOLDER.match, folders)) or bool(_FILE.match(name))
