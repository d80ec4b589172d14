"""``python -m mirenc``: the command line, also for `torchrun -m mirenc pretrain`."""

from mirenc.cli import main

main()
