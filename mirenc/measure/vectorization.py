"""How loop vectorization is measured: every vector width and interleave count of one loop, on each instruction set."""

from pathlib import Path

from mirenc.measure.building import Toolchain, build_driver
from mirenc.measure.innermost import ARCH_FLAGS, InnermostMethod
from mirenc.measure.runners import Build
from mirenc.measure.vector_variants import build_variants
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
        default, copy, hinted = build_variants(
            source, kernel.function, kernel.line, hints, flags=ARCH_FLAGS[part], toolchain=beside, name=part
        )
        driver = build_driver(kernel, folder, toolchain)
        return Build((default, *hinted), copy, driver, text, region.symbol, region.header)
