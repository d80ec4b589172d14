"""Names and shapes of a model's weights, from its configuration alone: what a file must hold, known without torch."""

from __future__ import annotations

from mirenc.config import DirectedGraphConfig, ModelConfig
from mirenc.graph import Flow, NodeKind
from mirenc.model.pooling import COUNTS
from mirenc.model.relations import ARGUMENTS, RELATIONS

__all__ = ["weight_shapes"]

Shape = tuple[int, ...]


def weight_shapes(config: ModelConfig) -> dict[str, Shape]:
    """Shape of every entry of ``MIREncoder.state_dict``."""
    text, graph, matching = config.text, config.graph, config.matching
    hidden, token, state = text.hidden, text.token_width, text.state_width
    vocabulary = config.tokenizer.vocab_size
    shapes: dict[str, Shape] = {
        "text.token.weight": (vocabulary, token),
        "mlm.bias": (vocabulary,),
        "graph.kind.weight": (len(NodeKind), token),
    }

    def linear(name: str, inputs: int, outputs: int) -> None:
        shapes[f"{name}.weight"] = (outputs, inputs)
        shapes[f"{name}.bias"] = (outputs,)

    def norm(name: str, size: int) -> None:
        shapes[f"{name}.weight"] = shapes[f"{name}.bias"] = (size,)

    blocks = [f"text.blocks.{layer}" for layer in range(text.layers)]
    if text.kind == "transformer":
        shapes["text.position.weight"] = (config.tokenizer.max_length, hidden)
        for block in blocks:
            norm(f"{block}.norm1", hidden)
            norm(f"{block}.norm2", hidden)
            linear(f"{block}.qkv", hidden, 3 * hidden)
            linear(f"{block}.project", hidden, hidden)
            linear(f"{block}.expand", hidden, text.feed_forward)
            linear(f"{block}.contract", text.feed_forward, hidden)
    else:
        linear("text.project", token, state)
        for block in blocks:
            shapes[f"{block}.depthwise.weight"] = (state, 1, text.width)
            shapes[f"{block}.depthwise.bias"] = (state,)
            norm(f"{block}.norm", state)
            linear(f"{block}.expand", state, text.expansion * state)
            linear(f"{block}.contract", text.expansion * state, state)
        linear("text.pool1", 2 * state, text.feed_forward)
        linear("text.pool2", text.feed_forward, hidden)
    norm("text.norm_in", state)
    norm("text.norm_out", state)
    norm("mlm.norm", token)
    norm("graph.norm_in", token)
    norm("matching.norm_text", hidden)
    if isinstance(graph, DirectedGraphConfig):
        shapes["graph.argument.weight"] = (ARGUMENTS, token)
        linear("graph.enter", token, graph.hidden)
        if graph.statements:
            norm("graph.norm_statement", hidden)
            shapes["graph.enter_statement.weight"] = (graph.hidden, hidden)
        for layer in range(graph.layers):
            block = f"graph.layers.{layer}"
            norm(f"{block}.norm", graph.hidden)
            linear(f"{block}.own", graph.hidden, graph.hidden)
            shapes[f"{block}.basis"] = (graph.bases, graph.hidden, graph.hidden)
            shapes[f"{block}.mix"] = (RELATIONS, graph.bases)
            linear(f"{block}.out", graph.hidden, graph.hidden)
        norm("graph.norm_out", graph.hidden)
        linear("graph.leave", graph.hidden, len(Flow) * graph.out)
    else:
        for name, inputs, outputs in (("conv1", token, graph.hidden), ("conv2", graph.hidden, graph.out)):
            shapes[f"graph.{name}.lin.weight"] = (outputs, inputs)
            shapes[f"graph.{name}.bias"] = (outputs,)
    norm("matching.norm_graph", graph.width)
    whitened = {"text": hidden, "graph": graph.width} if config.pooling.whiten else {}
    if config.lexical is not None:
        shapes["lexical_idf"] = (config.lexical.buckets,)
        whitened |= {"lexical": config.lexical.width} if config.lexical.whiten else {}
    for part, size in whitened.items():
        shapes[f"whiten_{part}.mean"] = (size,)
        shapes[f"whiten_{part}.matrix"] = (size, size)
    if config.taught is not None:
        norm("taught.norm_text", hidden)
        for number in range(graph.width // graph.out):
            norm(f"taught.norm_graph.{number}", graph.out)
        inputs = hidden + graph.width + COUNTS
        linear("taught.linear1", inputs, config.taught.hidden)
        linear("taught.linear2", config.taught.hidden, config.taught.width)
        shapes["taught.skip.weight"] = (config.taught.width, inputs)
    linear("mlm.dense", state, token)
    linear("matching.linear1", hidden + graph.width, matching.hidden)
    linear("matching.linear2", matching.hidden, matching.hidden)
    linear("matching.linear3", matching.hidden, 1)
    return shapes
