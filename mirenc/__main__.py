"""``mirenc`` and ``python -m mirenc``: the command line, also for `torchrun -m mirenc pretrain`."""

import gc
import sys


def main() -> None:
    """Run a verb. `mirenc cc`, which a build starts for every file, is run without the rest of the command line."""
    if sys.argv[1:2] == ["cc"] and sys.argv[2:3] not in ([], ["-h"], ["--help"]):
        from mirenc.tools.keep_ir import run_compiler

        run_compiler(sys.argv[2:])
    # Imports make many objects and few that go: to look through them after every 700 is a twentieth of a small file.
    gc.set_threshold(100_000)
    from mirenc.cli import main as run_verb

    run_verb()


if __name__ == "__main__":
    main()
