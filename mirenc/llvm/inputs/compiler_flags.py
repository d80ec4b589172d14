"""Flags of a build's compiler: which are kept, which are left out, and which the compiler here refuses.

A flag is kept unless it belongs to a family known to be no part of the program, or to make the output something else
than one module of IR. So a flag that is not known here reaches the compiler, which takes it or names it.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

Flag = tuple[str, ...]
"""An option with its value, as the words of a command."""

LEVEL = re.compile(r"-O(\d*|[sgz]|fast)$|--optimize")
TARGET = re.compile(r"--?target(=|$)")
OUTPUT = re.compile(
    r"-[cSEsrvw]$|-[oMLlTHdJ]|-[ezu]$|-###$|-W(?!p,|no-)|-Wno-error$|-pedantic|-g0$|-pipe$|-time|-print-|-emit-"
    r"|-aux-info|-X(linker|assembler|analyzer|offload-linker)$|-rdynamic$|-rpath|-undefined$|-framework$|-dependency-"
    r"|-module-|-serialize-|-index-|-gen-cdb|-wrapper|-odir|-install_name|-current_version|-compatibility_version"
    r"|-filelist|-f(no-)?(syntax-only|diagnostics|color|ansi-escape|message-length|max-errors|error-limit|show|caret"
    r"|spell|elide-type|debug|standalone-debug|limit-debug|eliminate-unused-debug|var-tracking|dump|opt-info|mem-report"
    r"|callgraph-info|time-|proc-stat|crash-diagnostics|verbose-asm"
    r"|use-ld|use-linker|module-output|build-session|compare-debug|\w+-backtrace-limit|integrated-as)"
    r"|-fno-(sanitize|profile|coverage|lto|fat-lto|modules|plugin|xray|record)"
    r"|--(output|dependencies|user-dep|write-|print-|serialize-|all-warn|extra-warn|warn|no-warn|pedantic|verbose|pipe"
    r"|preprocess|compile|assemble$|library-directory|for-linker|for-assembler|force-link|entry)"
)
"""No part of the program, and nothing of the IR: outputs, dependencies, diagnostics, linking."""
LEFT_OUT = re.compile(
    r"-g(?!0$|cc-|en-)|--debug|--?coverage|--profile|-include-pch|-load$|-plugin|-add-plugin|-R|--?save-"
    r"|-f(sanitize|cs-profile|profile|auto-profile|branch-prob|coverage|test-coverage|xray|lto|thin|fat-lto|split-lto"
    r"|whole-program|virtual-function-e|embed-bitcode|plugin|pass-plugin|modules|implicit-module|record-|stack-usage"
    r"|(save-)?optimization-record)"
)
"""What changes the IR or its metadata for tools, profiles, linkers or one compiler alone: left out, and reported."""
PRECOMPILED = (".gch", ".pch")

_WRAPPERS = ("-Xclang", "-Xpreprocessor")  # each of the wrapped words has one before it
# Options whose value is the next word: those of which clang 19 says "argument is missing", their long spellings, and
# some of gcc, nvcc and clang's own inner command.
_TAKES_WORD = frozenset(
    """
    -A -B -D -F -G -I -J -L -T -U -b -e -l -o -u -x -z -MF -MJ -MQ -MT -target -arch -mllvm -mmlir -Xanalyzer
    -Xarch_device -Xarch_host -Xassembler -Xlinker -Xoffload-linker -Xopenmp-target -Xcuda-fatbinary -Xcuda-ptxas
    -include -include-pch -imacros -isystem -isystem-after -iquote -idirafter -iprefix -iwithprefix -iwithprefixbefore
    -isysroot -iwithsysroot -iframework -iframeworkwithsysroot -cxx-isystem -stdlib++-isystem -ivfsoverlay -vfsoverlay
    -imultilib -working-directory -resource-dir -dependency-file -dependency-dot -module-dependency-dir -filelist
    -serialize-diagnostics -gen-cdb-fragment-path -index-store-path -index-unit-output-path -fdebug-compilation-dir
    -ftrapv-handler -mthread-model -rpath -undefined -framework -install_name -current_version -compatibility_version
    -dumpbase -dumpbase-ext -dumpdir -aux-info -wrapper -module-dir -gcc-toolchain
    -gencode -ccbin -maxrregcount -odir -Xcompiler -Xptxas --compiler-options --compiler-bindir --generate-code
    -load -plugin -add-plugin -triple -target-cpu -target-feature -main-file-name -mrelocation-model
    --define-macro --undefine-macro --include-directory --include-directory-after --include-prefix --include-with-prefix
    --include-with-prefix-after --include-with-prefix-before --include --imacros --language --std --output --assert
    --prefix --entry --for-linker --for-assembler --force-link --library-directory --sysroot --target --param --config
    --serialize-diagnostics --vfsoverlay
    """.split()
)
# Macros and where headers and other files are: nothing that a compiler refuses, and other for each file.
_PREPROCESSOR = re.compile(
    r"-[DUIF]|-i(nclude|macros|system|quote|dirafter|prefix|withprefix|sysroot|withsysroot|framework|vfsoverlay)|-Wno-"
    r"|-cxx-isystem|-stdlib\+\+-isystem|-working-directory|--(define|undefine|include|imacros|sysroot|vfsoverlay|assert|config)|-fmodule-"
)
# A line of a compiler without a place in a source.
_ERROR = re.compile(r"^(?!.*:\d+:\d+: ).*(?:error: |line argument '|unused during compilation: '-m).*", re.MULTILINE)
# What flags for a processor are tried with where no word of a command says a target. Not PowerPC and MIPS: to clang 14
# any -march is one of those.
_OTHER_TARGETS = ("arm-linux-gnueabihf", "aarch64-linux-gnu", "riscv64-linux-gnu", "x86_64-linux-gnu")


def split_flags(words: Iterable[str]) -> Iterator[Flag]:
    """Options with their values, and other words by themselves; -Wp,A,B is -Xpreprocessor A -Xpreprocessor B."""
    remaining = list(words)[::-1]
    while remaining:
        word = remaining.pop()
        if word == "--":  # no option is behind it
            yield from (("", source) for source in reversed(remaining))
            return
        if word.startswith("-Wp,"):
            for part in reversed(word.split(",")[1:]):
                remaining += [part, "-Xpreprocessor"]
        elif word in _WRAPPERS and remaining:
            flag: Flag = word, remaining.pop()
            # The preprocessor's own -MD has a value.
            has_value = flag[1] in _TAKES_WORD or (word == "-Xpreprocessor" and flag[1] in ("-MD", "-MMD"))
            if has_value and len(remaining) > 1 and remaining[-1] == word:
                flag = *flag, remaining.pop(), remaining.pop()
            yield flag
        elif word in _TAKES_WORD and remaining:
            yield word, remaining.pop()
        else:
            yield (word,) if word.startswith("-") and word != "-" else ("", word)


def option_of(flag: Flag) -> str:
    """The option's name, also behind -Xclang and -Xpreprocessor; "" for an input."""
    return flag[1] if flag[0] in _WRAPPERS and len(flag) > 1 else flag[0]


def words_of(flags: Iterable[Flag]) -> list[str]:
    """Flags as words of a command."""
    return [*chain.from_iterable(flags)]


# -- which of them a compiler refuses ----------------------------------------------------------------------------
def without_preprocessor(flags: Iterable[Flag]) -> tuple[Flag, ...]:
    """The flags without those of the preprocessor: what a compiler may refuse."""
    return tuple(flag for flag in flags if not _PREPROCESSOR.match(option_of(flag)))


def refused_flags(compiler: Sequence[str], flags: Sequence[Flag], suffix: str) -> tuple[list[Flag], str]:
    """Which flags a compiler refuses, and why a source with the suffix cannot be compiled with them ("": it can).

    It cannot where flags for a processor are refused for this machine's, taken for another's, and none names a target.
    """
    _, refused = _probe(compiler, flags, suffix)
    machine = [flag for flag in flags if flag[0].startswith("-m") and flag[0] not in ("-mllvm", "-mmlir")]
    if not set(machine).intersection(refused) or any(TARGET.match(word) for word in (*compiler, *words_of(flags))):
        return refused, ""
    for triple in _OTHER_TARGETS:
        if _probe([*compiler, f"--target={triple}"], machine, suffix) == (0, []):
            text = " ".join(words_of(machine))
            problem = f"its flags ({text}) are for {triple} or its like, and its compiler's name says no target"
            return refused, f"{problem}. Name the target, as in --cflags=--target={triple}"
    return refused, ""


def _probe(compiler: Sequence[str], flags: Sequence[Flag], suffix: str) -> tuple[int, list[Flag]]:
    """A compiler's exit code for an empty source without the flags that it refuses, and those flags."""
    # Here, since `mirenc cc` starts for every file of a build, and seldom asks.
    import subprocess
    import tempfile
    from pathlib import Path

    from mirenc.base.run_program import run_limited
    from mirenc.llvm.inputs.compile_source import spelled_for

    refused: list[Flag] = []
    with tempfile.TemporaryDirectory(prefix="mirenc-") as scratch:
        source = Path(scratch, f"empty{suffix}")
        source.touch()
        while True:
            accepted_flags = [flag for flag in flags if flag not in refused]
            words = [*spelled_for(compiler, [*compiler, "-S", "-emit-llvm", *words_of(accepted_flags)])]
            words += [str(source), "-o", str(Path(scratch, "empty.ll"))]
            try:
                result = run_limited(words, timeout=60, memory_limit=None, folder=scratch, most_output=0)
            except (OSError, subprocess.TimeoutExpired):  # the compilation itself will say so
                return 1, refused
            if not (culprits := blamed_flags(result.words, accepted_flags)):
                return result.code, refused
            refused += culprits


def blamed_flags(words: str, flags: Sequence[Flag]) -> list[Flag]:
    """The flags that a compiler's errors name, each once; errors with a place in a source are about that.

    A flag for another processor is an error to clang 19, and to older ones a warning that it has no effect.
    """
    culprits: list[Flag] = []
    for line in _ERROR.findall(words):
        for quoted in re.findall(r"""['"]([^'"]+)['"]""", line)[:2]:
            if matches := [flag for flag in flags if not TARGET.match(flag[0]) and _is_called(flag, quoted)]:
                culprits += matches
                break
    return [*dict.fromkeys(culprits)]


def _is_called(flag: Flag, quoted: str) -> bool:
    """Whether what a compiler quotes (``-mfpu=``, ``neon``, ``-mfpu neon``) means a flag (``-mfpu=neon``)."""
    words = [word.replace("_", "-") for word in flag]  # zig spells processors with _
    quoted = quoted.replace("_", "-")
    if quoted.endswith("="):
        return words[0].lstrip("-").startswith(quoted.lstrip("-"))
    names = {*words, " ".join(words), words[0].replace("=", " "), words[0].removeprefix("-x")}
    return quoted in names or words[-1].endswith(f"={quoted}")
