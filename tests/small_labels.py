"""A table of labels in miniature: generated functions that add or multiply, of which a label is known."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from pathlib import Path

HEADER = ["file", "function", "label", "group"]


def write_module(path: Path, functions: dict[str, tuple[str, int]]) -> None:
    """A module whose functions do one operation so many times."""
    text = ""
    for name, (operation, times) in functions.items():
        lines = [f"  %v{step} = {operation} i32 %{f'v{step - 1}' if step else 'x'}, 7\n" for step in range(times)]
        text += f"define i32 @{name}(i32 %x) {{\n{''.join(lines)}  ret i32 %v{times - 1}\n}}\n"
    path.write_text(text, encoding="utf-8")


def write_table(path: Path, rows: Iterable[Iterable[object]], header: list[str] = HEADER, delimiter: str = ",") -> Path:
    with open(path, "w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream, delimiter=delimiter)
        writer.writerow(header)
        writer.writerows(rows)
    return path


def write_labels(folder: Path) -> tuple[Path, Path]:
    """Tables of classes (the operation) and of numbers (ten times how often): 48 functions of 12 files, 6 groups."""
    classes, numbers = [], []
    for file in range(12):
        functions = {
            f"f{place}": (("add", "mul", "xor")[(file + place) % 3], 1 + (5 * file + 3 * place) % 17)
            for place in range(4)
        }
        write_module(folder / f"m{file}.ll", functions)
        for name, (operation, times) in functions.items():
            row = (f"m{file}.ll", name)
            classes.append((*row, operation, f"project{file // 2}"))
            numbers.append((*row, 10 * times + 0.5, f"project{file // 2}"))
    return write_table(folder / "classes.csv", classes), write_table(folder / "numbers.csv", numbers)
