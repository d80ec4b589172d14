"""The formulas of what stands on the encoders: matching of text and graph, and the taught trunk."""

from mirenc.model.kinds import Array, Backend


def matching_logits(backend: Backend, text: Array, graph: Array) -> Array:
    """Logits "these are one IR": w3 relu(W2 relu(W1 [LN(text); LN(graph)])). Shapes: (B, H), (B, d) -> (B,)."""
    x = backend.concatenate([backend.norm("norm_text", text), backend.norm("norm_graph", graph)])
    hidden = backend.relu(backend.linear("linear2", backend.relu(backend.linear("linear1", x))))
    return backend.linear("linear3", hidden)[..., 0]


def taught_vectors(
    backend: Backend, text: Array, graph: Array, counts: Array, *, graph_parts: int, dropout: float = 0.0
) -> Array:
    """Taught vectors, which a compiler's answers are linear in (``pretrain/teaching.py``).

        x = [LN(text mean); LN(graph mean) [; LN(graph maximum); LN(graph log-sum)]; log(1 + counts)]
        z = W2 relu(W1 x + b1) + b2 + W3 x

    Means say nothing about size: hence the counts (`mirenc.model.pooling.Pools.counts`); answers are linear in their
    logarithms, mostly: hence W3. ``graph_parts``: 1, the mean alone, or 3. In training, a share of ``dropout`` of x is
    left out before W1. Shapes: (G, H), (G, D), (G, COUNTS) -> (G, width)
    """
    parts = backend.split(graph, graph_parts)
    graph_inputs = [backend.norm(f"norm_graph.{number}", part) for number, part in enumerate(parts)]
    x = backend.concatenate([backend.norm("norm_text", text), *graph_inputs, backend.log1p(counts)])
    hidden = backend.relu(backend.linear("linear1", backend.dropout(x, dropout)))
    return backend.add(backend.linear("linear2", hidden), backend.linear("skip", x))
