"""What a table records about the machine that it was measured on; nothing that identifies its owner."""

import os
import platform
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

_CPU = Path("/sys/devices/system/cpu/cpu0")
_INSTRUCTION_SETS = ("sse2", "sse4_2", "avx", "avx2", "fma", "avx512f", "avx512vl", "neon", "asimd", "sve")


def describe_machine() -> dict[str, Any]:
    """Processor, cores, caches, memory and system, as far as they are known; no name of host or user."""
    from mirenc.model.threads import usable_cores

    flags = {*_field("flags").split(), *_field("Features").split()}
    try:
        system = platform.freedesktop_os_release().get("PRETTY_NAME") or platform.system()
    except OSError:  # no /etc/os-release
        system = platform.system()
    # Digits only: who builds kernels of their own writes names into the rest.
    release = re.match(r"\d+(\.\d+)*", platform.release())
    return {
        "processor": _field("model name") or platform.processor() or platform.machine(),
        "architecture": platform.machine(),
        "cores": usable_cores(),
        "instruction_sets": [name for name in _INSTRUCTION_SETS if name in flags],
        "caches": _caches(),
        "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
        "system": system,
        "kernel": release[0] if release else "",
    }


def _field(name: str) -> str:
    """A field of the first processor in /proc/cpuinfo; "" where there is none."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    match = re.search(rf"^{re.escape(name)}\s*: (.*)$", text, re.MULTILINE)
    return match[1].strip() if match else ""


def _caches() -> dict[str, str]:
    """Size of each data cache that the first processor sees: ``{"L1": "32K"}``."""
    sizes = {}
    for index in sorted(_CPU.glob("cache/index*")):
        try:
            level, kind, size = ((index / name).read_text().strip() for name in ("level", "type", "size"))
        except OSError:
            continue
        if kind != "Instruction":
            sizes[f"L{level}"] = size
    return sizes


def machine_title(record: dict[str, Any], parts: Sequence[str] = ()) -> str:
    """One line for people: ``AMD EPYC 7763, 2 cores; clang version 19 -O3``.

    It names the devices of the measured ``parts``, and the flags that all these parts share.
    """
    machine = record["machine"]
    count, devices = machine["cores"], machine.get("devices", {})
    part_flags = [record.get("method_flags", {}).get(part, []) for part in parts]
    shared = [flag for flag in part_flags[0] if all(flag in flags for flags in part_flags)] if part_flags else []
    titles = [f"{d['name']} ({d['platform']} {d['driver']})" for d in (devices[p] for p in parts if p in devices)]
    cores = f"{machine['processor']}, {count} core{'s' * (count != 1)}"
    return "; ".join([cores, *titles, f"{record['compiler']} {' '.join([*shared, *record['flags']])}".strip()])
