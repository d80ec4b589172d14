"""What a table says about a machine: enough to compare, and nothing that is private."""

from __future__ import annotations

import getpass
import json
import platform
from pathlib import Path
from typing import Any

import pytest

from mirenc.tools.measure.machine import describe_machine, machine_title


def test_a_machine_is_described_without_its_name() -> None:
    machine = describe_machine()
    assert machine["cores"] >= 1
    assert machine["memory_gib"] > 0
    assert machine["processor"]
    text = json.dumps(machine)
    for private in (platform.node(), str(Path.home())):
        assert private not in text
    assert getpass.getuser() not in text.split()


def test_the_title_is_for_people() -> None:
    record = {"machine": {"processor": "AMD EPYC", "cores": 2}, "compiler": "clang version 19.1.7", "flags": ["-O3"]}
    assert machine_title(record) == "AMD EPYC, 2 cores; clang version 19.1.7 -O3"
    record = {**record, "machine": {"processor": "Z80", "cores": 1}, "flags": []}
    assert machine_title(record) == "Z80, 1 core; clang version 19.1.7"


def test_a_system_without_a_release_file_has_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> dict[str, str]:
        raise FileNotFoundError

    monkeypatch.setattr(platform, "freedesktop_os_release", missing)
    assert describe_machine()["system"] == platform.system()


def test_the_title_has_the_flags_of_all_parts() -> None:
    record: dict[str, Any] = {
        "machine": {"processor": "Z80", "cores": 1},
        "compiler": "clang",
        "flags": ["-Ix"],
        "method_flags": {"sse2": ["-O3", "-mllvm", "-x", "-march=a"], "avx2": ["-O3", "-mllvm", "-x", "-march=b"]},
    }
    assert machine_title(record, ["sse2", "avx2"]) == "Z80, 1 core; clang -O3 -mllvm -x -Ix"
    assert machine_title(record, ["avx2"]) == "Z80, 1 core; clang -O3 -mllvm -x -march=b -Ix"


def test_the_title_names_the_devices_that_were_measured() -> None:
    devices = {part: {"name": part.upper(), "platform": "CUDA", "driver": "12.4"} for part in ("one", "two")}
    record = {"machine": {"processor": "Z80", "cores": 1, "devices": devices}, "compiler": "clang", "flags": []}
    assert machine_title(record, ["two"]) == "Z80, 1 core; TWO (CUDA 12.4); clang"
