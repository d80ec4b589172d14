"""Names and shapes of a model's weights, from its configuration alone: what a file must hold, known without torch."""

from __future__ import annotations

from mirenc.model.config import ModelConfig
from mirenc.model.kinds import Shapes
from mirenc.model.pooling import COUNTS


def weight_shapes(config: ModelConfig) -> Shapes:
    """Shape of every entry of ``MIREncoder.state_dict``."""
    hidden, token, state = config.text.hidden, config.text.token_width, config.text.state_width
    graph, matching, vocabulary = config.graph, config.matching.hidden, config.tokenizer.vocab_size
    shapes = Shapes({"text.token.weight": (vocabulary, token), "mlm.bias": (vocabulary,)})
    config.text.add_shapes(shapes, config.tokenizer.max_length)
    shapes.norm("mlm.norm", token)
    shapes.norm("matching.norm_text", hidden)
    graph.add_shapes(shapes, token, hidden)
    shapes.norm("matching.norm_graph", graph.width)
    whitened = {"text": hidden, "graph": graph.width} if config.pooling.whiten else {}
    if config.lexical is not None:
        shapes["lexical_idf"] = (config.lexical.buckets,)
        whitened |= {"lexical": config.lexical.width} if config.lexical.whiten else {}
    for part, size in whitened.items():
        shapes[f"whiten_{part}.mean"] = (size,)
        shapes[f"whiten_{part}.matrix"] = (size, size)
    if config.taught is not None:
        shapes.norm("taught.norm_text", hidden)
        for number in range(graph.width // graph.out):
            shapes.norm(f"taught.norm_graph.{number}", graph.out)
        inputs = hidden + graph.width + COUNTS
        shapes.linear("taught.linear1", inputs, config.taught.hidden)
        shapes.linear("taught.linear2", config.taught.hidden, config.taught.width)
        shapes.linear("taught.skip", inputs, config.taught.width, bias=False)
    shapes.linear("mlm.dense", state, token)
    shapes.linear("matching.linear1", hidden + graph.width, matching)
    shapes.linear("matching.linear2", matching, matching)
    shapes.linear("matching.linear3", matching, 1)
    return shapes
