"""Program graphs: schema, builders and exports."""

from mirenc.errors import GraphError
from mirenc.graph.schema import EXTERNAL, Flow, NodeKind, ProgramGraph
from mirenc.ir.module import IRModule
from mirenc.ir.read import parse_ir

__all__ = ["BACKENDS", "EXTERNAL", "Flow", "NodeKind", "ProgramGraph", "build_graph"]

BACKENDS = ("native", "programl")


def build_graph(ir: IRModule | str | bytes, backend: str = "native", *, normalisation: str = "locals") -> ProgramGraph:
    """Build a module's graph in ProGraML's schema.

    Parameters
    ----------
    ir : IRModule, str or bytes
        A module, or IR as text or bitcode. ``programl`` needs the IR as it was written, not LLVM 22's print of it.
    backend : str
        ``native``, or ``programl`` (the released program: IR of LLVM <= 10 only, needs the programl wheel).
    normalisation : str
        Of the instructions' full texts, ``none`` or ``locals``; ``programl`` has its own.

    Raises
    ------
    GraphError
        Unknown backend, or the programl program refuses the IR.
    MissingExtraError, ToolchainError
        The programl program is not installed or does not start.
    IRParseError, IRResourceError, NoFunctionBodyError
        As `mirenc.ir.parse_ir`, for text or bitcode and ``native``.
    """
    if backend == "native":
        from mirenc.graph.native import build_native

        module = ir if isinstance(ir, IRModule) else parse_ir(ir)
        return build_native(module, normalisation=normalisation)
    if backend == "programl":
        from mirenc.graph.programl import build_programl

        if isinstance(ir, IRModule):
            what = f"{ir.name}: graph backend 'programl' needs the IR as it was written, not an IRModule"
            raise GraphError(f"{what}. Give its text: build_graph(Path(file).read_text(), backend='programl')")
        return build_programl(ir)
    raise GraphError(f"unknown graph backend {backend!r}; available: {', '.join(BACKENDS)}")
