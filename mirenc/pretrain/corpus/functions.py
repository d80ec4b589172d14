"""Functions in several forms, for the stage ``contrast``: two builds of one program, or one build in normal forms.

A folder has ``tokenizer.json`` and a file a project: token ids of its texts in three spellings, graphs, and which
statements, definitions and nodes each function of at least `MIN_INSTRUCTIONS` instructions has. A form of a program is
a file of the same project and the same path below its level (``PROJECT/O0/x.ll``, ``PROJECT/O2/x.ll``), under one root
or under several, one a compiler.
"""

import hashlib
import json
import os
import zlib
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from mirenc.base.arrays import Int64
from mirenc.base.errors import ConfigError, MirencError
from mirenc.base.writing import delivered
from mirenc.llvm import ReadOptions, read_ir, regions_of
from mirenc.llvm.inputs.file_kind import find_inputs
from mirenc.llvm.ir.plain_statement import Spelling, spelled
from mirenc.llvm.sources.ir_folder import origins_of
from mirenc.model.pooling import region_pools
from mirenc.model.sample import make_sample
from mirenc.model.tokenizer import IRTokenizer
from mirenc.pretrain.corpus.build import module_origin
from mirenc.pretrain.corpus.packing import from_bytes, pack, to_bytes, unpack

MIN_INSTRUCTIONS = 5  # shorter functions (getters, wrappers) are alike in unrelated programs
MOST_INSTRUCTIONS, MOST_NODES = 3500, 8000  # of a module: a step holds some hundred
SPELLINGS: tuple[Spelling, ...] = ("plain", "unnamed", "written")  # in the order of the token ids
# Columns by the entries they describe, whose name they begin with; the sizes of the modules are under it.
COLUMNS = {
    "node": ("node_row", "node_kind", "node_argument"),
    "edge": ("edge_source", "edge_target", "edge_flow", "edge_position"),
    "statement": ("statement_row", "statement_count"),
    "text": ("text_row", "text_group", "text_count"),
    "defined": ("defined_row", "defined_group"),
    "member": ("member_node", "member_group"),
    "function": ("function_size", "function_sequence"),
}
_DELTAS = {"node_row", "edge_source", "edge_target", "text_row", "text_group", "defined_row", "defined_group"} | {
    *("member_node", "member_group", "statement_row")
}


_Text = tuple[int, tuple[str, ...]]  # number and spellings of a text, by its plain one


class Form(NamedTuple):
    """One module: a program in one form."""

    project: str
    file: str
    compiler: str  # or the root's name, where nobody said
    level: str
    form: str  # of `mirenc.llvm.passes.optimise`
    functions: list[str]  # names


class Functions(NamedTuple):
    """Forms of some projects; each column of `COLUMNS` is end to end, with sizes of the modules under ``sizes``.

    ``ids`` and ``length`` are token ids of all distinct texts, end to end; ``rows`` (3, T) the text of each plain text
    in each of the `SPELLINGS`. Columns named ``..._row`` are plain texts.
    """

    forms: list[Form]
    columns: dict[str, Int64]
    sizes: dict[str, Int64]
    ids: Int64
    length: Int64
    rows: Int64
    digest: str

    @property
    def programs(self) -> dict[str, list[list[int]]]:
        """The programs of each project that exist in at least two forms; a program is a list of numbers of forms."""
        by_program: dict[tuple[str, str], list[int]] = defaultdict(list)
        for number, form in enumerate(self.forms):
            if form.functions:
                by_program[form.project, form.file].append(number)
        programs: dict[str, list[list[int]]] = defaultdict(list)
        for (project, _), numbers in by_program.items():
            if len(numbers) > 1:
                programs[project].append(numbers)
        return dict(programs)

    @classmethod
    def load(cls, folder: str | os.PathLike[str], tokenizer: IRTokenizer) -> Self:
        """Read what `build_functions` wrote. ConfigError: nothing there, or it is of another tokenizer."""
        source = Path(folder)
        advice = "Make a folder of functions with: mirenc corpus functions IR -o FOLDER --tokenizer TOKENIZER"
        files = sorted(source.glob("*.functions"))
        if not files or not (source / "tokenizer.json").is_file():
            raise ConfigError(f"contrast.functions: {source}: this folder has no functions. {advice}")
        if (source / "tokenizer.json").read_text(encoding="utf-8") != tokenizer.to_json():
            raise ConfigError(f"contrast.functions: {source}: made with another tokenizer than the corpus. {advice}")
        forms: list[Form] = []
        columns: dict[str, list[Int64]] = defaultdict(list)
        sizes: dict[str, list[Int64]] = defaultdict(list)
        rows: list[list[Int64]] = [[] for _ in SPELLINGS]
        numbers: dict[bytes, int] = {}
        digest, texts, plain_count = hashlib.sha256(), list[Int64](), 0
        for file in files:
            data = file.read_bytes()
            digest.update(data)
            arrays = from_bytes(data)
            forms += [Form(*form) for form in json.loads(arrays.pop("forms").tobytes())]
            values = {name: unpack(planes, differences=name in _DELTAS) for name, planes in arrays.items()}
            for spelling, spelling_rows in zip(SPELLINGS, rows, strict=True):
                text_ids = np.split(values[f"{spelling}_ids"], np.cumsum(values[f"{spelling}_sizes"])[:-1])
                for ids in text_ids:
                    if numbers.setdefault(ids.tobytes(), len(numbers)) == len(texts):
                        texts.append(ids)
                spelling_rows.append(np.array([numbers[ids.tobytes()] for ids in text_ids], dtype=np.int64))
            for group, names in COLUMNS.items():
                sizes[group].append(values[f"{group}_sizes"])
                for name in names:
                    columns[name].append(values[name] + (plain_count if name.endswith("_row") else 0))
            plain_count += len(rows[0][-1])
        return cls(
            forms,
            {name: np.concatenate(parts) for name, parts in columns.items()},
            {name: np.concatenate(parts) for name, parts in sizes.items()},
            np.concatenate(texts),
            np.array([len(ids) for ids in texts], dtype=np.int64),
            np.stack([np.concatenate(parts) for parts in rows]),
            digest.hexdigest(),
        )


def build_functions(
    roots: Sequence[Path],
    folder: Path,
    tokenizer: IRTokenizer,
    *,
    forms: Sequence[str] = ("plain",),
    options: ReadOptions | None = None,
    advance: Callable[[int], None] = lambda count: None,
) -> list[MirencError]:
    """Read folders of IR, each file in each of the ``forms``, and write a file a project; returns what failed.

    ``advance`` is called with how many more files are done. A project that is there is not read again. Raises
    ConfigError: no IR, or one form of each program.
    """
    files: dict[str, list[tuple[Path, dict[str, str]]]] = defaultdict(list)
    for root in roots:
        origins = origins_of(root)
        for path in find_inputs(root):
            origin = module_origin(path, root, origins)
            files[origin["project"]].append((path, origin | {"compiler": origin["compiler"] or root.resolve().name}))
    if not files:
        raise ConfigError(f"{roots[0]}: no IR here. Give folders with PROJECT/O0/x.ll and PROJECT/O2/x.ll")
    if len(forms) < 2 and all(len(group) == 1 for group in files.values()):
        advice = "Give folders with PROJECT/O0/x.ll and PROJECT/O2/x.ll, or two forms: --in-form plain --in-form O2"
        raise ConfigError(f"{roots[0]}: each program exists in one form only, and two are needed. {advice}")
    folder.mkdir(parents=True, exist_ok=True)
    _record_setup(folder, tokenizer, forms)
    failures: list[MirencError] = []
    for project, members in sorted(files.items()):
        target = folder / f"{project}.functions"
        if not target.is_file():
            data = _project_bytes(members, tokenizer, forms, options or ReadOptions(), failures)
            with delivered(target) as part:
                part.write_bytes(data)
        advance(len(members))
    return failures


def _record_setup(folder: Path, tokenizer: IRTokenizer, forms: Sequence[str]) -> None:
    """Record what the folder's files are made with. Raises ConfigError: those that are there were made differently."""
    setup = json.dumps({"forms": list(forms), "tokenizer": tokenizer.to_json()})
    record = folder / "setup.json"
    if any(folder.glob("*.functions")) and (not record.is_file() or record.read_text(encoding="utf-8") != setup):
        raise ConfigError(f"{folder} has functions of another tokenizer or in other forms. Name another folder")
    with delivered(record) as part:
        part.write_text(setup, encoding="utf-8")
    tokenizer.save(folder / "tokenizer.json")


def _project_bytes(
    files: Sequence[tuple[Path, Mapping[str, str]]],
    tokenizer: IRTokenizer,
    forms: Sequence[str],
    options: ReadOptions,
    failures: list[MirencError],
) -> bytes:
    texts: dict[str, _Text] = {}
    columns: dict[str, list[NDArray[Any]]] = defaultdict(list)
    modules: list[Form] = []
    for path, origin in files:
        for form in forms:
            try:
                result = _module_columns(path, tokenizer, replace(options, form=form), texts)  # type: ignore[arg-type]
            except MirencError as error:
                failures.append(error)
                continue
            if result is not None:
                names, arrays = result
                fields = origin["project"], origin["file"], origin["compiler"], origin["opt_level"]
                modules.append(Form(*fields, form, names))
                for name, array in arrays.items():
                    columns[name].append(array)
    no_values = [np.zeros(0, np.int64)]
    out = {name: np.concatenate(columns.get(name, no_values)) for group in COLUMNS.values() for name in group}
    for group, (first, *_) in COLUMNS.items():
        out[f"{group}_sizes"] = np.array([len(array) for array in columns[first]], dtype=np.int64)
    for number, spelling in enumerate(SPELLINGS):
        ids, length = tokenizer.encode_batch([text[number] for _, text in texts.values()])
        out[f"{spelling}_ids"] = ids[np.arange(ids.shape[1]) < length[:, None]]
        out[f"{spelling}_sizes"] = length
    packed = {name: pack(array, differences=name in _DELTAS) for name, array in out.items()}
    return to_bytes(packed | {"forms": np.frombuffer(json.dumps(modules).encode(), np.uint8)})


def _module_columns(
    path: Path, tokenizer: IRTokenizer, options: ReadOptions, texts: dict[str, _Text]
) -> tuple[list[str], dict[str, Int64]] | None:
    """Names of a module's functions and its columns; None where it is too large. Its texts are added to ``texts``."""
    module = read_ir(path, options=options)
    if module.instruction_count > MOST_INSTRUCTIONS:
        return None
    sample = make_sample(module, tokenizer)
    if len(sample.node_row) > MOST_NODES:
        return None
    spellings = zip(*(spelled(sample.texts, spelling, module.display.values()) for spelling in SPELLINGS), strict=True)
    row = np.array([texts.setdefault(text[0], (len(texts), text))[0] for text in spellings], dtype=np.int64)
    regions = regions_of(module, "function")
    pools = region_pools(sample, regions.instruction, regions.region, len(regions), "sqrt")
    size = np.bincount(regions.region, minlength=len(regions))
    chosen = np.flatnonzero(size >= MIN_INSTRUCTIONS)
    group = np.full(len(regions), -1)
    group[chosen] = np.arange(len(chosen))
    assert pools.definitions is not None
    text, definition, node = (group[pool.group] >= 0 for pool in (pools.text, pools.definitions, pools.graph))
    statement, count = np.unique(row[sample.statement_row], return_counts=True)
    instruction = row[sample.statement_row[len(sample.statement_row) - module.instruction_count :]]
    sequences = [instruction[regions.instruction[regions.region == region]] for region in chosen.tolist()]
    return [regions.regions[region].symbol for region in chosen.tolist()], {
        "node_row": row[sample.node_row],
        "node_kind": sample.node_kind,
        "node_argument": sample.node_argument,
        "edge_source": sample.edge_index[0],
        "edge_target": sample.edge_index[1],
        "edge_flow": sample.edge_flow,
        "edge_position": sample.edge_position,
        "statement_row": statement,
        "statement_count": count,
        "text_row": row[pools.text.item[text]],
        "text_group": group[pools.text.group[text]],
        "text_count": pools.text.count[text],
        "defined_row": row[pools.definitions.item[definition]],
        "defined_group": group[pools.definitions.group[definition]],
        "member_node": pools.graph.item[node],
        "member_group": group[pools.graph.group[node]],
        "function_size": size[chosen],
        "function_sequence": np.array([zlib.crc32(rows.tobytes()) for rows in sequences], dtype=np.int64),
    }
