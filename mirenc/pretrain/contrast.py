"""The objective "contrast": a function is nearest to its other form, among all functions of a step.

A step draws projects, programs of each and two forms of each program, with or without names. By text, by graph and by
both, whitened by maps that are trained along, each function is told from all others that were drawn: those of its own
module, of its project and of others (InfoNCE; van den Oord et al. 2018). Functions of one name or of equal statements
are no negatives. Whole modules, masked tokens, edges and matching are learned beside; and the trunk, where the model
has one, learns to answer as it did when the stage began, since heads for decisions read it.
"""

import copy
import math
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from mirenc.base.arrays import Float64, Int64
from mirenc.model.data import IRData
from mirenc.model.graph import Flow, NodeKind
from mirenc.model.mirencoder import Encoded, MIREncoder, Whitening
from mirenc.model.tokenizer import PAD
from mirenc.model.whitening import fit_whitening
from mirenc.pretrain.batches import Batch, Sampler
from mirenc.pretrain.config import ContrastConfig
from mirenc.pretrain.corpus.functions import SPELLINGS, Functions
from mirenc.pretrain.evaluation.figures import Figures
from mirenc.pretrain.evaluation.retrieval import CANDIDATE, QUERY, rank_figures, ranks
from mirenc.pretrain.objectives import Pairs, gae_loss, igm_loss, mask_tokens, mlm_loss

PLAIN, UNNAMED, WRITTEN = range(len(SPELLINGS))
BLOCKS = ("text", "graph", "both")
_WIDTHS = (8, 12, 16, 20, 24, 32, 48, 64, 512)  # texts are encoded by length
_TOKENS = 1 << 21  # encoded at once
_MASKED, _MASKED_WIDTH = 2048, 32  # texts a step, and their tokens
_EDGES = 20_000  # of each flow, a step
_TEACHER_EVERY = 3  # steps
_MAX_SCALE = 100.0
_MAP_STEPS = 8  # steps whose functions first maps are fitted on
_MIN_INSTRUCTIONS = 10  # instructions of a function that is validated on
_PAIRS_AT_ONCE = 32  # pairs of modules at once


class FunctionTable:
    """All forms of some projects on the device, and batches of them; ``length`` (T,) are the tokens of each text."""

    def __init__(self, functions: Functions, device: torch.device, weighting: str) -> None:
        self.device, self._weighting = device, weighting
        self._columns = {name: self._tensor(array.astype(np.int32)) for name, array in functions.columns.items()}
        self._sizes = {name: self._tensor(array) for name, array in functions.sizes.items()}
        self._start = {name: _starts(size) for name, size in self._sizes.items()}
        self._ids, self.length = self._tensor(functions.ids.astype(np.int32)), self._tensor(functions.length)
        self._text_start = _starts(self.length)
        self._rows = self._tensor(functions.rows)  # (spelling, plain text) -> text
        names: dict[str, int] = {}
        name_numbers = [names.setdefault(name, len(names)) for form in functions.forms for name in form.functions]
        self.name = self._tensor(np.array(name_numbers, dtype=np.int64))
        self.size, self.sequence = self._columns["function_size"], self._columns["function_sequence"].long()

    def _tensor(self, array: Int64 | Any) -> Tensor:
        return torch.from_numpy(np.ascontiguousarray(array)).to(self.device)

    def _places(self, group: str, modules: Tensor) -> tuple[Tensor, Tensor]:
        """Places of all entries of some modules, end to end; and, for each entry, its module's number among these."""
        sizes = self._sizes[group][modules]
        module = torch.repeat_interleave(torch.arange(len(modules), device=self.device), sizes)
        shift = self._start[group][modules] - (sizes.cumsum(0) - sizes)
        return torch.arange(len(module), device=self.device) + shift[module], module

    def padded(self, texts: Tensor, width: int) -> Tensor:
        """Token ids, cut to ``width``. Shapes: (U,) -> (U, width) int64."""
        place, length = torch.arange(width, device=self.device), self.length[texts][:, None]
        ids = self._ids[self._text_start[texts][:, None] + torch.minimum(place, length - 1)].long()
        return torch.where(place < length, ids, PAD)

    def batch(self, modules: Tensor, spelling: Tensor, *, definitions: bool = True) -> IRData:
        """Modules (M,), each in a spelling (M,); ``definitions`` of globals count as texts of who takes them.

        Groups are the functions of the modules, then each module as a whole. Beside what a model takes, the batch has
        ``texts`` (U,), whether each needs a statement vector, and ``functions`` (F,) with the module of each.
        """

        def column(name: str) -> Tensor:
            return self._columns[name][self._places(name.partition("_")[0], modules)[0]].long()

        def texts_of(group: str) -> tuple[Tensor, Tensor]:
            """Text of each entry in its module's spelling, and its module."""
            module = self._places(group, modules)[1]
            return self._rows[spelling[module], column(f"{group}_row")], module

        node_text, node_module = texts_of("node")
        nodes, count = self._sizes["node"][modules], self._sizes["function"][modules]
        first_node, first_function = nodes.cumsum(0) - nodes, count.cumsum(0) - count
        functions, function_module = self._places("function", modules)
        groups = len(functions) + len(modules)
        text, module = texts_of("text")
        entries = [(text, column("text_group") + first_function[module], column("text_count"))]
        if definitions:
            text, module = texts_of("defined")
            entries.append((text, column("defined_group") + first_function[module], torch.ones_like(module)))
        text, module = texts_of("statement")
        entries.append((text, len(functions) + module, column("statement_count")))
        text, owner, times = (torch.cat(parts) for parts in zip(*entries, strict=True))
        texts, inverse = torch.unique(torch.cat([node_text, text]), return_inverse=True)
        node_row, row = inverse[: len(node_text)], inverse[len(node_text) :]
        # Texts of a group that a spelling makes equal are one.
        key, inverse = torch.unique(owner * len(texts) + row, return_inverse=True)
        occurrences = torch.zeros(len(key), device=self.device).double().index_add(0, inverse, times.double())
        pool_row_group, pool_row = key // len(texts), key % len(texts)
        kind = column("node_kind")
        module = self._places("member", modules)[1]
        all_nodes = torch.arange(len(node_row), device=self.device)
        member = torch.cat([column("member_node") + first_node[module], all_nodes])
        node_group = torch.cat([column("member_group") + first_function[module], len(functions) + node_module])
        key = (node_group * len(texts) + node_row[member]) * len(NodeKind) + kind[member]
        _, inverse, class_size = torch.unique(key, return_inverse=True, return_counts=True)
        weight = class_size[inverse].double()
        use_sqrt = self._weighting == "sqrt"
        needs_vector = torch.zeros(len(texts), dtype=torch.bool, device=self.device)
        needs_vector[pool_row] = True
        needs_vector[node_row[kind == NodeKind.INSTRUCTION]] = True
        module = self._places("edge", modules)[1]
        return IRData(
            num_nodes=len(node_row),
            texts=texts,
            needs_vector=needs_vector,
            node_row=node_row,
            node_kind=kind,
            node_argument=column("node_argument"),
            edge_index=torch.stack([column("edge_source"), column("edge_target")]) + first_node[module],
            edge_flow=column("edge_flow"),
            edge_position=column("edge_position"),
            pool_row=pool_row,
            pool_row_group=pool_row_group,
            pool_row_weight=_shares(occurrences.sqrt() if use_sqrt else occurrences, pool_row_group, groups),
            pool_node=member,
            pool_node_group=node_group,
            pool_node_weight=_shares(weight.rsqrt() if use_sqrt else torch.ones_like(weight), node_group, groups),
            groups=groups,
            functions=functions,
            function_module=function_module,
        )

    def pairs(self, batch: IRData, half: int) -> tuple[Tensor, Tensor]:
        """Groups of functions that the first ``half`` of the modules have, and those of their other forms."""
        key = (batch.function_module % half) * (self.name.max() + 1) + self.name[batch.functions]
        query, candidate = ((batch.function_module // half == side).nonzero().squeeze(1) for side in (0, 1))
        if not len(candidate):
            return candidate, candidate
        sorted_keys, order = key[candidate].sort()
        position = torch.searchsorted(sorted_keys, key[query]).clamp(max=len(candidate) - 1)
        is_match = sorted_keys[position] == key[query]
        return query[is_match], candidate[order[position[is_match]]]

    def alike(self, batch: IRData, query: Tensor, candidate: Tensor) -> Tensor:
        """Pairs of functions that are no negatives: of one name, or of equal statements in one form. (n,) -> (n, n)."""
        name, sequence = self.name[batch.functions], self.sequence[batch.functions]
        alike = name[query][:, None] == name[candidate]
        alike |= (sequence[candidate][:, None] == sequence[candidate]) | (sequence[query][:, None] == sequence[query])
        return alike.fill_diagonal_(fill_value=False)


def _starts(sizes: Tensor) -> Tensor:
    return F.pad(sizes.cumsum(0), (1, 0))[:-1]


def _shares(weight: Tensor, group: Tensor, groups: int) -> Tensor:
    """Weights that sum to 1 in each group."""
    return weight / weight.new_zeros(groups).index_add(0, group, weight)[group]


def info_nce(query: Tensor, candidate: Tensor, scale: Tensor, mask: Tensor | None = None) -> Tensor:
    """-log softmax of own pairs, both ways, without the negatives that ``mask`` marks as alike. 0 for no pair.

    Shapes: (n, D), (n, D), (), (n, n) -> ()
    """
    scores = query @ candidate.T * scale
    if not len(query):
        return scores.sum()
    if mask is not None:
        scores = scores.masked_fill(mask, -1e4)
    target = torch.arange(len(query), device=query.device)
    return 0.5 * (F.cross_entropy(scores, target) + F.cross_entropy(scores.T, target))


class ContrastLosses(nn.Module):
    """The loss of a step of the stage, and the parameters it trains: the model, its whitening maps, temperatures."""

    stage = "contrast"

    def __init__(self, model: MIREncoder, sampler: Sampler, config: ContrastConfig, held_out: set[str]) -> None:
        super().__init__()
        functions = sampler.functions
        assert functions is not None
        self._model, self._sampler, self._config = [model], sampler, config  # a list: no part of the state
        self.device = next(model.parameters()).device
        self._table = FunctionTable(functions, self.device, model.config.pooling.weighting)
        use_bfloat16 = sampler.config.precision == "bfloat16"
        self._precision = torch.autocast(self.device.type, torch.bfloat16, enabled=use_bfloat16)
        self._eval_pairs = validation_pairs(functions, held_out)
        self.teacher = copy.deepcopy(model).eval().requires_grad_(False) if model.taught is not None else None
        self.log_scale = nn.Parameter(torch.full((len(BLOCKS),), math.log(20.0), device=self.device))
        layers = {"text": model.whiten_text, "graph": model.whiten_graph}
        self._maps = {name: layer for name, layer in layers.items() if isinstance(layer, Whitening)}
        if self._maps:
            self._fit_maps()
        # The maps are buffers of the model; as parameters they share its memory.
        self._matrices = {name: nn.Parameter(map_.matrix) for name, map_ in self._maps.items()}
        self.trained: list[nn.Module] = [model]

    @property
    def extra(self) -> list[tuple[list[nn.Parameter], float]]:
        """Parameters beside the model's, each with its part of the learning rate; not decayed."""
        return [(list(self._matrices.values()), 0.3), ([self.log_scale], 10.0)]

    def _fit_maps(self) -> None:
        """Maps to start from, where the model to start from has none: of the functions of the first steps."""
        if any(not torch.equal(map_.matrix, torch.eye(len(map_.mean)).to(map_.matrix)) for map_ in self._maps.values()):
            return
        samples: list[tuple[Tensor, Tensor, Tensor]] = []
        with torch.no_grad():
            for step in range(_MAP_STEPS):
                modules, spelling = self._to_device(self._sampler.contrast(step))
                batch = self._table.batch(modules, spelling)
                encoded = self._encode(self._model[0], batch)
                query, candidate = self._table.pairs(batch, len(modules) // 2)
                first = sum(len(text) for text, *_ in samples)
                rows = torch.cat([query, candidate])
                pairs = torch.stack([torch.arange(len(query)), torch.arange(len(query), len(rows))], 1) + first
                samples.append((encoded.text[rows].cpu(), encoded.graph[rows].cpu(), pairs))
        *vectors, all_pairs = (torch.cat(parts).numpy() for parts in zip(*samples, strict=True))
        for map_, part_vectors in zip(self._maps.values(), vectors, strict=True):
            mean, matrix = fit_whitening(part_vectors, all_pairs)
            map_.mean.copy_(torch.from_numpy(mean))
            map_.matrix.copy_(torch.from_numpy(matrix))

    def _to_device(self, arrays: tuple[Int64, Int64]) -> tuple[Tensor, Tensor]:
        modules, spelling = (torch.from_numpy(array).to(self.device) for array in arrays)
        return modules, spelling

    def _encode(self, model: MIREncoder, batch: IRData) -> Encoded:
        """Vectors of the groups, not whitened; texts are encoded by length."""
        count = len(batch.texts)
        vectors = torch.zeros(count, model.config.text.hidden, device=self.device)
        features = torch.zeros(count, model.config.text.token_width, device=self.device)
        length, last_width = self._table.length[batch.texts], 0
        with self._precision:
            for width in _WIDTHS:
                rows = ((length > last_width) & (length <= width)).nonzero().squeeze(1)
                last_width = width
                for part in torch.split(rows, _TOKENS // width):
                    ids = self._table.padded(batch.texts[part], width)
                    features = features.index_copy(0, part, model.text_features(ids).float())
                    needed = batch.needs_vector[part]
                    if bool(needed.any()):
                        vectors = vectors.index_copy(0, part[needed], model.text.encode(ids[needed]).float())
            return model(batch, text_vectors=vectors, text_features=features)

    def blocks(self, text: Tensor, graph: Tensor) -> list[Tensor]:
        """Unit vectors: text, graph, both."""
        parts = []
        for name, vectors in (("text", text.float()), ("graph", graph.float())):
            if name in self._matrices:
                vectors = (vectors - self._maps[name].mean) @ self._matrices[name]
            parts.append(F.normalize(vectors, dim=-1))
        return [*parts, torch.cat(parts, -1) * math.sqrt(0.5)]

    def forward(self, batch: Batch) -> Tensor:
        """Loss of one step. Shape: ()."""
        losses = self.losses(batch)
        return torch.stack([getattr(self._config.weights, name) * loss for name, loss in losses.items()]).sum()

    def losses(self, step_batch: Batch) -> dict[str, Tensor]:
        """Losses of a step, not weighed."""
        model, table = self._model[0], self._table
        modules, spelling = self._to_device((step_batch.modules, step_batch.spelling))
        half, batch = len(modules) // 2, table.batch(modules, spelling)
        encoded = self._encode(model, batch)
        query, candidate = table.pairs(batch, half)
        alike = table.alike(batch, query, candidate)
        blocks, scale = self.blocks(encoded.text, encoded.graph), self.log_scale.exp().clamp(max=_MAX_SCALE)
        losses = {
            name: info_nce(block[query], block[candidate], scale[number], alike)
            for number, (name, block) in enumerate(zip(BLOCKS, blocks, strict=True))
        }
        module_groups = torch.arange(len(batch.functions), batch.groups, device=self.device)
        losses["module"] = info_nce(blocks[2][module_groups[:half]], blocks[2][module_groups[half:]], scale[2])
        text, graph = (vectors[module_groups[:half]].detach().float() for vectors in (encoded.text, encoded.graph))
        if half > 1:  # matching needs another program to tell apart
            losses["matching"] = igm_loss(model, text, graph)
        losses["tokens"] = self._tokens(batch, step_batch.step)
        losses["edges"] = gae_loss([z.float() for z in encoded.flows], self._edges(batch))
        if self.teacher is not None and step_batch.step % _TEACHER_EVERY == 0:
            written_batch = table.batch(modules, torch.full_like(spelling, WRITTEN), definitions=False)
            with torch.no_grad():
                target = self._encode(self.teacher, written_batch).taught.float()
            spread = target.std(0).clamp(min=1e-3)
            losses["taught"] = (((encoded.taught.float() - target) / spread) ** 2).mean()
        return losses

    def _tokens(self, batch: IRData, step: int) -> Tensor:
        """Masked tokens of some of the texts."""
        config, rng = self._model[0].config.tokenizer, self._sampler.rng(206, step)
        text_rows = torch.from_numpy(rng.integers(len(batch.texts), size=_MASKED)).to(self.device)
        ids = self._table.padded(batch.texts[text_rows], min(_MASKED_WIDTH, config.max_length)).cpu().numpy()
        masked, chosen = mask_tokens(ids, rng, vocab_size=config.vocab_size, share=self._sampler.config.mask_share)
        arrays = (torch.from_numpy(array).to(self.device) for array in (ids, masked, chosen))
        with self._precision:
            return mlm_loss(self._model[0], *arrays, total=int(chosen.sum()))

    def _edges(self, batch: IRData) -> Pairs:
        """Edges by flow, beside pairs of their endpoints nearby, which are seldom one (paper section 3.3)."""
        pairs = []
        for flow in Flow:
            edges = batch.edge_index[:, batch.edge_flow == flow]
            if edges.shape[1]:
                edges = edges[:, torch.randint(edges.shape[1], (_EDGES,), device=self.device).sort()[0]]
            source, target = edges
            negative = target.roll(int(torch.randint(1, 20, ())))
            pairs.append((edges, torch.stack([source, negative])[:, (negative != target) & (negative != source)]))
        return pairs

    @torch.no_grad()
    def validate(self) -> Figures:
        """Recall at 1 of functions of held-out projects, -O0 to -O2, with and without names; empty without pairs."""
        model, table, figures = self._model[0], self._table, Figures()
        training = model.training
        model.eval()
        for spelling, suffix in ((PLAIN, ""), (UNNAMED, "_unnamed")):
            sides: list[list[list[Tensor]]] = [[[], []] for _ in BLOCKS]
            sequence: list[Tensor] = []
            for first in range(0, len(self._eval_pairs), _PAIRS_AT_ONCE):
                modules = torch.tensor(self._eval_pairs[first : first + _PAIRS_AT_ONCE], device=self.device).T.flatten()
                batch = table.batch(modules, torch.full_like(modules, spelling))
                encoded = self._encode(model, batch)
                pairs = torch.stack(table.pairs(batch, len(modules) // 2))
                pairs = pairs[:, (table.size[batch.functions[pairs]] >= _MIN_INSTRUCTIONS).all(0)]
                sequence.append(table.sequence[batch.functions[pairs[1]]])
                for block, vectors in zip(sides, self.blocks(encoded.text, encoded.graph), strict=True):
                    for side, groups in zip(block, pairs, strict=True):
                        side.append(vectors[groups])
            if not sequence or not len(rows := np.unique(torch.cat(sequence).cpu().numpy(), return_index=True)[1]):
                continue
            for name, block in zip(BLOCKS, sides, strict=True):
                query, candidate = (torch.cat(side).cpu().numpy()[rows] for side in block)
                rank: Float64 = ranks(query, candidate)
                figures[f"{name}{suffix}"] = rank_figures(rank)["recall_at_1"]
            figures["functions"] = len(rows)
        model.train(training)
        return figures


def validation_pairs(functions: Functions, projects: set[str]) -> list[tuple[int, int]]:
    """A program's first form at -O0 and its last at -O2, by compiler, of some projects."""
    pairs = []
    for project in sorted(projects & functions.programs.keys()):
        for numbers in functions.programs[project]:
            order = sorted(numbers, key=lambda number: functions.forms[number][2:5])
            by_level: dict[str, list[int]] = {QUERY: [], CANDIDATE: []}
            for number in order:
                by_level.setdefault(functions.forms[number].level, []).append(number)
            if by_level[QUERY] and by_level[CANDIDATE]:
                pairs.append((by_level[QUERY][0], by_level[CANDIDATE][-1]))
    return pairs
