"""Inputs that would take a batch with them: whatever is wrong with one costs that one alone, and is said in words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import llvmlite.binding as llvm
import pytest

from mirenc.base.errors import IRFileError, IRParseError, IRResourceError, UnexpectedError
from mirenc.encoder import Encoder, pipeline, prepare
from mirenc.llvm import ReadOptions, parse_ir, read_ir

GOOD = "define i32 @f(i32 %x) {\n  %y = mul i32 %x, 3\n  ret i32 %y\n}\n"
OTHER = "define i32 @g(i32 %x) {\n  %y = add i32 %x, 5\n  ret i32 %y\n}\n"


def doubling(times: int) -> bytes:
    """Bitcode of a kilobyte whose one constant prints as ``2**times`` terms: each half of it is shared in memory."""
    chain = "".join(f"  %x{i + 1} = add i64 %x{i}, %x{i}\n" for i in range(times))
    text = (
        f"@g = external global i8\ndefine i64 @f() {{\n  %x0 = ptrtoint ptr @g to i64\n{chain}  ret i64 %x{times}\n}}\n"
    )
    context = llvm.create_context()
    module = llvm.parse_assembly(text, context=context)
    machine = llvm.Target.from_triple("x86_64-unknown-linux-gnu").create_target_machine()
    passes = llvm.create_new_module_pass_manager()
    passes.add_sccp_pass()
    passes.run(module, llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options()))
    return bytes(module.as_bitcode())


@pytest.fixture(scope="module", autouse=True)
def targets() -> None:
    llvm.initialize_all_targets()


def nested(levels: int) -> str:
    """A module whose struct type holds another one, ``levels`` deep, as C++ templates that inherit do."""
    types = ["%s0 = type { i32 }", *(f"%s{i} = type {{ %s{i - 1}, i32 }}" for i in range(1, levels))]
    deepest = f"%s{levels - 1}"
    body = f"  %q = getelementptr {deepest}, ptr %p, i64 1\n  ret ptr %q"
    return "\n".join([*types, f"define ptr @f(ptr %p) {{\n{body}\n}}\n"])


def embedded(encoder: Encoder, inputs: list[Any], **options: Any) -> list[Exception | None]:
    """The error of each input, None where it was embedded."""
    return [outcome.error for outcome in encoder.embed_stream(inputs, **options)]


@pytest.fixture
def small(encoder: Encoder) -> Encoder:
    """An encoder that reads inputs of at most 1 MiB, which print as at most 8."""
    options = ReadOptions(max_bytes=1 << 20)
    return Encoder(encoder.files, encoder.runtime, options=options)


def test_types_may_be_nested_deeper_than_python_recurses(encoder: Encoder) -> None:
    assert embedded(encoder, [nested(5000), GOOD]) == [None, None]


@pytest.mark.parametrize("times", [18, 22])
def test_text_has_a_limit_of_its_own(small: Encoder, times: int) -> None:
    data = doubling(times)
    assert len(data) < 2000
    before, error, after = embedded(small, [GOOD, data, OTHER])
    assert before is None
    assert after is None
    assert isinstance(error, IRResourceError)
    assert "has more than 8 MiB, 8 times the largest input" in str(error)
    assert "Raise --max-bytes" in str(error)


def test_an_instruction_has_a_limit(encoder: Encoder) -> None:
    with pytest.raises(IRResourceError, match="an instruction takes 5,242,872 characters"):
        parse_ir(doubling(17))
    assert embedded(encoder, [doubling(10), GOOD]) == [None, None]


def test_nul_bytes_do_not_end_text(encoder: Encoder, tmp_path: Path) -> None:
    """LLVM would leave out what follows, and say nothing."""
    text = (GOOD + ";" + "x" * 5000 + "\n").encode()
    path = tmp_path / "cut.ll"
    path.write_bytes(text + b"\0\n" + OTHER.encode())
    with pytest.raises(IRFileError, match=rf"cut\.ll: byte {len(text)} of its text is a NUL"):
        read_ir(path)
    assert isinstance(embedded(encoder, [path.read_bytes(), GOOD])[0], IRFileError)


BROKEN = """
define i32 @f(i1 %c) {
entry:
  br i1 %c, label %a, label %a
a:
  %p = phi i32 [ 1, %entry ], [ 2, %entry ]
  ret i32 %p
}
"""


@pytest.mark.parametrize("also_old", [False, True])
def test_what_the_verifier_refuses_stays_refused(also_old: bool) -> None:
    """An older clang would make one of the two values, in silence."""
    old = "@weak = extern_weak global i32\ndefine i1 @g() {\n  ret i1 icmp ne (ptr @weak, ptr null)\n}\n"
    with pytest.raises(IRParseError) as caught:
        parse_ir(BROKEN + old * also_old)
    assert caught.value.by_verifier is not also_old


# -- a fault of mirenc's own -----------------------------------------------------------------------------
class FaultError(Exception):
    """What nobody expects."""


@pytest.fixture
def fault_in(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Makes a function raise for what is of the module ``OTHER``."""

    def install(owner: Any, name: str, concerns: Any) -> None:
        honest = getattr(owner, name)

        def faulty(*values: Any, **options: Any) -> Any:
            if concerns(*values):
                raise FaultError("in vain")
            return honest(*values, **options)

        monkeypatch.setattr(owner, name, faulty)

    return install


def check_one_fault(encoder: Encoder, stage: str, log: Path) -> None:
    good, again, error, last = embedded(encoder, [GOOD, GOOD, OTHER, GOOD], jobs=1)
    assert good is again is last is None
    assert isinstance(error, UnexpectedError)
    assert f"<string>: a fault of mirenc ended it while it was {stage} (FaultError: in vain)" in str(error)
    assert f"the traceback is in {log}" in str(error)
    assert "raise FaultError" in error.traceback
    assert "raise FaultError" in log.read_text()


@pytest.mark.parametrize("stage", ["read", "prepared", "encoded"])
def test_any_exception_is_one_input_s_error(
    encoder: Encoder, fault_in: Any, stage: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "log"
    monkeypatch.setenv("MIRENC_LOG", str(log))
    if stage == "read":
        fault_in(pipeline, "load_input", lambda source, options: b"@g" in source.value)
    elif stage == "prepared":
        fault_in(prepare, "make_sample", lambda module, tokenizer: "@g" in module.text)
    else:
        fault_in(
            prepare.Prepared, "embedding", lambda module, *_: module.blank.content_hash == parse_ir(OTHER).content_hash
        )
    check_one_fault(encoder, stage, log)


def test_a_fault_without_a_log_says_how_to_have_one(
    encoder: Encoder, fault_in: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MIRENC_LOG", raising=False)
    fault_in(prepare, "make_sample", lambda module, tokenizer: True)
    with pytest.raises(UnexpectedError, match="set MIRENC_LOG=FILE for a traceback"):
        encoder.embed(GOOD)


def test_a_lone_surrogate_costs_itself(encoder: Encoder) -> None:
    before, strange, after = embedded(encoder, [GOOD, GOOD.replace("@f", "@\ud800"), OTHER])
    assert before is after is None
    assert isinstance(strange, IRParseError)
    assert embedded(encoder, [GOOD + "; \ud800\n"]) == [None]
