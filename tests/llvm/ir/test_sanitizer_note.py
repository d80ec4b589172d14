"""IR with the checks of a sanitizer or the counters of a profile is read as it is, and one line of a run says so."""

import subprocess
import sys
from pathlib import Path

import pytest

from mirenc.llvm import parse_ir, read_ir
from mirenc.llvm.ir import read

CHECKED = """declare void @{callee}({parameters})
define i32 @f(i32 %x) {{
  call void @{callee}({arguments})
  ret i32 %x
}}
"""


@pytest.fixture(autouse=True)
def _new_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(read._NOTED, "")  # so that it is not there after the test
    monkeypatch.delenv(read._NOTED)


@pytest.mark.parametrize(
    ("callee", "parameters", "arguments"),
    [
        ("__ubsan_handle_add_overflow", "ptr, i64, i64", "ptr null, i64 1, i64 2"),  # as zig cc writes it
        ("__ubsan_handle_add_overflow_minimal", "", ""),
        ("__asan_report_load4", "i64", "i64 0"),
        ("__tsan_func_exit", "", ""),
        ("__msan_warning_noreturn", "", ""),
        ("llvm.ubsantrap", "i8 immarg", "i8 1"),  # -fsanitize-trap
    ],
)
def test_a_sanitizer_is_named_once(
    callee: str, parameters: str, arguments: str, caplog: pytest.LogCaptureFixture
) -> None:
    text = CHECKED.format(callee=callee, parameters=parameters, arguments=arguments)
    parse_ir(text, name="a.ll")
    parse_ir(text, name="b.ll")
    (record,) = caplog.records
    assert record.getMessage().startswith(f"mirenc: warning: a.ll: has checks of a sanitizer ({callee}), ")
    assert "Compile with -fno-sanitize=all" in record.getMessage()


@pytest.mark.parametrize("counters", ["__profc_f", "__llvm_gcov_ctr", "__llvm_gcov_ctr.1"])
def test_counters_of_a_profile_are_named(counters: str, caplog: pytest.LogCaptureFixture) -> None:
    counted = f"  store i64 1, ptr @{counters}\n"
    parse_ir(f"@{counters} = private global i64 0\ndefine void @f() {{\n{counted}  ret void\n}}\n", name="a.ll")
    (record,) = caplog.records
    assert f"a.ll: has counters of a profile or of coverage ({counters}), " in record.getMessage()
    assert "Compile with -fno-profile-generate" in record.getMessage()


def test_a_name_like_a_sanitizers_is_no_check(caplog: pytest.LogCaptureFixture) -> None:
    parse_ir("declare void @__asan_init()\ndefine void @san_() {\n  call void @san_()\n  ret void\n}\n")
    assert not caplog.records


@pytest.mark.needs("zig")
@pytest.mark.parametrize(("flags", "notes"), [((), 1), (("-fno-sanitize=all",), 0)])
def test_zig_adds_checks_unless_it_is_told_not_to(
    flags: tuple[str, ...], notes: int, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    (tmp_path / "f.c").write_text("int f(int *x) { return *x + 1; }\n", encoding="utf-8")
    words = ["-m", "ziglang", "cc", *flags, "-S", "-emit-llvm", "-o", "f.ll", "f.c"]
    subprocess.run([sys.executable, *words], cwd=tmp_path, check=True, capture_output=True)
    read_ir(tmp_path / "f.ll")
    assert len(caplog.records) == notes
