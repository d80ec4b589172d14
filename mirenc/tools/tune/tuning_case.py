"""`Case`: how one task is tuned: the places that it decides about, what to try there, and how a build gets it."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import ClassVar

from mirenc.base.errors import EmptyInputs, MirencError, NoFunctionBodyError
from mirenc.decide.task_head import TaskHead
from mirenc.llvm import IRModule, Region
from mirenc.llvm.inputs.input import Input
from mirenc.llvm.inputs.projects import command_inputs
from mirenc.llvm.ir.read import ReadOptions

Key = tuple[str, int]
"""File and line of a place; line 0: all of a file, or of a folder."""


@dataclass(frozen=True, eq=False)
class Place:
    """A place where settings are tried: a loop of the user's sources, a source file, or the whole program."""

    file: Path
    line: int
    function: str
    share: float  # of the instructions that all places of the kind run
    trip_count: float = 0.0  # by the profile, of a loop LLVM's estimate; 0 where it does not tell
    source: Input | None = None  # how it is compiled to where it runs most
    region: Region | None = None
    context: Mapping[str, str] = field(default_factory=dict)  # features that a head is told

    @property
    def key(self) -> Key:
        return str(self.file), self.line

    @property
    def title(self) -> str:
        """File and line for a message; the program's folder has no line."""
        return f"{self.file.name}:{self.line}" if self.line else self.file.name


class Case(ABC):
    """How a task is tuned, with a head that has its encoder, a clang, and the folder of the program."""

    places_are: ClassVar[str] = "loops"
    work_is: ClassVar[str] = "the work of innermost loops"
    profile: ClassVar[Sequence[str]] = ("-fprofile-instr-generate",)  # flags of a build that writes one
    profile_use: ClassVar[Sequence[str]] = ("-fprofile-instr-use={}",)  # and of a compilation that has it
    profile_run: ClassVar[str] = ""  # lines of a shell before the run that is profiled
    clock: ClassVar[str] = ""  # that decides; "": the processor's, unless several threads work
    least: ClassVar[float] = 0.002  # of all work: less is in the noise

    def __init__(self, head: TaskHead, compiler: str, program: Path) -> None:
        self.head, self.task, self.compiler, self.program = head, head.task, compiler, program

    # -- where -----------------------------------------------------------------------------------------
    def profiled_text(self, text: str) -> str:
        """The text of a source that is compiled for profiling. Default: as it is."""
        return text

    def places(self, commands: Path, flags: Sequence[str], report: Callable[[str], None]) -> list[Place]:
        """Places that ran, by the profile, in the sources of a ``compile_commands.json``; the hottest come first.

        ``flags`` bring the profile in; ``report`` is told what cannot be read.
        """
        assert self.head.encoder is not None
        work_of_place: dict[Key, float] = {}
        heaviest: dict[Key, tuple[float, Place]] = {}
        sources = command_inputs(commands, lambda line: None, ReadOptions(compiler=self.compiler))
        empty_inputs = EmptyInputs(len(sources))
        for source in sources:
            profiled_source = replace(source, flags=(*source.flags, *flags))
            try:
                module = self.task.read(self.head.encoder, profiled_source)
                regions = self.regions(module)
            except NoFunctionBodyError as error:
                empty_inputs.add(error)
                continue
            except MirencError as error:
                report(f"{source.name}: left alone, {error}")
                continue
            for region, (work, trips) in zip(regions, self.weigh(module, regions), strict=True):
                file = Path(region.file).absolute()
                if not work or not region.line or not file.is_file():
                    continue
                context = self.context(module, trips)
                place = Place(file, region.line, region.function, 0.0, trips, profiled_source, region, context)
                work_of_place[place.key] = work_of_place.get(place.key, 0.0) + work
                if work > heaviest.get(place.key, (0.0,))[0]:
                    heaviest[place.key] = work, place
        if empty_inputs.empty:
            report(empty_inputs.line)
        total = sum(work_of_place.values())
        places = [replace(place, share=work_of_place[key] / total) for key, (_, place) in heaviest.items()]
        return sorted((place for place in places if place.share > self.least), key=lambda place: -place.share)

    def regions(self, module: IRModule) -> list[Region]:
        """The regions of a module that the task decides about."""
        return self.task.regions(module)

    @abstractmethod
    def weigh(self, module: IRModule, regions: Sequence[Region]) -> list[tuple[float, float]]:
        """For each region its executed instructions and its trip count by the profile; 0 if it does not say."""

    @abstractmethod
    def context(self, module: IRModule, trips: float) -> dict[str, str]:
        """Context features of a place for the head."""

    # -- what ------------------------------------------------------------------------------------------
    @abstractmethod
    def proposals(self, place: Place, tries: int) -> list[str]:
        """Settings to try, the best first; at most ``tries`` of them are the head's.

        Raises MirencError: the place is left alone, and why.
        """

    # -- how -------------------------------------------------------------------------------------------
    @abstractmethod
    def write(self, text: str, directives: Mapping[int, str]) -> str:
        """The text of a source with settings written at its lines."""

    def texts(self, settings: Mapping[Key, str]) -> dict[Path, bytes]:
        """The texts of the sources that settings of some places change."""
        texts = {}
        for file in {file for file, _ in settings}:
            by_line = {line: setting for (name, line), setting in settings.items() if name == file}
            texts[Path(file)] = self.write(text_of(Path(file)), by_line).encode("latin-1")
        return texts

    def write_compiler(self, settings: Mapping[Key, str], folder: Path) -> str:
        """Write a compiler that the settings need into a folder and return its path; "": plain clang is enough."""
        return ""

    def take_over(self, folder: Path, patch: str) -> str:
        """The command that applies what was kept."""
        return f"patch -p1 < {folder / patch}"


def text_of(path: Path) -> str:
    """The text of a source in any encoding: each byte is a character (Latin-1)."""
    return path.read_bytes().decode("latin-1")
