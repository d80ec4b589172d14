"""Running LLVM's passes on IR and weighing what comes out: exact sizes, without noise.

Names are imported when first used, as in `mirenc`: reading IR in a form needs none of them.
"""

from mirenc.base.lazy_names import lazy_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirenc.llvm.passes.extract import (
        extract_functions as extract_functions,
        without_size_attributes as without_size_attributes,
    )
    from mirenc.llvm.passes.find_llvm import (
        EmbeddedEngine as EmbeddedEngine,
        SharedEngine as SharedEngine,
        find_engine as find_engine,
    )
    from mirenc.llvm.passes.size_after_passes import (
        Engine as Engine,
        Failed as Failed,
        Optimised as Optimised,
        code_bytes as code_bytes,
    )

_NAMES = {
    "mirenc.llvm.passes.extract": "extract_functions without_size_attributes",
    "mirenc.llvm.passes.find_llvm": "EmbeddedEngine SharedEngine find_engine",
    "mirenc.llvm.passes.size_after_passes": "Engine Failed Optimised code_bytes",
}
__getattr__, _home = lazy_names(__name__, _NAMES)
__all__ = [*_home]
