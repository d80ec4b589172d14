"""Program graphs: schema, builder and exports."""

from mirenc.llvm.ir.module import IRModule
from mirenc.llvm.ir.read import parse_ir
from mirenc.model.graph.builder import build_native
from mirenc.model.graph.schema import EXTERNAL, Flow, NodeKind, ProgramGraph

__all__ = ["EXTERNAL", "Flow", "NodeKind", "ProgramGraph", "build_graph"]


def build_graph(ir: IRModule | str | bytes, *, normalisation: str = "locals") -> ProgramGraph:
    """Build a module's graph in ProGraML's schema, from a module, or IR as text or bitcode.

    ``normalisation``, ``none`` or ``locals``, is of the instructions' full texts. Raises for text or bitcode as
    `mirenc.llvm.parse_ir`.
    """
    return build_native(ir if isinstance(ir, IRModule) else parse_ir(ir), normalisation=normalisation)
