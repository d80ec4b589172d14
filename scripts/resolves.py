"""Say what `scripts/test.sh` would bring to a machine whose pip knows PyPI alone; nothing is installed.

    python3.13 scripts/resolves.py

Everything has to have a wheel for the Python that this runs with. Needs the network; a few minutes.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import tempfile
import urllib.request
import venv
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[1]
PINS = ["--constraint", str(CHECKOUT / "constraints.txt")]
# The installations of scripts/test.sh.
COMMANDS = [[*PINS, f"{CHECKOUT}[test]"], [*PINS, "--no-deps", "programl", "IR2Vec==2.1.1"]]


def main() -> None:
    """Resolve, ask for the sizes, and print."""
    with tempfile.TemporaryDirectory() as name:
        venv.create(name, with_pip=True)
        pip = [f"{name}/bin/python", "-m", "pip", "install", "--quiet"]
        # No configuration and none of its variables, but for the certificates of this machine's network.
        environment = {
            key: value for key, value in os.environ.items() if not key.startswith("PIP_") or key == "PIP_CERT"
        }
        environment["PIP_CONFIG_FILE"] = os.devnull
        # An older one loads whole wheels for a dry run.
        subprocess.run([*pip, "--upgrade", "pip"], env=environment, check=True)
        addresses: dict[str, str] = {}
        for command in COMMANDS:
            resolve_command = [*pip, "--dry-run", "--only-binary=:all:", "--report=-", *command]
            report = subprocess.run(resolve_command, env=environment, stdout=subprocess.PIPE, check=True).stdout
            addresses |= {
                item["metadata"]["name"]: item["download_info"]["url"] for item in json.loads(report)["install"]
            }
    del addresses["mirenc"]
    with ThreadPoolExecutor(8) as pool:
        megabytes = dict(zip(addresses, pool.map(size, addresses.values()), strict=True))
    # The pins were taken beside a CPU build of torch, so what they do not name comes with the one for CUDA.
    pinned = re.findall(r"(?m)^([\w.-]+)==", (CHECKOUT / "constraints.txt").read_text(encoding="utf-8"))
    pinned_names = {normalised(name) for name in [*pinned, "IR2Vec"]} - {"torch"}
    cuda = [name for name in megabytes if normalised(name) not in pinned_names]
    print(f"{len(megabytes)} packages, {sum(megabytes.values()):,.0f} MB")
    print(f"of these torch for CUDA: {len(cuda)} packages, {sum(megabytes[name] for name in cuda):,.0f} MB")
    print(" ".join(sorted(cuda)))


def size(address: str) -> float:
    """Of a wheel, in MB, as its server tells it."""
    with urllib.request.urlopen(urllib.request.Request(address, method="HEAD"), timeout=60) as answer:
        return int(answer.headers["Content-Length"]) / 1e6


def normalised(name: str) -> str:
    """A package's name as an index compares it."""
    return re.sub(r"[-_.]+", "-", name).lower()


if __name__ == "__main__":
    main()
