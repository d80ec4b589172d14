"""Labels of one's own: reads a table of them, and embeds the functions or files that they are about.

Columns: ``file`` (relative to the table), ``function`` or ``line`` if single functions are labelled, a label, and
``group``: rows of one group are never on both sides of a fold. A row that cannot be used is left out, with its reason.
"""

import csv
import math
import os
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from mirenc.base.arrays import Float32, Float64
from mirenc.base.errors import ConfigError, IRFileError, MirencError, TaskError, did_you_mean, needs, unknown
from mirenc.base.progress import progress as progress_bar
from mirenc.base.shown import short_repr
from mirenc.decide.features.find_function import find_function, find_function_at
from mirenc.decide.features.opcode_histogram import opcode_histogram
from mirenc.encoder import Embedding, Encoder, Level
from mirenc.llvm import IRModule, Region, regions_of
from mirenc.llvm.inputs.input import Input, path_input
from mirenc.llvm.inputs.projects import command_inputs
from mirenc.llvm.ir.read import module_from
from mirenc.llvm.passes.optimise import Form

Kind = Literal["classes", "numbers"]
Table = str | os.PathLike[str] | Iterable[Mapping[str, Any]]
TABLE_SUFFIXES = (".csv", ".tsv", ".parquet")
_MOST_CLASSES = 10  # whole numbers of more values than this are numbers, not classes
_NUMERIC = 0.9  # share of labels that are numbers, above which the others are mistakes
_LARGEST = 1e150  # magnitude of a number whose square is finite
_LONGEST = 200  # characters of a label
_LINE_DIGITS = 9


@dataclass(frozen=True)
class _Row:
    where: str  # for messages: ``labels.csv, row 3``
    file: str
    function: str
    line: str
    label: str
    group: str


_Entry = tuple[_Row, Region, Float32, Float32, str]  # a row's code: region, vector, histogram and text


@dataclass(eq=False)
class LabelTable:
    """The usable rows of a table; ``level`` says what they label, ``group_by`` where the groups come from."""

    rows: list[_Row]
    level: Level
    group_by: str
    left_out: list[str] = field(default_factory=list)


@dataclass(frozen=True, eq=False)
class LabelledCode:
    """n pieces of code with their labels, embedded; the input of an estimator of scikit-learn."""

    names: list[str]
    labels: NDArray[np.str_] | Float64  # (n,) classes, or numbers
    groups: NDArray[np.str_]  # (n,)
    vectors: Float32  # (n, D) ``purpose="features"`` (`mirenc.Encoder.embed`)
    histogram: Float32  # (n, 66) `opcode_histogram`, whose last column is log(1 + instructions)
    texts: list[str]  # statements, one a line, without names of local values
    built: list[str]  # level that each was built at (`mirenc.llvm.Region`)
    level: Level
    form: Form
    group_by: str
    left_out: list[str]  # why rows of the table are not among the n

    __repr__ = short_repr

    @property
    def shared(self) -> int:
        """How many of the n have the same statements as one of another group, on which their head is trained."""
        groups = Counter(text for text, _ in set(zip(self.texts, self.groups.tolist(), strict=True)))
        return sum(groups[text] > 1 for text in self.texts)


def read_labels(table: Table, *, label: str = "label", group: str | None = None) -> LabelTable:
    """Read a .csv, .tsv or .parquet file, or rows given as mappings, whose files are relative to the working folder.

    ``label`` and ``group`` are names of columns; the latter is ``group`` if left out, and may then be missing.

    Raises IRFileError: no such file; ConfigError: a column is missing, a row is no mapping, or no row is usable.
    """
    name, folder = "the table", Path()
    if isinstance(table, (str, os.PathLike)):
        name, folder = os.fspath(table), Path(table).parent
        table = _records(Path(table))
    records = _cells(table, name)
    columns = list(dict.fromkeys(column for record in records for column in record))
    label, group = label.strip(), None if group is None else group.strip()
    _check_columns(name, columns, label, group)
    has_functions, group = "function" in columns or "line" in columns, group or "group"
    by_file = group not in columns
    labels = [record.get(label, "") for record in records]
    if {text.lower() for text in labels if math.isnan(_number(text))} <= {"", "nan"}:
        labels = ["" if text.lower() == "nan" else text for text in labels]
    data = LabelTable([], "function" if has_functions else "module", "file" if by_file else f"column {group!r}")
    first_path: dict[str, str] = {}  # by what it resolves to, so that one file has one name
    for number, (record, text) in enumerate(zip(records, labels, strict=True), 1):
        values = {key: record.get(key, "") for key in ("file", "function", "line")}
        if "\0" in values["file"]:
            data.left_out.append(f"{name}, row {number}: file {values['file']!r} is not a path")
            continue
        if values["file"]:
            values["file"] = first_path.setdefault(os.path.realpath(folder / values["file"]), values["file"])
        row_group = values["file"] if by_file else record.get(group, "")
        row = _Row(f"{name}, row {number}", **values, label=text, group=row_group)
        needed_values = {"file": row.file, label: row.label, "group": row.group}
        needed_values |= {"function": row.function or row.line} if has_functions else {}
        line = "" if row.function else row.line and _whole_number(row.line)
        if missing := [column for column, value in needed_values.items() if not value]:
            data.left_out.append(f"{row.where}: no {missing[0]}")
        elif len(row.label) > _LONGEST:
            data.left_out.append(f"{row.where}: a label of {len(row.label)} characters; at most {_LONGEST} are allowed")
        elif line is None or (line and not line.isdecimal()):
            data.left_out.append(f"{row.where}: line {row.line!r} is not a whole number")
        elif len(line) > _LINE_DIGITS:
            data.left_out.append(f"{row.where}: a line of {len(line)} digits; at most {_LINE_DIGITS} are allowed")
        else:
            data.rows.append(replace(row, file=str(folder / row.file), line=line))
    if by_file and len({row.file for row in data.rows}) < 2:
        data.group_by = ""
        data.rows = [replace(row, group=row.where) for row in data.rows]
    if not data.rows:
        raise ConfigError(f"{name}: no usable row: {'; '.join(data.left_out[:3]) or 'it is empty'}")
    return data


def _cells(table: Any, name: str) -> list[dict[str, str]]:
    """Text of each row's cells by column. Raises ConfigError: not an iterable of mappings."""
    records = list(table) if isinstance(table, Iterable) else [table]
    for number, record in enumerate(records, 1):
        if not isinstance(record, Mapping):
            problem = f"{name}, row {number}: found {type(record).__name__}; allowed: mappings of columns to values"
            advice = "Give {'file': 'a.ll', 'function': 'f', 'label': 1}; a frame: .to_dict('records') or .to_dicts()"
            raise ConfigError(f"{problem}. {advice}")
    return [{str(key).strip(): _text(value) for key, value in record.items()} for record in records]


def _check_columns(name: str, columns: list[str], label: str, group: str | None) -> None:
    """Raises ConfigError: a needed column is missing, or the name of one has capitals in other places."""
    options = {"file": "", "function": "", "line": "", group or "group": "--group", label: "--label"}
    by_case = {column.lower(): column for column in columns if column not in options}
    for column, option in options.items():
        if column in columns:
            continue
        if similar := by_case.get(column.lower()):
            advice = f"Rename it to {column!r}" + (f", or type: {option} {similar}" if option else "")
            problem = f"no column {column!r}, but {similar!r}; names of columns are case-sensitive"
            raise ConfigError(f"{name}: {problem}. {advice}")
        if column in ("file", label, group):
            hint = f" ({option} COLUMN)" if option else ""
            suggestion = did_you_mean(column, columns) or f"found: {', '.join(columns) or 'no rows'}"
            advice = "A table has the columns file, function or line, label, group"
            raise ConfigError(f"{name}: no column {column!r}; {suggestion}{hint}. {advice}")


def _records(path: Path) -> list[dict[str, Any]]:
    if not path.is_file():
        raise IRFileError(f"{path}: no such file. Give a table: {', '.join(TABLE_SUFFIXES)}")
    if path.suffix == ".parquet":
        with needs("parquet", "a .parquet file needs pyarrow"):
            import pyarrow
            import pyarrow.parquet
        try:
            return pyarrow.parquet.read_table(path).to_pylist()
        except pyarrow.ArrowException as error:
            raise ConfigError(f"{path}: cannot be read as parquet ({error}). Check the file") from None
    try:
        with open(path, newline="", encoding="utf-8-sig") as stream:
            separator = "\t" if path.suffix == ".tsv" else ","
            reader, records = csv.DictReader(stream, delimiter=separator), []
            named = Counter(column.strip() for column in reader.fieldnames or () if column.strip())
            if twice := [column for column, count in named.items() if count > 1]:
                raise ConfigError(f"{path}: {named[twice[0]]} columns are called {twice[0]!r}. Give each its own name")
            for record in reader:
                if extra_cells := record.get(None):  # the cells beyond the last column
                    columns = len(reader.fieldnames or ())
                    problem = f"{path}, line {reader.line_num}: {columns + len(extra_cells)} cells"
                    allowed = f"allowed: {columns}, one for each column of the first line"
                    raise ConfigError(f"{problem}; {allowed}. Put quotes around a cell that contains {separator!r}")
                records.append(record)
            return records
    except (UnicodeDecodeError, csv.Error) as error:
        raise ConfigError(f"{path}: cannot be read as a table ({error}). Save it as CSV in UTF-8") from None


def _text(value: Any) -> str:
    """A cell as text, "" for one that is empty, None or NaN; the text "nan" stays: functions are called so."""
    missing = value is None or (isinstance(value, (float, np.floating)) and math.isnan(value))
    return "" if missing else str(value).strip()


def _number(label: str) -> float:
    try:
        return float(label)
    except ValueError:
        return math.nan


def _whole_number(text: str) -> str | None:
    """A whole number as digits: "1" for "1", "1.0" and "01"; unchanged where a float is inexact. None: another text."""
    try:
        return str(int(text))
    except ValueError:
        number = _number(text)
    if not number.is_integer():
        return None
    return str(int(number)) if abs(number) < 2**53 else text


def kind_of_labels(labels: Iterable[str]) -> Kind:
    """``classes``, but ``numbers`` where 9 of 10 labels are numbers, with fractions or of more than ten values."""
    values = np.array([_number(label) for label in labels])
    finite = values[np.isfinite(values)]
    few_values = len(np.unique(finite)) <= _MOST_CLASSES and bool((finite == np.rint(finite)).all())
    return "numbers" if len(finite) >= _NUMERIC * len(values) and not few_values else "classes"


def embed_labels(
    table: LabelTable,
    encoder: Encoder,
    *,
    kind: Kind | None = None,
    form: Form | None = None,
    commands: str | os.PathLike[str] | None = None,
    progress: bool = False,
) -> tuple[LabelledCode, Kind]:
    """Find and embed the code of each row; ``kind`` of the labels by `kind_of_labels` if left out.

    ``commands`` is a ``compile_commands.json`` with the flags of sources. Raises TaskError: fewer than two rows, groups
    or distinct labels are left.
    """
    kind = kind or kind_of_labels(row.label for row in table.rows)
    if kind not in get_args(Kind):
        raise ConfigError(unknown("kind of labels", kind, get_args(Kind)))
    form = form or encoder.form("features", table.level)
    left_out, rows_of = list(table.left_out), dict[str, list[_Row]]()
    integers = {row.label: _whole_number(row.label) for row in table.rows if kind == "classes"}
    all_whole = None not in integers.values()
    for row in table.rows:
        if kind == "numbers" and math.isnan(_number(row.label)):
            left_out.append(f"{row.where}: label {row.label!r} is not a number")
        elif kind == "numbers" and abs(_number(row.label)) > _LARGEST:
            left_out.append(f"{row.where}: label {row.label!r} is beyond {_LARGEST:g}")
        else:
            row = replace(row, label=(all_whole and integers.get(row.label)) or row.label)
            rows_of.setdefault(row.file, []).append(row)
    flags = {} if commands is None else {_real_path(command): command for command in command_inputs(Path(commands))}
    inputs = [flags.get(_real_path(path_input(file)), path_input(file)) for file in rows_of]
    entries: list[_Entry] = []
    options = replace(encoder.options, form=form)
    with progress_bar("embedding", len(inputs), show=progress) as advance:
        for source, rows in zip(inputs, rows_of.values(), strict=True):
            advance(note=source.name[-40:])
            try:
                module = module_from(source, options)  # read once: its instructions and words are needed, too
                embedding = encoder.embed_parts(module, level=table.level, purpose="features", form=form)
            except MirencError as error:
                suffix = f" (and {len(rows) - 1} more rows)" if len(rows) > 1 else ""
                left_out.append(f"{rows[0].where}{suffix}: {str(error).partition(chr(10))[0]}")
                continue
            entries += _entries_in(module, embedding, rows, left_out)
    if kind == "classes":
        counts = Counter(row.label for row, *_ in entries)
        single_rows = [row for row, *_ in entries if counts[row.label] == 1]
        left_out += [f"{row.where}: class {row.label!r} has one sample" for row in single_rows]
        entries = [entry for entry in entries if counts[entry[0].label] > 1]
    labels = [row.label for row, *_ in entries]
    groups = np.array([row.group for row, *_ in entries])
    if len(set(labels)) < 2 or len(set(groups.tolist())) < 2:
        shortage = "group" if len(set(labels)) > 1 else "label"
        problem = f"{len(entries)} usable rows, and two {shortage}s are needed at least"
        advice = "A column 'group' says which rows belong together" if shortage == "group" else "Label more code"
        if not entries:
            advice = "Correct the table; its paths are relative to the folder that it is in"
        first_problem = f". The first problem: {left_out[0]}" if left_out else ""
        raise TaskError(f"{problem}{first_problem}. {advice}")
    code = LabelledCode(
        names=[row.file if region.level == "module" else f"{row.file}: {region.name}" for row, region, *_ in entries],
        labels=np.array(labels) if kind == "classes" else np.array([_number(label) for label in labels]),
        groups=groups,
        vectors=np.stack([vector for _, _, vector, *_ in entries]),
        histogram=np.stack([histogram for *_, histogram, _ in entries]),
        texts=[text for *_, text in entries],
        built=[region.built for _, region, *_ in entries],
        level=table.level,
        form=form,
        group_by=table.group_by,
        left_out=left_out,
    )
    return code, kind


def _real_path(source: Input) -> str:
    return os.path.realpath(str(source.value))


def _entries_in(module: IRModule, embedding: Embedding, rows: list[_Row], left_out: list[str]) -> list[_Entry]:
    """The entry of each row about one module; a row about the same code as an earlier one is left out."""
    instructions: dict[str, tuple[IRModule, Any]] = {"": (module, None)}
    for part in (module, module.deleted):
        if embedding.level == "function" and part is not None:
            regions = regions_of(part, "function")
            for place, region in enumerate(regions.regions):
                instructions[region.symbol] = (part, regions.instruction[regions.region == place])
    vectors, entries, first_rows = embedding.part("both"), list[_Entry](), dict[int, _Row]()
    for row in rows:
        place = 0
        try:
            if embedding.level == "function" and row.function:
                place = find_function(embedding.regions, row.function, module.name)
            elif embedding.level == "function":
                place = find_function_at(embedding.regions, int(row.line), module.name)
        except TaskError as error:
            left_out.append(f"{row.where}: {error}")
            continue
        if (first_row := first_rows.setdefault(place, row)) is not row:
            disagreement = "" if first_row.label == row.label else f", which has the label {first_row.label!r}"
            left_out.append(f"{row.where}: the same code as {first_row.where}{disagreement}")
            continue
        part, selection = instructions[(region := embedding.regions[place]).symbol]
        forms = part.arrays.form if selection is None else part.arrays.form[selection]
        text = "\n".join(part.forms[form].statement for form in forms.tolist())
        entries.append((row, region, vectors[place], opcode_histogram(part, selection), text))
    return entries
