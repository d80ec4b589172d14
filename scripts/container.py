r"""Run the steps of packaging/Containerfile in a bare Debian, where there is no builder, then the command that follows.

    MIRENC_ROOTS=~/.cache/mirenc-container bash scripts/debian_root.sh trixie \
        python3 scripts/container.py embed examples/saxpy.c

It changes the machine that it runs on, so it is for a root of its own. The wheel is built first, as `python -m build`
does outside. The command runs as a user without a home folder, in a copy of the examples' folder.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[1]
NOBODY = 65534


def main() -> None:
    """Take all the steps; one that fails ends it."""
    release = Path("/etc/os-release").read_text(encoding="utf-8")
    if os.getuid() != 0 or not shutil.which("apt-get"):
        sys.exit("error: this is no Debian root. Start it by scripts/debian_root.sh, as its first lines say")
    subprocess.run([sys.executable, "-m", "venv", "/tmp/builder"], check=True)
    wheel = ["/tmp/builder/bin/pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", "dist", "."]
    subprocess.run(wheel, cwd=CHECKOUT, check=True)
    environment, entry = dict(os.environ), [""]
    text = (CHECKOUT / "packaging" / "Containerfile").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    for step in filter(None, re.sub(r"\\\n\s*", "", "\n".join(lines)).splitlines()):
        print(f"-- {step}", flush=True)
        word, _, arguments = step.partition(" ")
        if word == "FROM":
            name = arguments.removeprefix("debian:").removesuffix("-slim")
            if f"VERSION_CODENAME={name}" not in release:
                sys.exit(f"error: the root is not {arguments}. Type: bash scripts/debian_root.sh {name} ...")
        elif word == "RUN":
            subprocess.run(["sh", "-c", arguments], env=environment, cwd="/", check=True)
        elif word == "COPY":
            *patterns, target = arguments.split()
            Path(target).mkdir(parents=True, exist_ok=True)
            for source in [path for pattern in patterns for path in CHECKOUT.glob(pattern)]:
                shutil.copy(source, target)
        elif word == "ENV":
            environment |= dict(pair.split("=", 1) for pair in arguments.split())
        elif word == "WORKDIR":
            work_folder = shutil.copytree(CHECKOUT / "examples", Path(arguments, "examples"), dirs_exist_ok=True).parent
        elif word == "ENTRYPOINT":
            entry = json.loads(arguments)
        else:
            sys.exit(f"error: this script does not know {word}. Add it here, or leave it out there")
    environment["HOME"] = "/nonexistent"
    user = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
    command = [*entry, *sys.argv[1:]]
    sys.exit(subprocess.run(command, env=environment, cwd=work_folder, check=False, **user).returncode)


if __name__ == "__main__":
    main()
