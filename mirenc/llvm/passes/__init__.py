"""Running LLVM's passes on IR and weighing what comes out: exact sizes, without noise."""

from mirenc.llvm.passes.engine import (
    Engine as Engine,
    Failed as Failed,
    Optimised as Optimised,
    code_bytes as code_bytes,
)
from mirenc.llvm.passes.engines import (
    EmbeddedEngine as EmbeddedEngine,
    SharedEngine as SharedEngine,
    find_engine as find_engine,
)
from mirenc.llvm.passes.extract import (
    extract_functions as extract_functions,
    without_size_attributes as without_size_attributes,
)
