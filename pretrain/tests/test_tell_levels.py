"""Figures of levels that are told, against a folder whose answers are counted by hand."""

import json
from pathlib import Path
from types import ModuleType

from mirenc.llvm.sources.ir_folder import IRFolder, IRRecord

RECIPE = "tell_levels"
MEMORY = "define i32 @f(i32 %x) {\n  %a = alloca i32\n  store i32 %x, ptr %a\n  ret i32 %x\n}\n"
REGISTERS = "define i32 @f(i32 %x) local_unnamed_addr {\n  ret i32 %x\n}\n"
SMALL = "define i32 @f(i32 %x) local_unnamed_addr #0 {\n  ret i32 %x\n}\nattributes #0 = { optsize }\n"


def add(folder: IRFolder, file: str, level: str, ir: str, project: str = "p") -> None:
    record = IRRecord(project, "1", file, "c+openmp", level, "clang-19", str(hash(ir)), len(ir), "ok")
    folder.add(record, ir.encode())


def test_builds_of_equal_ir_count_each(script: ModuleType, tmp_path: Path) -> None:
    with IRFolder(tmp_path / "pairs" / "clang-19") as folder:
        for level, ir in {"O0": MEMORY, "O1": REGISTERS, "O2": REGISTERS, "O3": REGISTERS, "Oz": SMALL}.items():
            add(folder, "a.c", level, ir)
        add(folder, "b.c", "Os", REGISTERS + "; its attributes were taken off\n", project="q")
        folder.add(IRRecord("p", "1", "c.c", "c", "O0", "clang-19", "", 0, "failed"))
    script.main([str(tmp_path / "out"), f"written={tmp_path / 'pairs'}"])
    record = json.loads((tmp_path / "out.json").read_text())["written"]
    assert (record["projects"], record["builds"], record["right"], record["unread"]) == (2, 6, 0.6667, 0)
    assert record["same"] == 1  # -O1, whose IR is that of -O2; no compiler made that of b.c at -O2
    assert record["modules"] == {
        "O0": {"O0": 1},
        "O1": {"O2": 1},
        "O2": {"O2": 1},
        "O3": {"O2": 1},
        "Os": {"O2": 1},
        "Oz": {"Os": 1},
    }
    assert record["languages"] == {"c": {"builds": 6, "right": 0.6667}}
    assert record["functions"]["levels"]["O1"] == 0.0


def test_a_cap_takes_the_same_sources_at_every_level(script: ModuleType, tmp_path: Path) -> None:
    with IRFolder(tmp_path / "pairs" / "clang-19") as folder:
        for number in range(9):
            for level, ir in {"O0": MEMORY, "Oz": SMALL}.items():
                add(folder, f"{number}.c", level, ir.replace("@f", f"@f{number}"))
    record = script.level_figures(tmp_path / "pairs", 4)
    assert record["modules"] == {"O0": {"O0": 4}, "Oz": {"Os": 4}}
    files = {build.file for _, builds in script.builds_of(tmp_path / "pairs" / "clang-19", 4) for build in builds}
    assert len(files) == 4
