"""Train a model to find a function among others, in whatever form a compiler gave it: what made `mirenc-search`.

What you get: `OUT/model`, a packaged model whose config is ``paired`` (without golden vectors; `words.py` fits its
words and adds them), and `OUT/log.jsonl`: losses, and recall at 1 on the projects of the recipe that are validated on.
How long: on one GPU (H200) the steps of `contrast.toml` in nine minutes; on two cores half a minute a step.
On what: what `contrast_data.py` wrote, and the model to start from:

    python pretrain/contrast.py pretrain/contrast.toml FORMS OUT

A step draws projects, programs of each and two forms of each program, with or without names; each function is to be
nearest to its other form, among all that were drawn: those of its own module, of its project and of others (InfoNCE;
van den Oord et al. 2018), by text, by graph and by both. Functions of one name or of equal statements are no negatives.
Whole modules, masked tokens, edges and matching are learned beside; and the trunk learns to answer as that of the
model to start from, since heads for decisions read it.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from contrast_data import SPELLINGS, unpack
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field
from torch import Tensor, nn

from mirenc.base.config import load_toml
from mirenc.encoder.weights import Source, ancestry, load_files, save_files
from mirenc.model.config import ModelConfig
from mirenc.model.graph import Flow, NodeKind
from mirenc.model.kinds import COUNTS
from mirenc.model.mirencoder import MIREncoder
from mirenc.model.tokenizer import MASK, PAD, SPECIAL_TOKENS
from mirenc.pretrain.objectives import igm_loss

PLAIN, UNNAMED, WRITTEN = range(len(SPELLINGS))
BLOCKS = ("text", "graph", "both")
WIDTHS = (8, 12, 16, 20, 24, 32, 48, 64)  # texts are encoded by length
TOKENS = 1 << 21  # encoded at once
MASKED, MASK_SHARE, MASKED_WIDTH = 2048, 0.15, 32
EDGES = 20000  # of each flow, a step
TEACHER_EVERY = 3  # steps
LARGEST_SCALE = 100.0
LEAST = 10  # instructions of a function that is validated on, as in SEARCH figures
SAVED_EVERY = 500
QUERY, CANDIDATE = ("clang-14", "O0"), ("clang-19", "O2")

# Arrays by what there is one of: `contrast_data.forms`.
COLUMNS = {
    "node": ("node_row", "node_kind", "node_argument"),
    "edge": ("edge_index", "edge_flow", "edge_position"),
    "statement": ("statement_row", "statement_count"),
    "text": ("text_row", "text_group", "text_count"),
    "defined": ("defined_row", "defined_group"),
    "member": ("member", "member_group"),
}


class Recipe(BaseModel):
    """One run; a ``loss`` is the weight of each besides that of both blocks together, which is 1."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    start_from: str
    validated: tuple[str, ...]
    seed: int = 0
    steps: int = Field(ge=1)
    projects: int = Field(ge=1)
    programs: int = Field(ge=1)
    learning_rate: float = Field(gt=0)
    warmup: int = Field(ge=1)
    weight_decay: float = Field(ge=0)
    unnamed: float = Field(ge=0, le=1)
    validate_every: int = Field(ge=1)
    loss: dict[str, float]
    paired: dict[str, float]  # lengths of the blocks


class Forms:
    """All modules of the projects on the device, end to end."""

    def __init__(self, files: list[Path], device: torch.device) -> None:
        self.device = device
        columns: dict[str, list[NDArray[Any]]] = defaultdict(list)
        sizes: dict[str, list[NDArray[Any]]] = defaultdict(list)
        of_bytes: dict[bytes, int] = {}
        texts: list[NDArray[Any]] = []
        rows: list[list[NDArray[Any]]] = [[] for _ in SPELLINGS]
        names: dict[str, int] = {}
        functions: list[tuple[int, int, int, int]] = []
        self.modules: list[tuple[str, ...]] = []
        known = 0
        for file in files:
            arrays, facts = unpack(file.read_bytes())
            for spelling, own in zip(SPELLINGS, rows, strict=True):
                bounds = np.cumsum(arrays[f"{spelling}_sizes"].astype(np.int64))[:-1]
                each = np.split(arrays[spelling].astype(np.int32), bounds)
                fresh = [ids for ids in each if ids.tobytes() not in of_bytes]
                for ids in fresh:
                    if of_bytes.setdefault(ids.tobytes(), len(of_bytes)) == len(texts):
                        texts.append(ids)
                own.append(np.array([of_bytes[ids.tobytes()] for ids in each]))
            for group, members in COLUMNS.items():
                sizes[group].append(arrays[f"{members[0]}_sizes"].astype(np.int64))
                for name in members:
                    shift = known if name.endswith("_row") else 0
                    columns[name].append(arrays[name].astype(np.int32) + shift)
            known += len(rows[0][-1])
            functions += [
                (len(self.modules) + module, names.setdefault(name, len(names)), size, sequence)
                for module, name, size, sequence in facts["functions"]
            ]
            self.modules += [tuple(module) for module in facts["modules"]]
        self.columns = {name: self._tensor(np.concatenate(each, axis=-1)) for name, each in columns.items()}
        self.sizes = {name: self._tensor(np.concatenate(each)) for name, each in sizes.items()}
        self.ids = self._tensor(np.concatenate(texts))
        self.length = self._tensor(np.array([len(ids) for ids in texts]))
        self.text_start = _starts(self.length)
        self.rows = torch.stack([self._tensor(np.concatenate(own)) for own in rows])  # spelling, plain text -> text
        module, *facts_of = np.array(functions, dtype=np.int64).T
        self.function_module = self._tensor(module)
        self.name, self.size, self.sequence = map(self._tensor, facts_of)
        count = np.bincount(module, minlength=len(self.modules))
        self.sizes["function"] = self._tensor(count)
        self.start = {name: _starts(size) for name, size in self.sizes.items()}
        programs: dict[tuple[str, str], list[int]] = defaultdict(list)
        for number, (_, project, _, name) in enumerate(self.modules):
            if count[number]:
                programs[project, name].append(number)
        self.programs: dict[str, list[list[int]]] = defaultdict(list)  # of each project, in two forms at least
        for (project, _), numbers in programs.items():
            if len(numbers) > 1:
                self.programs[project].append(numbers)

    def _tensor(self, array: NDArray[Any]) -> Tensor:
        return torch.from_numpy(np.ascontiguousarray(array)).to(self.device)

    def places(self, group: str, modules: Tensor) -> tuple[Tensor, Tensor]:
        """Where some modules' entries stand, end to end, and which module, by number among these, each is of."""
        sizes = self.sizes[group][modules]
        of = torch.repeat_interleave(torch.arange(len(modules), device=self.device), sizes)
        shift = self.start[group][modules] - (sizes.cumsum(0) - sizes)
        return torch.arange(len(of), device=self.device) + shift[of], of

    def padded(self, texts: Tensor, width: int) -> Tensor:
        """Token ids. Shapes: (U,) -> (U, width) int64."""
        place, length = torch.arange(width, device=self.device), self.length[texts][:, None]
        ids = self.ids[self.text_start[texts][:, None] + torch.minimum(place, length - 1)].long()
        return torch.where(place < length, ids, PAD)


def _starts(sizes: Tensor) -> Tensor:
    return F.pad(sizes.cumsum(0), (1, 0))[:-1]


@dataclass
class Batch:
    """Some modules side by side, as the model takes them: names as in `mirenc.model.data.IRData`.

    Groups are the functions of the modules, then each module as a whole.
    """

    texts: Tensor
    spoken: Tensor  # (U,) whether a text has a statement vector
    node_row: Tensor
    node_kind: Tensor
    node_argument: Tensor
    edge_index: Tensor
    edge_flow: Tensor
    edge_position: Tensor
    pool_row: Tensor
    pool_row_group: Tensor
    pool_row_weight: Tensor
    pool_node: Tensor
    pool_node_group: Tensor
    pool_node_weight: Tensor
    groups: int
    functions: Tensor
    function_module: Tensor


def _weights(count: Tensor, group: Tensor, groups: int) -> Tensor:
    """Weights that sum to 1 in each group."""
    total = count.new_zeros(groups).index_add(0, group, count)
    return count / total[group].clamp(min=1e-9)


def assemble(forms: Forms, modules: Tensor, spelling: Tensor, *, definitions: bool = True) -> Batch:
    """Modules (M,), each in a spelling (M,)."""
    column, device = forms.columns, forms.device
    at, of = forms.places("node", modules)
    rows = forms.rows[spelling[of], column["node_row"][at].long()]
    kind, argument = column["node_kind"][at].long(), column["node_argument"][at].long()
    nodes = forms.sizes["node"][modules]
    node_start = nodes.cumsum(0) - nodes
    functions, function_module = forms.places("function", modules)
    first = forms.sizes["function"][modules].cumsum(0) - forms.sizes["function"][modules]
    groups = len(functions) + len(modules)

    def of_texts(group: str, row: str) -> tuple[Tensor, Tensor, Tensor]:
        at, of = forms.places(group, modules)
        return at, of, forms.rows[spelling[of], column[row][at].long()]

    place, of_text, text = of_texts("text", "text_row")
    entries = [(text, column["text_group"][place].long() + first[of_text], column["text_count"][place])]
    if definitions:
        place, of_text, text = of_texts("defined", "defined_row")
        owner = column["defined_group"][place].long() + first[of_text]
        entries.append((text, owner, torch.ones_like(owner, dtype=torch.int32)))
    place, of_text, text = of_texts("statement", "statement_row")
    entries.append((text, len(functions) + of_text, column["statement_count"][place]))
    said, owner, count = (torch.cat(each) for each in zip(*entries, strict=True))
    texts, which = torch.unique(torch.cat([rows, said]), return_inverse=True)
    node_row, said = which[: len(rows)], which[len(rows) :]
    # Texts of a group that a spelling makes equal are one.
    key, which = torch.unique(owner * len(texts) + said, return_inverse=True)
    times = torch.zeros(len(key), device=device).index_add(0, which, count.float())
    pool_row_group, pool_row = key // len(texts), key % len(texts)

    place, of_node = forms.places("member", modules)
    member = torch.cat([column["member"][place].long() + node_start[of_node], torch.arange(len(rows), device=device)])
    node_group = torch.cat([column["member_group"][place].long() + first[of_node], len(functions) + of])
    key = (node_group * len(texts) + node_row[member]) * len(NodeKind) + kind[member]
    _, which, alike = torch.unique(key, return_inverse=True, return_counts=True)

    spoken = torch.zeros(len(texts), dtype=torch.bool, device=device)
    spoken[pool_row] = True
    spoken[node_row[kind == NodeKind.INSTRUCTION]] = True
    at, of_edge = forms.places("edge", modules)
    return Batch(
        texts=texts,
        spoken=spoken,
        node_row=node_row,
        node_kind=kind,
        node_argument=argument,
        edge_index=column["edge_index"][:, at].long() + node_start[of_edge],
        edge_flow=column["edge_flow"][at].long(),
        edge_position=column["edge_position"][at].long(),
        pool_row=pool_row,
        pool_row_group=pool_row_group,
        pool_row_weight=_weights(times.sqrt(), pool_row_group, groups),
        pool_node=member,
        pool_node_group=node_group,
        pool_node_weight=_weights(alike[which].float().rsqrt(), node_group, groups),
        groups=groups,
        functions=functions,
        function_module=function_module,
    )


def _encoded(model: MIREncoder, forms: Forms, batch: Batch) -> tuple[Tensor, Tensor]:
    """Statement vectors (U, H) of the texts that are spoken, and token means (U, F) of all."""
    count, device = len(batch.texts), forms.device
    vectors = torch.zeros(count, model.config.text.hidden, device=device)
    features = torch.zeros(count, model.config.text.token_width, device=device)
    length, shorter = forms.length[batch.texts], 0
    for width in WIDTHS:
        inside = ((length > shorter) & (length <= width)).nonzero().squeeze(1)
        shorter = width
        for part in inside.split(TOKENS // width):
            ids = forms.padded(batch.texts[part], width)
            features = features.index_copy(0, part, model.text_features(ids).float())
            said = batch.spoken[part]
            if bool(said.any()):
                made = model.text.pool(model.text(ids[said]), ids[said]).float()
                vectors = vectors.index_copy(0, part[said], made)
    return vectors, features


def forward(model: MIREncoder, forms: Forms, batch: Batch) -> tuple[Tensor, Tensor, Tensor, list[Tensor]]:
    """Text, graph and taught vectors of the groups, and node vectors by flow: `MIREncoder.forward`, a GPU's way."""
    vectors, features = _encoded(model, forms, batch)
    groups, device = batch.groups, forms.device
    weighted = vectors[batch.pool_row] * batch.pool_row_weight[:, None]
    text = torch.zeros(groups, vectors.shape[1], device=device).index_add(0, batch.pool_row_group, weighted)
    flows = model.graph(batch, features[batch.node_row], vectors[batch.node_row])  # type: ignore[arg-type]
    rows = model.graph.combine(flows).float()[batch.pool_node]
    empty, group = rows.new_zeros(groups, rows.shape[1]), batch.pool_node_group
    mean = empty.index_add(0, group, rows * batch.pool_node_weight[:, None])
    most = empty.scatter_reduce(0, group[:, None].expand_as(rows), rows, "amax", include_self=False)
    graph = torch.cat([mean, most, torch.log1p(empty.index_add(0, group, F.relu(rows)))], -1)
    key = torch.cat([batch.node_kind[batch.pool_node], torch.full_like(batch.pool_row, COUNTS - 1)])
    owner = torch.cat([group, batch.pool_row_group])
    counts = torch.bincount(owner * COUNTS + key, minlength=groups * COUNTS).view(-1, COUNTS).float()
    assert model.taught is not None
    return text, graph, model.taught(text, graph, counts), flows


class Maps(nn.Module):
    """The model's maps of text and graph vectors, to be trained; temperatures of the losses."""

    def __init__(self, weights: dict[str, NDArray[Any]]) -> None:
        super().__init__()
        for part in ("text", "graph"):
            self.register_buffer(f"mean_{part}", torch.from_numpy(weights[f"whiten_{part}.mean"]).float())
            self.register_parameter(f"matrix_{part}", nn.Parameter(torch.tensor(weights[f"whiten_{part}.matrix"])))
        self.scale = nn.Parameter(torch.full((len(BLOCKS),), math.log(20.0)))

    def forward(self, text: Tensor, graph: Tensor) -> list[Tensor]:
        """Unit vectors: text, graph, both."""
        one = F.normalize((text - self.mean_text) @ self.matrix_text, dim=-1)
        other = F.normalize((graph - self.mean_graph) @ self.matrix_graph, dim=-1)
        return [one, other, torch.cat([one, other], -1) * math.sqrt(0.5)]

    def loss(self, block: int, one: Tensor, other: Tensor, known: Tensor | None = None) -> Tensor:
        """InfoNCE both ways; pairs that are ``known`` (n, n) to be alike are left out. Shapes: (n, D), (n, D) -> ()."""
        scores = one @ other.T * self.scale[block].exp().clamp(max=LARGEST_SCALE)
        if known is not None:
            scores = scores.masked_fill(known, -1e4)
        own = torch.arange(len(one), device=one.device)
        return 0.5 * (F.cross_entropy(scores, own) + F.cross_entropy(scores.T, own))


def paired(forms: Forms, batch: Batch, half: int) -> tuple[Tensor, Tensor]:
    """Groups of functions that the first ``half`` of the modules have, and those of their other forms."""
    key = (batch.function_module % half) * (forms.name.max() + 1) + forms.name[batch.functions]
    one, other = ((batch.function_module // half == side).nonzero().squeeze(1) for side in (0, 1))
    if not len(other):
        return other, other
    sorted_keys, order = key[other].sort()
    at = torch.searchsorted(sorted_keys, key[one]).clamp(max=len(other) - 1)
    hit = sorted_keys[at] == key[one]
    return one[hit], other[order[at[hit]]]


class Run:
    """Model, teacher and data of one run."""

    def __init__(self, recipe: Recipe, files: list[Path], device: torch.device) -> None:
        self.recipe, self.device = recipe, device
        self.files = load_files(recipe.start_from)
        self.config = self.files.config
        self.model, self.teacher = (MIREncoder(self.config).to(device) for _ in range(2))
        for model in (self.model, self.teacher):
            model.load_state_dict({name: torch.from_numpy(value) for name, value in self.files.weights.items()})
        self.teacher.eval().requires_grad_(False)
        self.maps = Maps(self.files.weights).to(device)
        self.forms = Forms(files, device)
        self.projects = [project for project in sorted(self.forms.programs) if project not in recipe.validated]
        sizes = np.sqrt([len(self.forms.programs[project]) for project in self.projects])
        self.share = sizes / sizes.sum()
        self.rng = np.random.default_rng(recipe.seed)
        maps = [{"params": [self.maps.matrix_text, self.maps.matrix_graph], "part": 0.3, "weight_decay": 0.0}]
        scales = [{"params": [self.maps.scale], "part": 10.0, "weight_decay": 0.0}]
        rest = [{"params": list(self.model.parameters()), "part": 1.0, "weight_decay": recipe.weight_decay}]
        self.optimiser = torch.optim.AdamW(rest + maps + scales, lr=recipe.learning_rate, betas=(0.9, 0.98))
        self.parameters = [each for group in self.optimiser.param_groups for each in group["params"]]
        self.target = torch.zeros(0)

    def autocast(self) -> torch.autocast:
        return torch.autocast(self.device.type, dtype=torch.bfloat16, enabled=self.device.type == "cuda")

    def draw(self) -> tuple[Tensor, Tensor]:
        """Modules of a step, first one form of each program and then the other, and their spelling."""
        pairs = []
        some = min(self.recipe.projects, len(self.projects))
        for project in self.rng.choice(len(self.projects), some, replace=False, p=self.share):
            programs = self.forms.programs[self.projects[project]]
            for program in self.rng.choice(len(programs), min(self.recipe.programs, len(programs)), replace=False):
                pairs.append(self.rng.choice(programs[program], 2, replace=False))
        spelling = np.where(self.rng.random(len(pairs)) < self.recipe.unnamed, UNNAMED, PLAIN)
        modules = torch.from_numpy(np.array(pairs).T.flatten()).to(self.device)
        return modules, torch.from_numpy(np.tile(spelling, 2)).to(self.device)

    def losses(self, step: int) -> dict[str, Tensor]:
        """Losses of a step, not weighed."""
        forms, maps = self.forms, self.maps
        modules, spelling = self.draw()
        half, batch = len(modules) // 2, assemble(self.forms, modules, spelling)
        with self.autocast():
            text, graph, taught, flows = forward(self.model, forms, batch)
        one, other = paired(forms, batch, half)
        name, sequence = forms.name[batch.functions], forms.sequence[batch.functions]
        known = name[one][:, None] == name[other]
        known |= (sequence[other][:, None] == sequence[other]) | (sequence[one][:, None] == sequence[one])
        known.fill_diagonal_(fill_value=False)
        blocks = maps(text.float(), graph.float())
        found = {
            block: maps.loss(number, each[one], each[other], known)
            for number, (block, each) in enumerate(zip(BLOCKS, blocks, strict=True))
        }
        whole = torch.arange(len(batch.functions), batch.groups, device=self.device)
        found["module"] = maps.loss(2, blocks[2][whole[:half]], blocks[2][whole[half:]])
        found["matching"] = igm_loss(
            self.model, text[whole[:half]].detach().float(), graph[whole[:half]].detach().float()
        )
        found["tokens"] = self._tokens(batch)
        found["edges"] = self._edges(batch, flows)
        if step % TEACHER_EVERY == 0:
            written = assemble(forms, modules, torch.full_like(spelling, WRITTEN), definitions=False)
            with torch.no_grad(), self.autocast():
                self.target = forward(self.teacher, forms, written)[2].float()
            spread = self.target.std(0).clamp(min=1e-3)
            found["taught"] = (((taught.float() - self.target) / spread) ** 2).mean()
        return found

    def _tokens(self, batch: Batch) -> Tensor:
        """Masked tokens of some texts (`mirenc.pretrain.objectives.mask_tokens`)."""
        drawn = torch.randint(len(batch.texts), (MASKED,), device=self.device)
        ids = self.forms.padded(batch.texts[drawn], MASKED_WIDTH)
        chosen = (torch.rand(ids.shape, device=self.device) < MASK_SHARE) & (ids >= len(SPECIAL_TOKENS))
        dice, other = (
            torch.rand(ids.shape, device=self.device),
            torch.randint_like(ids, len(SPECIAL_TOKENS), self.vocabulary),
        )
        masked = torch.where(chosen & (dice < 0.8), MASK, torch.where(chosen & (dice >= 0.9), other, ids))
        with self.autocast():
            scores = self.model.mlm(self.model.text(masked)[chosen], self.model.text.token.weight)
        return F.cross_entropy(scores.float(), ids[chosen])

    @property
    def vocabulary(self) -> int:
        return self.config.tokenizer.vocab_size

    def _edges(self, batch: Batch, flows: list[Tensor]) -> Tensor:
        """Edges beside pairs of their endpoints nearby, which are seldom one (paper section 3.3)."""
        total = torch.zeros((), device=self.device)
        for flow in Flow:
            edges = batch.edge_index[:, batch.edge_flow == flow]
            if edges.shape[1]:
                source, target = edges[:, torch.randint(edges.shape[1], (EDGES,), device=self.device).sort()[0]]
                other = target.roll(int(torch.randint(1, 20, ())))
                z, apart = flows[flow].float(), ((other != target) & (other != source)).float()
                total = total + F.softplus(-(z[source] * z[target]).sum(1)).mean()
                total = total + (F.softplus((z[source] * z[other]).sum(1)) * apart).sum() / apart.sum().clamp(min=1)
        return total

    def step(self, number: int) -> dict[str, float]:
        """One step of the optimiser; its losses."""
        recipe = self.recipe
        done = number / recipe.steps
        rate = (
            recipe.learning_rate * min(1, (number + 1) / recipe.warmup) * (0.02 + 0.49 * (1 + math.cos(math.pi * done)))
        )
        for group in self.optimiser.param_groups:
            group["lr"] = rate * group["part"]
        found = self.losses(number)
        total = torch.stack([recipe.loss.get(name, 1.0) * value for name, value in found.items()]).sum()
        self.optimiser.zero_grad(set_to_none=True)
        total.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(self.parameters, 1.0)
        self.optimiser.step()
        return {name: float(value.detach()) for name, value in found.items()}

    @torch.no_grad()
    def validate(self) -> dict[str, float]:
        """Recall at 1 in percent of functions of `LEAST` instructions or more, -O0 by one clang to -O2 by another."""
        self.model.eval()
        forms, found = self.forms, dict[str, float]()
        pairs = []
        for project in self.recipe.validated:
            for numbers in forms.programs.get(project, []):
                by_form = {(forms.modules[number][0], forms.modules[number][2]): number for number in numbers}
                if QUERY in by_form and CANDIDATE in by_form:
                    pairs.append((by_form[QUERY], by_form[CANDIDATE]))
        for spelling, names in ((PLAIN, ""), (UNNAMED, " unnamed")):
            blocks: dict[str, list[Tensor]] = {"query": [], "candidate": []}
            owner: dict[str, list[Tensor]] = {"query": [], "candidate": []}
            for start in range(0, len(pairs), 32):
                modules = torch.tensor(pairs[start : start + 32], device=self.device).T.flatten()
                batch = assemble(forms, modules, torch.full_like(modules, spelling))
                with self.autocast():
                    text, graph, _, _ = forward(self.model, forms, batch)
                both = torch.stack(paired(forms, batch, len(modules) // 2))
                enough = (forms.size[batch.functions[both]] >= LEAST).all(0)
                made = torch.stack(
                    [F.pad(each, (0, 768 - each.shape[1])) for each in self.maps(text.float(), graph.float())]
                )
                for side, groups in zip(blocks, both[:, enough], strict=True):
                    blocks[side].append(made[:, groups])
                    owner[side].append(forms.sequence[batch.functions[groups]])
            if not blocks["query"]:
                return found
            query, candidate = (torch.cat(blocks[side], 1) for side in ("query", "candidate"))
            _, first = np.unique(torch.cat(owner["candidate"]).cpu().numpy(), return_index=True)
            for block, one, other in zip(BLOCKS, query[:, first], candidate[:, first], strict=True):
                scores = one @ other.T
                found[f"{block}{names}"] = 100 * float(
                    ((scores >= scores.diagonal()[:, None]).sum(1) == 1).float().mean()
                )
            found["functions"] = len(first)
        self.model.train()
        return found

    def save(self, folder: Path) -> None:
        """The packaged model, without golden vectors."""
        state = {name: value.detach().float().cpu().numpy() for name, value in self.model.state_dict().items()}
        state |= {
            f"whiten_{part}.matrix": getattr(self.maps, f"matrix_{part}").detach().cpu().numpy()
            for part in ("text", "graph")
        }
        values = self.config.model_dump() | {"paired": self.recipe.paired}
        own = Source(self.recipe.name, "pairs", tuple(self.projects))
        sources = (*ancestry(self.files.name, self.files.folder), own)
        save_files(
            folder,
            name=self.recipe.name,
            config=ModelConfig.from_dict(values),
            tokenizer=self.files.tokenizer,
            weights=state,
            provenance=sources,
        )


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("recipe", type=Path)
    parser.add_argument("forms", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--steps", type=int, help="instead of the recipe's")
    given = parser.parse_args()
    values: dict[str, Any] = load_toml(given.recipe)
    recipe = Recipe(**values | ({"steps": given.steps} if given.steps else {}))
    torch.manual_seed(recipe.seed)
    torch.backends.cuda.matmul.allow_tf32 = True
    run = Run(recipe, sorted(given.forms.glob("*.xz")), torch.device("cuda" if torch.cuda.is_available() else "cpu"))
    if missing := sorted(set(recipe.validated) - run.forms.programs.keys()):
        raise SystemExit(f"validated: {', '.join(missing)} has no program in two forms in {given.forms}")
    given.out.mkdir(parents=True, exist_ok=True)
    run.model.train()
    sums: dict[str, list[float]] = defaultdict(list)
    started = time.monotonic()
    with (given.out / "log.jsonl").open("w", encoding="utf-8") as log:

        def note(**line: Any) -> None:
            text = json.dumps(line | {"seconds": round(time.monotonic() - started, 1)})
            print(text, flush=True)
            log.write(f"{text}\n")
            log.flush()

        forms = run.forms
        note(modules=len(forms.modules), functions=len(forms.name), texts=len(forms.length), projects=len(run.projects))
        note(step=0, validated=run.validate())
        for number in range(recipe.steps):
            for name, value in run.step(number).items():
                sums[name].append(value)
            if (number + 1) % 50 == 0 or not number:
                note(step=number + 1, losses={name: round(float(np.mean(each)), 4) for name, each in sums.items()})
                sums.clear()
            if (number + 1) % recipe.validate_every == 0 or number + 1 == recipe.steps:
                note(step=number + 1, validated=run.validate())
            if (number + 1) % SAVED_EVERY == 0 or number + 1 == recipe.steps:
                run.save(given.out / "model")


if __name__ == "__main__":
    main()
