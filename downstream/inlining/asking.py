"""`compile_asking`: a compilation in which every inlining decision is asked for.

clang 19 and later can ask another process (LLVM's ``InteractiveModelRunner``): through one named pipe come a line of
JSON that names the features, then for each call site a line and the features, 8 bytes each; through another goes the
answer. Debian's and PyPI's clang can do it as they are. What is answered with `llvm_rule` is -Oz, to the byte.
"""

import json
import math
import os
import re
import struct
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Thread

from mirenc.base.errors import CompileError
from mirenc.base.run_program import run_limited

# A compiler whose host is gone would wait for ever, and not idly.
_GUARD = 'ulimit -t "$0"; command -v setpriv >/dev/null && exec setpriv --pdeathsig KILL "$@"; exec "$@"'
_NOTHING = b"\n" * 4096  # more than there is of a question
_FIELD = re.compile(r"(?:^|\s)(\w+): +'?([^',}\n]+)")


@dataclass(frozen=True)
class CallSite:
    """A call that may be inlined: what LLVM says of it, and where it is; "" and 0 until the compilation is done."""

    features: Mapping[str, int]
    caller: str = ""
    callee: str = ""
    line: int = 0


def llvm_rule(site: CallSite) -> bool:
    """What LLVM's own cost model decides at -Oz."""
    return site.features["cost_estimate"] < 5


def compile_asking(
    command: Sequence[str], advise: Callable[[CallSite], bool], *, timeout: float = 600.0
) -> list[tuple[CallSite, bool]]:
    """Run a clang's words for one source (``clang-19 -Oz -c a.c -o a.o``), and ask ``advise`` about each call site.

    Gives the decisions in their order. Lines are known with ``-gline-tables-only``, which changes no code. Raises
    CompileError: the compiler fails, takes more than ``timeout`` seconds, or does not ask; and what ``advise`` raises.
    """
    with tempfile.TemporaryDirectory(prefix="mirenc-inliner-") as folder:
        channel, records = str(Path(folder, "channel")), Path(folder, "records.yaml")
        words = ["-mllvm", "-enable-ml-inliner=release", "-mllvm", f"-inliner-interactive-channel-base={channel}"]
        words += [f"-foptimization-record-file={records}", "-foptimization-record-passes=inline-ml"]
        guarded = ["sh", "-c", _GUARD, str(math.ceil(timeout)), *command, *words]
        host = _Host(channel, advise)
        try:
            process = run_limited(guarded, timeout=timeout, memory_limit=2**33, most_output=0)
        except subprocess.TimeoutExpired:
            raise CompileError(f"{command[0]} was not done within {timeout:g} s. Give it more time") from None
        finally:
            host.close()
        if process.code:
            raise CompileError(f"{command[0]} ends with {process.code}: {process.words[-500:]}. Name clang 19 or later")
        if host.problem is not None:
            raise host.problem
        if not host.names:
            raise CompileError(f"{command[0]} did not ask. Compile one source with -O1 or more, by clang 19 or later")
        return list(_with_names(host.decisions, records.read_text(encoding="utf-8", errors="replace")))


class _Host:
    """Answers in a thread until it is closed. It holds both ends of both pipes, so that it waits for no compiler."""

    def __init__(self, channel: str, advise: Callable[[CallSite], bool]) -> None:
        for name in (names := [f"{channel}.in", f"{channel}.out"]):
            os.mkfifo(name, 0o600)
        self._answers, self._questions = (os.open(name, os.O_RDWR) for name in names)
        self._advise, self._closing = advise, False
        self.names: list[str] = []
        self.decisions: list[tuple[CallSite, bool]] = []
        self.problem: BaseException | None = None
        self._thread = Thread(target=self._serve, daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._closing = True
        os.write(self._questions, _NOTHING)
        self._thread.join()
        os.close(self._answers)

    def _serve(self) -> None:
        with open(self._questions, "rb") as questions:
            while (line := questions.readline()).endswith(b"}\n"):
                message = json.loads(line)
                if "features" in message:
                    self.names = [feature["name"] for feature in message["features"]]
                elif "observation" in message:
                    values = struct.unpack(f"<{len(self.names)}q", questions.read(8 * len(self.names)))
                    if questions.readline() and self._closing:
                        return  # of a compiler that was ended
                    site = CallSite(dict(zip(self.names, values, strict=True)))
                    os.write(self._answers, struct.pack("<q", self._decide(site)))

    def _decide(self, site: CallSite) -> bool:
        """Of `advise`; after its first error LLVM's rule, as the compiler waits for an answer."""
        if self.problem is None:
            try:
                self.decisions.append((site, bool(self._advise(site))))
                return self.decisions[-1][1]
            except BaseException as error:  # noqa: BLE001 - raised where the compiler was started
                self.problem = error
        return llvm_rule(site)


def _with_names(decisions: Sequence[tuple[CallSite, bool]], records: str) -> Iterator[tuple[CallSite, bool]]:
    """Decisions with the names in clang's records, which have the same order, and calls not asked about, too."""
    fields_of_records = (dict(reversed(_FIELD.findall(record))) for record in records.split("\n...\n"))
    for site, inline in decisions:
        for fields in fields_of_records:
            if all(fields.get(name, str(value)) == str(value) for name, value in site.features.items()):
                site = CallSite(site.features, fields["Function"], fields["Callee"], int(fields.get("Line", 0)))
                break
        yield site, inline
