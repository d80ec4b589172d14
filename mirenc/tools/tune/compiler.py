"""`PassLists`: try other pass lists than clang's own on a program and its hot files.

No line of source makes that: what is kept is a compiler, ``cc`` and ``c++``, that stands alone
(`mirenc.llvm.inputs.compiler_wrapper`). With -flto LLVM's lists are the linker's, and nothing is changed.
"""

import shlex
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from mirenc.base.errors import PassError
from mirenc.decide.task_head import TaskHead
from mirenc.llvm.inputs.compiler_wrapper import driver, write_script
from mirenc.llvm.inputs.projects import command_inputs
from mirenc.llvm.ir.read import ReadOptions
from mirenc.llvm.passes.pass_lists import expanded, level
from mirenc.tools.run.compilers import major_version, tool_beside
from mirenc.tools.tune.loops import Loops
from mirenc.tools.tune.tuning_case import Key, Place

_SCRIPT = Path(__file__).with_name("pass_lists.sh")


def pass_lists(version: str) -> dict[str, tuple[str, str]]:
    """What people try, the same for all code: name -> clang's level, which marks functions, and LLVM's list."""
    lists = {f"-{name}": (f"-{name}", level(name)) for name in ("O1", "O2", "O3", "Os")}
    lists["-O3 twice"] = "-O3", f"{level('O3')},{level('O3')}"
    try:
        pipeline = expanded("O3", version)
    except PassError:  # of this LLVM only levels are known
        return lists
    vectorize = next(step for step in pipeline.split(",") if step.startswith("loop-vectorize"))
    for title, old, new in (
        ("without loop-vectorize", f"{vectorize},", ""),
        ("without loop-unroll", "loop-unroll<O3>,", ""),
        ("with loop-interchange", "loop-distribute,", "loop(loop-interchange),loop-distribute,"),
        ("with gvn-hoist", "early-cse<memssa>,", "early-cse<memssa>,gvn-hoist,"),
    ):
        lists[f"-O3 {title}"] = "-O3", pipeline.replace(old, new)
    return lists


class PassLists(Loops):
    """The program first, then its files by what their innermost loops do."""

    places_are = "places"

    def __init__(self, head: TaskHead, compiler: str, program: Path) -> None:
        super().__init__(head, compiler, program)
        self.sources: list[Path] = []
        self.lists = pass_lists(major_version(compiler))
        self.clang, self.opt = tool_beside(compiler, "clang"), tool_beside(compiler, "opt")

    def places(self, commands: Path, flags: Sequence[str], report: Callable[[str], None]) -> list[Place]:
        self.sources = [
            Path(str(source.value)).absolute()
            for source in command_inputs(commands, lambda line: None, ReadOptions(compiler=self.compiler))
        ]
        shares: dict[Path, float] = {}
        for place in super().places(commands, flags, report):
            assert place.source is not None
            file = Path(str(place.source.value)).absolute()
            shares[file] = shares.get(file, 0.0) + place.share
        files = [Place(file, 0, "", share) for file, share in shares.items()] if len(self.sources) > 1 else []
        return [Place(self.program, 0, "", 1.0), *sorted(files, key=lambda place: -place.share)]

    def proposals(self, place: Place, tries: int) -> list[str]:
        return [*self.lists]

    def write(self, text: str, directives: Mapping[int, str]) -> str:
        return text

    def texts(self, settings: Mapping[Key, str]) -> dict[Path, bytes]:
        whole_program = (str(self.program), 0) in settings
        return super().texts({(str(path), 0): "" for path in self.sources} if whole_program else settings)

    def write_compiler(self, settings: Mapping[Key, str], folder: Path) -> str:
        cases = []
        for (file, _), name in sorted(settings.items(), reverse=True):  # the program's folder is before its files
            flag, passes = self.lists[name]
            pattern = "*" if file == str(self.program) else shlex.quote(str(Path(file).resolve()))
            cases.append(f"    {pattern}) level={flag} passes={shlex.quote(passes)} ;; # {name}")
        script_lines = ["choose() {", "    case $1 in", *cases, "    esac", "}\n"]
        script = driver(self.clang, "mirenc tune pass_list") + f"opt={shlex.quote(str(self.opt))}\n"
        script += "\n".join(script_lines) + _SCRIPT.read_text(encoding="utf-8")
        for name in ("cc", "c++"):
            write_script(folder / name, script)
        return str(folder / "cc")

    def take_over(self, folder: Path, patch: str) -> str:
        return f"make clean, then make CC={folder / 'cc'} CXX={folder / 'c++'}"
