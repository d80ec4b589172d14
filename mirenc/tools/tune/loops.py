"""`Loops`: pragmas of innermost loops, which a head proposes that knows how often they run."""

from collections.abc import Mapping, Sequence

from mirenc.base.errors import TaskError
from mirenc.llvm import IRModule, Region, regions_of
from mirenc.llvm.analysis.trip_counts import known_trip_count, profiled_iterations
from mirenc.llvm.inputs.pragmas import with_pragmas
from mirenc.llvm.passes.loop_hint import Hint
from mirenc.tools.tune.tuning_case import Case, Place, text_of

_FEATURES = (("+avx512f", 512), ("+avx2", 256))  # feature -> bits of its vectors
# Unrolling, which no head knows: what best complements the rest in `downstream/vectorization/arms.json`, the best first
_UNROLL_FACTORS = (4, 1, 8)  # alone
_UNROLL_FACTORS_BESIDE = (2, 8)  # widths and counts


class Loops(Case):
    """Vectorization."""

    def weigh(self, module: IRModule, regions: Sequence[Region]) -> list[tuple[float, float]]:
        loops = regions_of(module, "loop")
        size = {
            (region.symbol, region.header): int((loops.region == row).sum()) for row, region in enumerate(loops.regions)
        }
        heat = [size[region.symbol, region.header] * profiled_iterations(module, region) for region in regions]
        return list(zip(heat, [float(known_trip_count(module, region).iterations) for region in regions], strict=True))

    def context(self, module: IRModule, trips: float) -> dict[str, str]:
        bits = next((bits for feature, bits in _FEATURES if feature in module.text), 128)
        return {"vector_bits": str(bits), **({"trip_count": f"{trips:.6g}"} if trips else {})}

    def proposals(self, place: Place, tries: int) -> list[str]:
        assert place.region is not None
        (answer,) = self.head.predict(place.source, place.context, region_filter=place.region.__eq__)
        directives = [self.task.directive(proposal) for proposal in answer.proposals][:tries]
        factors = _UNROLL_FACTORS_BESIDE if directives else _UNROLL_FACTORS
        directives += [Hint(0, 0, factor).pragma() for factor in factors]
        if problem := with_pragmas(text_of(place.file), {place.line: directives[0]})[1].get(place.line, ""):
            raise TaskError(problem)
        return directives

    def write(self, text: str, directives: Mapping[int, str]) -> str:
        return with_pragmas(text, directives)[0]
