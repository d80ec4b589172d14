"""A model with the text encoder of one model and the graph encoder and matching head of another of the same shapes.

Both were trained on one corpus with one tokenizer, so what one encoder says of a text is nearly linear in what the
other says. Two linear maps are fitted on training modules, node features and text means after their norms, and go into
the first matrices that read them. The result is a start for `mirenc pretrain` (`start_from`), not a model to use.

What you get: `OUT`, a model folder whose provenance has what both models saw; the share of variance that each map
explains is printed.
How long: four minutes of one core.
On what: the training shards.

    python pretrain/join_models.py TEXT_MODEL GRAPH_MODEL pretrain/shards OUT
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from mirenc.base.arrays import Int64
from mirenc.encoder.golden import write_golden
from mirenc.encoder.weights import ancestry, load_files, save_files, seen_by
from mirenc.model.mirencoder import MIREncoder
from mirenc.model.torch_runtime import TorchRuntime
from mirenc.pretrain.corpus import Corpus
from mirenc.pretrain.encoding import statement_vectors

GRAPHS, STATEMENTS, MEANS = 6000, 6000, 8000
KINDS = 3
_SLICE = 8192
_RIDGE = 1e-3


@torch.inference_mode()
def node_inputs(model: MIREncoder, corpus: Corpus, keys: Int64) -> Tensor:
    """What the graph encoder's first layer reads of nodes: text row times `KINDS`, plus kind. (K,) -> (K, F)."""
    inputs = []
    for first in range(0, len(keys), _SLICE):
        row, kind = np.divmod(keys[first : first + _SLICE], KINDS)
        features = model.text_features(torch.from_numpy(corpus.padded_ids(row)).long())
        kinds = model.get_submodule("graph.kind")(torch.from_numpy(kind))
        inputs.append(model.get_submodule("graph.norm_in")(features + kinds))
    return torch.cat(inputs).double()


def fit_matrix(name: str, source: Tensor, target: Tensor, weight: Tensor) -> Tensor:
    """The matrix A (F, F) by which ``source`` A is nearest to ``target``, both (K, F), rows weighted (K,)."""
    weighted = (source * weight[:, None]).T
    gram = weighted @ source
    ridge = _RIDGE * gram.trace() / len(gram) * torch.eye(len(gram), dtype=gram.dtype)
    matrix = torch.linalg.solve(gram + ridge, weighted @ target)
    mean = (target * weight[:, None]).sum(0) / weight.sum()
    left, total = (((estimate - target) ** 2).sum(1) @ weight for estimate in (source @ matrix, mean))
    print(f"{name}: {1 - float(left / total):.3f} of the variance", flush=True)
    return matrix


def join(text: str, graph: str, corpus: Corpus, out: Path) -> None:
    """Write the model."""
    files = [load_files(path) for path in (text, graph)]
    text_model, graph_model = models = [TorchRuntime(file.config, file.weights).model.eval() for file in files]
    sources = tuple(dict.fromkeys(source for file in files for source in ancestry(file.name, file.folder)))
    training_projects, rng = seen_by(sources), np.random.default_rng(0)
    training = np.flatnonzero([project in training_projects for project in corpus.projects])
    training = rng.permutation(training[corpus.node_count[training] > 0])
    nodes = [corpus[module] for module in training[:GRAPHS].tolist()]
    keys = np.concatenate([node.node_row.astype(np.int64) * KINDS + node.node_kind for node in nodes])
    keys, count = np.unique(keys, return_counts=True)
    reads = [node_inputs(model, corpus, keys) for model in models]
    node_matrix = fit_matrix("node features", reads[0], reads[1], torch.from_numpy(np.sqrt(count)))
    statements = np.unique(np.concatenate([corpus[module].statement_row for module in training.tolist()]))
    statements = rng.choice(statements, min(STATEMENTS, len(statements)), replace=False)
    vectors = [torch.from_numpy(statement_vectors(model, corpus, statements)) for model in models]
    # Modules of drawn statements, since few whole ones have all of theirs among these.
    draws = [rng.choice(len(statements), size) for size in rng.integers(8, 200, MEANS)]
    means = [
        model.get_submodule("matching.norm_text")(torch.stack([data[rows].mean(0) for rows in draws])).detach().double()
        for model, data in zip(models, vectors, strict=True)
    ]
    text_matrix = fit_matrix("text means", means[0], means[1], torch.ones(MEANS, dtype=torch.float64))
    state, graph_state = text_model.state_dict(), graph_model.state_dict()
    for name, value in state.items():
        if name.startswith(("graph.conv", "matching.")) and ".norm_text." not in name:
            value.copy_(graph_state[name])
    width = text_model.config.text.hidden
    for name, columns, matrix in (
        ("graph.conv1.lin.weight", slice(None), node_matrix),
        ("matching.linear1.weight", slice(width), text_matrix),
    ):
        state[name][:, columns] = (graph_state[name][:, columns].double() @ matrix.T).float()
    weights = {name: value.cpu().numpy() for name, value in state.items()}
    save_files(
        out, name=out.name, config=text_model.config, tokenizer=files[0].tokenizer, weights=weights, provenance=sources
    )
    write_golden(out)


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("text", help="model whose text encoder is taken")
    parser.add_argument("graph", help="model whose graph encoder and matching head are taken")
    parser.add_argument("shards", type=Path)
    parser.add_argument("out", type=Path)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    join(arguments.text, arguments.graph, Corpus.load(arguments.shards), arguments.out)


if __name__ == "__main__":
    main()
