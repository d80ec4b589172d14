"""`hot_loops`: where a program spends its iterations, by a profile of its own run; and what to try there."""

import json
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from mirenc.deciding import TaskHead
from mirenc.errors import MirencError, ToolchainError
from mirenc.ir import IRModule, Region, regions_of
from mirenc.ir.inputs import Input
from mirenc.ir.pragmas import with_pragmas
from mirenc.ir.projects import command_inputs
from mirenc.ir.trip_counts import profiled_runs

PROFILE_FLAG = "-fprofile-instr-generate"
_LEAST = 0.002  # of all work: less is in the noise
_FEATURES = (("+avx512f", 512), ("+avx2", 256))  # feature -> bits of its vectors


@dataclass(frozen=True)
class HotLoop:
    """A loop of the user's sources that runs often."""

    file: Path
    line: int
    function: str
    share: float  # of the instructions that all innermost loops run
    trip_count: float  # mean; 0 where the profile does not tell
    source: Input  # how it is compiled to where it runs most
    region: Region
    vector_bits: int

    @property
    def key(self) -> tuple[str, int]:
        return str(self.file), self.line


def merge_profiles(raw: Sequence[Path], profile: Path, compiler: str) -> None:
    """Raw profiles of clang's as one that it reads. Raises ToolchainError: no llvm-profdata beside the compiler."""
    tool = Path(shutil.which(compiler) or compiler).resolve().with_name("llvm-profdata")
    if not tool.is_file():
        raise ToolchainError(f"{tool} is missing, which reads profiles. Install LLVM's tools: apt-get install llvm")
    done = subprocess.run([tool, "merge", "-o", profile, *raw], capture_output=True, text=True, check=False)
    if done.returncode:
        raise ToolchainError(
            f"{tool} cannot merge the profile: {done.stderr.strip()[:200]}. Build with one clang alone"
        )


def hot_loops(
    commands: Path, profile: Path, head: TaskHead, wanted: Callable[[Path], bool], report: Callable[[str], None]
) -> list[HotLoop]:
    """Loops that ran, of sources as a ``compile_commands.json`` compiles them; those that run most come first.

    ``wanted`` says whose loops. ``report`` is told what cannot be read.
    """
    assert head.encoder is not None
    weight: dict[tuple[Path, int], float] = {}
    heaviest: dict[tuple[Path, int], tuple[float, HotLoop]] = {}
    for source in command_inputs(commands):
        profiled = replace(source, flags=(*source.flags, f"-fprofile-instr-use={profile}", "-w"))
        try:
            module = head.task.read(head.encoder, profiled)
            regions = head.task.regions(module)
        except MirencError as error:
            report(f"{source.name}: left alone, {error}")
            continue
        bits = _vector_bits(module)
        for region, (iterations, trips), size in zip(
            regions, (profiled_runs(module, one) for one in regions), _sizes(module, regions), strict=True
        ):
            file = _place(region, source)
            if not iterations or not region.line or file is None:
                continue
            key, work = (file, region.line), iterations * size
            weight[key] = weight.get(key, 0.0) + work
            if work > heaviest.get(key, (0.0,))[0]:
                loop = HotLoop(file, region.line, region.function, 0.0, trips, profiled, region, bits)
                heaviest[key] = work, loop
    total = sum(weight.values())
    loops = [replace(loop, share=weight[key] / total) for key, (_, loop) in heaviest.items()]
    loops = [one for one in loops if one.share > _LEAST and wanted(one.file)]
    return sorted(loops, key=lambda one: -one.share)


def doubt(loop: HotLoop, directive: str) -> str:
    """Why no pragma can stand before a loop; "" if one can."""
    text = loop.file.read_bytes().decode("latin-1")
    return with_pragmas(text, {loop.line: directive})[1].get(loop.line, "")


def proposals(head: TaskHead, loop: HotLoop, count: int) -> list[str]:
    """Directives to try for a loop, the best first; ``count`` at most, and each makes code of its own."""
    context = {"vector_bits": str(loop.vector_bits)}
    if loop.trip_count:
        context["trip_count"] = f"{loop.trip_count:.6g}"
    (answer,) = head.predict(loop.source, context, wanted=loop.region.__eq__)
    return [head.task.directive(one) for one in answer.proposals][:count]


def _sizes(module: IRModule, regions: Sequence[Region]) -> list[int]:
    every = regions_of(module, "loop")
    size = {(one.symbol, one.header): int((every.region == row).sum()) for row, one in enumerate(every.regions)}
    return [size[one.symbol, one.header] for one in regions]


def _vector_bits(module: IRModule) -> int:
    """Of what the module is compiled for."""
    return next((bits for feature, bits in _FEATURES if feature in module.text), 128)


def _place(region: Region, source: Input) -> Path | None:
    """The file of a loop: debug information names it from what its folder and the compiler's have in common."""
    here = Path(source.folder)
    if Path(source.name).resolve().as_posix().endswith(region.file.removeprefix(".")):
        return Path(str(source.value)).absolute()
    every = (folder / region.file for folder in (here, *here.parents))
    return next((one for one in every if one.is_file()), None)


def write_commands(path: Path, commands: Sequence[Mapping[str, object]]) -> None:
    """A ``compile_commands.json``."""
    path.write_text(json.dumps(commands, indent=1), encoding="utf-8", errors="surrogateescape")
