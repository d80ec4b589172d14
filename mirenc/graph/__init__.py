"""Program graphs: schema, builders and exports."""

from mirenc.errors import GraphError
from mirenc.graph.schema import EXTERNAL, Flow, NodeKind, ProgramGraph
from mirenc.ir.module import IRModule
from mirenc.ir.read import parse_ir

__all__ = ["BACKENDS", "EXTERNAL", "Flow", "NodeKind", "ProgramGraph", "build_graph"]

BACKENDS = ("native", "programl")


def build_graph(ir: IRModule | str | bytes, backend: str = "native", *, normalisation: str = "locals") -> ProgramGraph:
    """Build a module's graph in ProGraML's schema, from a module, or IR as text or bitcode.

    ``backend`` is ``native``, or ``programl``: the released program, of the programl wheel, which wants IR of LLVM <=
    10 as it was written, not LLVM 22's print of it. ``normalisation``, ``none`` or ``locals``, is of the instructions'
    full texts; ``programl`` has its own.

    Raises GraphError: unknown backend, or the programl program refuses the IR; MissingExtraError, ToolchainError: it
    is not installed or does not start; for text or bitcode and ``native`` as `mirenc.ir.parse_ir`.
    """
    if backend == "native":
        from mirenc.graph.native import build_native

        return build_native(ir if isinstance(ir, IRModule) else parse_ir(ir), normalisation=normalisation)
    if backend == "programl":
        from mirenc.graph.programl import build_programl

        if isinstance(ir, IRModule):
            what = f"{ir.name}: graph backend 'programl' needs the IR as it was written, not an IRModule"
            raise GraphError(f"{what}. Give its text: build_graph(Path(file).read_text(), backend='programl')")
        return build_programl(ir)
    raise GraphError(f"unknown graph backend {backend!r}; available: {', '.join(BACKENDS)}")
