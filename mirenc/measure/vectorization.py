"""How loop vectorization is measured: every vector width and interleave count of one loop, on each instruction set."""

from pathlib import Path

from mirenc.measure.building import Toolchain, build_driver
from mirenc.measure.innermost import ARCH_FLAGS, InnermostMethod
from mirenc.measure.runners import Build, Cell
from mirenc.measure.vector_variants import Variant, build_variants
from mirenc.passes.hint import Hint
from mirenc.tasks.measured import MeasuredKernel
from mirenc.tasks.vectorization import Vectorization

_TASK = Vectorization()


class VectorizationMethod(InnermostMethod):
    """C loops of a seeded generator; vector width x interleave count, and LLVM's own choice; instruction sets."""

    task = "vectorization"

    def build(self, kernel: MeasuredKernel, part: str, folder: Path, toolchain: Toolchain) -> Build:
        source = folder / "kernel.c"
        source.write_text(kernel.source, encoding="utf-8")
        beside = toolchain.beside(kernel.include)
        text, region = self.scalar_ir(kernel, beside)
        hints = [Hint(*map(int, setting)) for setting in _TASK.space.settings[1:]]
        library, default, copy, variants = build_variants(
            source, kernel.function, kernel.line, hints, flags=ARCH_FLAGS[part], toolchain=beside, name=part
        )
        built = [default, *(variants[hint] for hint in hints)]
        return Build(
            cells=tuple(_cell(setting, one, library) for setting, one in zip(_TASK.space.settings, built, strict=True)),
            copy=_cell(_TASK.space.settings[0], copy, library),
            driver=build_driver(kernel, folder, toolchain),
            ir=text,
            symbol=region.symbol,
            header=region.header,
        )


def _cell(setting: tuple[str | int | float, ...], variant: Variant, library: str) -> Cell:
    if variant.problem:
        return Cell(setting, setting, problem=variant.problem)
    effective = (variant.effective.width, variant.effective.count)
    return Cell(setting, effective, variant.code, library, variant.symbol)
