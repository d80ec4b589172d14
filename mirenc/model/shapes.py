"""Names and shapes of a model's weights, from its configuration alone: what a file must hold, known without torch."""

from __future__ import annotations

from mirenc.config import ModelConfig
from mirenc.graph import NodeKind

__all__ = ["weight_shapes"]

Shape = tuple[int, ...]


def weight_shapes(config: ModelConfig) -> dict[str, Shape]:
    """Shape of every entry of ``MIREncoder.state_dict``."""
    text, graph, matching = config.text, config.graph, config.matching
    hidden, vocabulary = text.hidden, config.tokenizer.vocab_size
    shapes: dict[str, Shape] = {
        "text.token.weight": (vocabulary, hidden),
        "text.position.weight": (config.tokenizer.max_length, hidden),
        "mlm.bias": (vocabulary,),
        "graph.kind.weight": (len(NodeKind), hidden),
        "graph.conv1.lin.weight": (graph.hidden, hidden),
        "graph.conv1.bias": (graph.hidden,),
        "graph.conv2.lin.weight": (graph.out, graph.hidden),
        "graph.conv2.bias": (graph.out,),
    }

    def linear(name: str, inputs: int, outputs: int) -> None:
        shapes[f"{name}.weight"] = (outputs, inputs)
        shapes[f"{name}.bias"] = (outputs,)

    def norm(name: str, size: int) -> None:
        shapes[f"{name}.weight"] = shapes[f"{name}.bias"] = (size,)

    for layer in range(text.layers):
        block = f"text.blocks.{layer}"
        norm(f"{block}.norm1", hidden)
        norm(f"{block}.norm2", hidden)
        linear(f"{block}.qkv", hidden, 3 * hidden)
        linear(f"{block}.project", hidden, hidden)
        linear(f"{block}.expand", hidden, text.feed_forward)
        linear(f"{block}.contract", text.feed_forward, hidden)
    for name in ("text.norm_in", "text.norm_out", "mlm.norm", "graph.norm_in", "matching.norm_text"):
        norm(name, hidden)
    norm("matching.norm_graph", graph.out)
    if config.pooling.whiten:
        for part, size in (("text", hidden), ("graph", graph.out)):
            shapes[f"whiten_{part}.mean"] = (size,)
            shapes[f"whiten_{part}.matrix"] = (size, size)
    linear("mlm.dense", hidden, hidden)
    linear("matching.linear1", hidden + graph.out, matching.hidden)
    linear("matching.linear2", matching.hidden, matching.hidden)
    linear("matching.linear3", matching.hidden, 1)
    return shapes
