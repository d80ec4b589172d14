"""Builds as they are read: counts and sizes of the IR as it is, vectors and calls of a form of it."""

from pathlib import Path

import numpy as np
import pytest

from mirenc.base.errors import MirencError
from mirenc.encoder import Encoder
from mirenc.encoder.embedding import vector_blocks
from mirenc.llvm.inputs.input import path_input
from mirenc.llvm.passes.find_llvm import EmbeddedEngine
from mirenc.llvm.passes.object_file import elf_functions
from mirenc.search.builds import Build, read_builds
from mirenc.search.pairs import centred

O2 = Path(__file__).parents[1] / "fixtures" / "ir" / "clang-19" / "O2"
HEAD = 'target triple = "x86_64-pc-linux-gnu"\n'
# At -O2 the helper is inlined and deleted: its row comes last there.
HELPER = "define internal i32 @helper(i32 %x) {\n  %y = mul i32 %x, 3\n  ret i32 %y\n}\n"
CALLS = "define i32 @main(i32 %x) ATTRIBUTES {\n  %y = call i32 @helper(i32 %x)\n  ret i32 %y\n}\n"


def stop(error: MirencError) -> None:
    raise error


def read(encoder: Encoder, *folders: Path, **options: object) -> list[Build]:
    named_inputs = [(str(folder), [path_input(path) for path in sorted(folder.glob("*.ll"))]) for folder in folders]
    with EmbeddedEngine() as engine:
        return read_builds(encoder, named_inputs, engine, stop, pytest.fail, **options)  # type: ignore[arg-type]


def write(folder: Path, *files: str) -> Path:
    folder.mkdir()
    for number, text in enumerate(files):
        (folder / f"{number}.ll").write_text(HEAD + text.replace("ATTRIBUTES ", ""), encoding="utf-8")
    return folder


def test_a_build_is_read(encoder: Encoder) -> None:
    files = [O2 / "sorting.ll", O2 / "no.ll", O2 / "parallel_loops.ll"]
    failed: list[str] = []
    warned: list[str] = []
    with EmbeddedEngine() as engine:
        inputs = list(map(path_input, files))
        (build,) = read_builds(
            encoder, [(str(O2), inputs)], engine, lambda error: failed.append(str(error)), warned.append
        )
        sizes = [
            {one.name: one.size for one in elf_functions(engine.compile(path.read_bytes(), ""))}
            for path in (files[0], files[2])
        ]
    assert (len(failed), warned) == (1, [])
    assert "no.ll" in failed[0]
    assert [(one.file, one.symbol) for one in build.functions][:2] == [
        ("sorting.ll", "quick_sort"),
        ("sorting.ll", "search"),
    ]
    assert [one.bytes for one in build.functions] == [
        sizes[one.file != "sorting.ll"][one.symbol] for one in build.functions
    ]
    modules = [encoder.read(files[0]), encoder.read(files[2])]
    assert sum(one.instructions for one in build.functions) == sum(module.instruction_count for module in modules)
    assert sum(one.blocks for one in build.functions) == sum(module.block_count for module in modules)
    assert build.side.file.tolist() == [one.file != "sorting.ll" for one in build.functions]
    names = [one.symbol for one in build.functions]
    called = [(names[caller], names[callee]) for caller, callee in build.side.calls.tolist()]
    assert ("quick_sort", "quick_sort") in called
    assert all(one.loops >= 0 for one in build.functions)
    assert next(one for one in build.functions if one.symbol == "quick_sort").loops > 0


def test_facts_are_of_the_ir_as_it_is_and_vectors_of_the_form(encoder: Encoder, tmp_path: Path) -> None:
    folder = write(tmp_path / "build", HELPER + CALLS)
    widths = vector_blocks(encoder.files.config, "search", "both").values()
    for form, calls, order in (("plain", [[1, 0]], ["helper", "main"]), ("O2", [], ["main", "helper"])):
        (build,) = read(encoder, folder, form=form)
        assert [(one.symbol, one.instructions, dict(one.calls)) for one in build.functions] == [
            ("helper", 2, {}),
            ("main", 2, {"helper": "helper"}),
        ]
        assert (build.form, build.side.calls.tolist()) == (form, calls)
        embedding = encoder.embed_parts(folder / "0.ll", level="function", form=form)  # type: ignore[arg-type]
        assert [region.symbol for region in embedding.regions] == order
        rows = [order.index(one.symbol) for one in build.functions]
        np.testing.assert_allclose(build.side.vectors, centred(embedding.vector[rows], widths), atol=1e-5)


@pytest.mark.parametrize(
    ("small_files", "others", "form"),
    [(0, "#1", "O2"), (1, "#1", "Oz"), (2, "#1", "Oz"), (2, "local_unnamed_addr", "O2"), (2, "#0", "Oz")],
)
def test_oz_is_the_form_of_a_build_for_size_and_one_at_o0(
    encoder: Encoder, tmp_path: Path, small_files: int, others: str, form: str
) -> None:
    def function(words: str) -> str:
        groups = "attributes #0 = { minsize optsize }\nattributes #1 = { noinline optnone }\n"
        return f"define void @f() {words} {{\n  ret void\n}}\n{groups if '#' in words else ''}"

    other = write(tmp_path / "other", function(others))
    # The last file is at -O0; of two levels of equally many functions the first in order counts.
    build = write(tmp_path / "build", *[function("#0")] * small_files, function(""))
    assert [one.form for one in read(encoder, other, build)] == [form, form]
    assert [one.form for one in read(encoder, build, other)] == [form, form]
