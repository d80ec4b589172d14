"""Golden vectors, kept beside the weights: they tell whether this installation computes what the release did."""

import json
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from mirenc.base.errors import ModelError
from mirenc.encoder import load
from mirenc.encoder.weights import seal

TOLERANCE = 1e-5
"""What `difference` may be between two vectors of one code, as processors, BLAS libraries, runtimes and batches
round differently, and so may statement vectors from a cache."""
_HOME = Path(__file__).parent / "weights" / "golden_ir"
GOLDEN_IR = {name: (_HOME / f"{name}.ll").read_text(encoding="utf-8") for name in ("sum", "greet", "scale")}


def difference(vectors: ArrayLike, expected: ArrayLike) -> float:
    """Largest difference of a component, as a share of its vector's length, since a map decides how long vectors are.

    Shapes: two (D,) or (n, D); 0 for no vectors.
    """
    actual, reference = (np.asarray(array, dtype=np.float64) for array in (vectors, expected))
    length = np.maximum(np.linalg.norm(reference, axis=-1, keepdims=True), np.finfo(np.float64).tiny)
    return float((np.abs(actual - reference) / length).max(initial=0.0))


def write_golden(folder: Path) -> None:
    """Compute the golden vectors of a model folder and seal it."""
    encoder = load(folder, cache=False)
    vectors = {
        name: [round(float(x), 6) for x in encoder.embed(text, form="plain")] for name, text in GOLDEN_IR.items()
    }
    (folder / "golden.json").write_text(json.dumps(vectors, indent=1) + "\n", encoding="utf-8")
    seal(folder)


def check_golden(folder: Path, *, backend: str | None = None) -> float:
    """Largest difference from the golden vectors, as a share of their lengths; above `TOLERANCE` a ModelError."""
    encoder = load(folder, cache=False, backend=backend)
    try:
        golden = json.loads((folder / "golden.json").read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ModelError(f"{folder}: golden.json cannot be read ({error}). Install the model again") from None
    if not isinstance(golden, dict) or golden.keys() != GOLDEN_IR.keys():
        raise ModelError(f"{folder}: golden.json must have vectors of {', '.join(GOLDEN_IR)}. Install the model again")
    worst = 0.0
    for name, expected in golden.items():
        distance = difference(encoder.embed(GOLDEN_IR[name], form="plain"), expected)
        if not distance <= TOLERANCE:
            raise ModelError(
                f"{encoder.name}: the vector of {name!r} differs from the released one by {distance:.2g} "
                f"of its length (allowed {TOLERANCE:.0e}). Install mirenc and llvmlite as released"
            )
        worst = max(worst, distance)
    return worst
