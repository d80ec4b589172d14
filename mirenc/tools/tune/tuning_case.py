"""`Case`: what one task makes of a tuning: where it can decide, what to try there, and how a build gets it."""

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
    """What can be decided about: a loop of the user's sources, a file of them, or the program."""

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
        """Its file, or the program's folder, and the line, for a message."""
        return f"{self.file.name}:{self.line}" if self.line else self.file.name


class Case(ABC):
    """The case of a task: of a head that has its encoder, a clang, and the folder of the program."""

    places_are: ClassVar[str] = "loops"
    work_is: ClassVar[str] = "what innermost loops do"
    profile: ClassVar[Sequence[str]] = ("-fprofile-instr-generate",)  # flags of a build that writes one
    profile_use: ClassVar[Sequence[str]] = ("-fprofile-instr-use={}",)  # and of a compilation that has it
    profile_run: ClassVar[str] = ""  # lines of a shell before the run that is profiled
    clock: ClassVar[str] = ""  # that decides; "": the processor's, unless several threads work
    least: ClassVar[float] = 0.002  # of all work: less is in the noise

    def __init__(self, head: TaskHead, compiler: str, program: Path) -> None:
        self.head, self.task, self.compiler, self.program = head, head.task, compiler, program

    # -- where -----------------------------------------------------------------------------------------
    def profiled_text(self, text: str) -> str:
        """A source as it is profiled."""
        return text

    def places(self, commands: Path, flags: Sequence[str], report: Callable[[str], None]) -> list[Place]:
        """What ran, of sources as a ``compile_commands.json`` compiles them; those that run most come first.

        ``flags`` bring the profile in; ``report`` is told what cannot be read.
        """
        assert self.head.encoder is not None
        weight: dict[Key, float] = {}
        heaviest: dict[Key, tuple[float, Place]] = {}
        sources = command_inputs(commands, lambda line: None, ReadOptions(compiler=self.compiler))
        empty = EmptyInputs(len(sources))
        for source in sources:
            profiled = replace(source, flags=(*source.flags, *flags))
            try:
                module = self.task.read(self.head.encoder, profiled)
                regions = self.regions(module)
            except NoFunctionBodyError as error:
                empty.add(error)
                continue
            except MirencError as error:
                report(f"{source.name}: left alone, {error}")
                continue
            for region, (work, trips) in zip(regions, self.weigh(module, regions), strict=True):
                file = Path(region.file).absolute()
                if not work or not region.line or not file.is_file():
                    continue
                context = self.context(module, trips)
                place = Place(file, region.line, region.function, 0.0, trips, profiled, region, context)
                weight[place.key] = weight.get(place.key, 0.0) + work
                if work > heaviest.get(place.key, (0.0,))[0]:
                    heaviest[place.key] = work, place
        if empty.empty:
            report(empty.line)
        total = sum(weight.values())
        places = [replace(place, share=weight[key] / total) for key, (_, place) in heaviest.items()]
        return sorted((place for place in places if place.share > self.least), key=lambda place: -place.share)

    def regions(self, module: IRModule) -> list[Region]:
        """What of a module is decided about."""
        return self.task.regions(module)

    @abstractmethod
    def weigh(self, module: IRModule, regions: Sequence[Region]) -> list[tuple[float, float]]:
        """Instructions that each region ran, by the profile, and its trip count; 0 where it does not tell."""

    @abstractmethod
    def context(self, module: IRModule, trips: float) -> dict[str, str]:
        """What a head is told of a place."""

    # -- what ------------------------------------------------------------------------------------------
    @abstractmethod
    def proposals(self, place: Place, tries: int) -> list[str]:
        """Settings to try, the best first, of a head's at most ``tries``.

        Raises MirencError: the place is left alone, and why.
        """

    # -- how -------------------------------------------------------------------------------------------
    @abstractmethod
    def write(self, text: str, wanted: Mapping[int, str]) -> str:
        """A source with settings of its lines."""

    def texts(self, settings: Mapping[Key, str]) -> dict[Path, bytes]:
        """Sources to compile again for settings of some places, as they are then."""
        texts = {}
        for file in {file for file, _ in settings}:
            wanted = {line: setting for (other, line), setting in settings.items() if other == file}
            texts[Path(file)] = self.write(text_of(Path(file)), wanted).encode("latin-1")
        return texts

    def write_compiler(self, settings: Mapping[Key, str], folder: Path) -> str:
        """A compiler, written into a folder, that settings need beside `texts`; "": clang."""
        return ""

    def take_over(self, folder: Path, patch: str) -> str:
        """What to type to have what was kept."""
        return f"patch -p1 < {folder / patch}"


def text_of(path: Path) -> str:
    """A source, whatever its encoding is: each byte is a sign."""
    return path.read_bytes().decode("latin-1")
