"""ProGraML's program: what is made of its answer, and what is said when it fails.

The failures are played by small shell scripts in the program's place: a missing library or a crash
cannot be ordered.
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
from pathlib import Path

import llvm2graph
import pytest
from llvm2graph import build_programl, find_programl

from mirenc.base.errors import GraphError, IRResourceError, MissingExtraError, ToolchainError
from mirenc.model.graph import Flow, NodeKind

# Names of functions and nodes in no order a builder would choose: g's nodes before f's.
ANSWER = """{
  "node": [
    {"text": "[external]"},
    {"text": "ret", "function": 1,
     "features": {"feature": {"full_text": {"bytes_list": {"value": ["cmV0IHZvaWQ="]}}}}},
    {"text": "; undefined function", "function": 2,
     "features": {"feature": {"full_text": {"bytes_list": {"value": [""]}}}}},
    {"text": "call",
     "features": {"feature": {"full_text": {"bytes_list": {"value": ["Y2FsbCB2b2lkIEBnKCk="]}}}}},
    {"type": "VARIABLE", "text": "i32"},
    {"type": "CONSTANT", "text": "i8*"}
  ],
  "edge": [
    {"flow": "CALL", "target": 3},
    {"source": 3, "target": 3, "position": 2},
    {"flow": "DATA", "source": 5, "target": 3, "position": 1}
  ],
  "function": [{"name": "f"}, {"name": "g"}, {"name": "h"}]
}"""


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Put a shell script in the program's place."""

    def put(script: str) -> Path:
        path = tmp_path / "llvm2graph-10"
        path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
        path.chmod(0o755)
        monkeypatch.setattr(llvm2graph, "find_programl", lambda: path)
        return path

    return put


def test_answer_becomes_arrays(program) -> None:
    program(f"cat > /dev/null; cat <<'END'\n{ANSWER}\nEND")
    graph = build_programl("define void @f() { ... }")
    assert graph.functions == ["f", "g", "h"]
    kinds = [NodeKind(kind).name for kind in graph.node_kind]
    assert kinds == ["INSTRUCTION"] * 4 + ["VARIABLE", "CONSTANT"]
    # Left out means function 0, but for what is in no function.
    assert graph.node_function.tolist() == [-1, 1, 2, 0, 0, -1]
    assert graph.node_text[5] == "i8*"
    assert graph.node_full_text[:4] == [
        "[external]",
        "ret void",
        "; undefined function",
        "call void @g()",
    ]
    assert graph.edge_index.tolist() == [[0, 3, 5], [3, 3, 3]]
    assert graph.edge_flow.tolist() == [Flow.CALL, Flow.CONTROL, Flow.DATA]
    assert graph.edge_position.tolist() == [0, 2, 1]
    # In the order of the functions; a declared function's node is no instruction.
    assert graph.instruction_node.tolist() == [3, 1]


@pytest.mark.parametrize("answer", ["no json", "{}", '{"node": [{"text": "x", "type": "TYPE"}]}'])
def test_strange_answer(program, answer: str) -> None:
    program(f"cat > /dev/null; echo '{answer}'")
    with pytest.raises(GraphError, match=r"no program graph.*pip install --no-deps programl==0\.3\.2"):
        build_programl("x")


def test_wheel_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"pip install --no-deps programl==0\.3\.2") as caught:
        build_programl("x")
    assert isinstance(caught.value, ImportError)


def test_wheel_without_program(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    spec = importlib.machinery.ModuleSpec("programl", None, is_package=True)
    spec.submodule_search_locations = [str(tmp_path)]
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: spec)
    with pytest.raises(MissingExtraError, match=r"llvm2graph-10"):
        find_programl()


def test_shared_library_missing(program) -> None:
    program(
        "echo 'llvm2graph-10: error while loading shared libraries: libtinfo.so.5: "
        "cannot open shared object file: No such file or directory' >&2; exit 127"
    )
    with pytest.raises(ToolchainError, match=r"libtinfo\.so\.5 is missing.*Debian package libtinfo5"):
        build_programl("x")


def test_other_machine(program) -> None:
    program("").write_bytes(b"\x7fELF of another machine")
    with pytest.raises(ToolchainError, match="x86-64 Linux"):
        build_programl("x")


def test_crash(program) -> None:
    program("cat > /dev/null; echo 'Assertion failed' >&2; kill -SEGV $$")
    with pytest.raises(GraphError, match=r"^a\.ll: llvm2graph-10 died of SIGSEGV.*Assertion failed"):
        build_programl("x", name="a.ll")


def test_time_out(program) -> None:
    program("exec sleep 60")
    with pytest.raises(GraphError, match=r"did not finish within 0\.2 s"):
        build_programl("x", timeout=0.2)


def test_memory(program) -> None:
    program('cat > /dev/null; echo "E $(ulimit -v) KiB" >&2; exit 2')
    with pytest.raises(GraphError, match="E 1048576 KiB"):
        build_programl("x", memory_limit=2**30)
    program("cat > /dev/null; echo 'LLVM ERROR: out of memory' >&2; kill -ABRT $$")
    with pytest.raises(IRResourceError, match=r"^a\.ll: llvm2graph-10 ran out of memory \(limit 1024 MiB\)"):
        build_programl("x", name="a.ll", memory_limit=2**30)


def test_large_input_to_a_program_that_does_not_read_it(program) -> None:
    program("echo 'E 2026-01-31 12:00:00 [programl/bin/llvm2graph.cc:142] 3:7: error: expected type' >&2; exit 2")
    with pytest.raises(GraphError, match="line 3, column 7: expected type"):
        build_programl("x" * 1_000_000)


@pytest.mark.needs("llvm2graph-10")
def test_refused_ir() -> None:
    with pytest.raises(GraphError, match=r"^new\.ll: .*line 2, column 14: expected type.*LLVM 10") as caught:
        build_programl("\ndefine i32 @f(ptr %x) { ret i32 0 }", name="new.ll")
    assert isinstance(caught.value, ValueError)


@pytest.mark.needs("llvm2graph-10")
def test_text_and_bytes_are_one() -> None:
    text = "define i32 @f(i32* %x) {\n  %v = load i32, i32* %x, align 4\n  ret i32 %v\n}\n"
    graph, other = build_programl(text), build_programl(text.encode())
    assert graph.node_full_text == other.node_full_text
    assert graph.node_full_text[1] == "%v = load i32, i32* %x, align 4"
    assert graph.instruction_node.tolist() == [1, 2]
