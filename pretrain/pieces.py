"""The IR of a table of passes as a folder for ``mirenc corpus build``: ``<project>/<ir_hash>.ll``.

    python pretrain/pieces.py TABLE PIECES
    mirenc corpus build PIECES -o CORPUS --tokenizer OF_THE_RUN'S_CORPUS/tokenizer.json

The stage ``compiler`` of a run finds the pieces in that corpus by their hashes.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from mirenc.decide.tables.compiled import read_compiled, read_piece_ir


def main() -> None:
    """Write the files."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("table", type=Path, help="folder that `mirenc label` wrote, with ir.parquet")
    parser.add_argument("folder", type=Path)
    args = parser.parse_args()
    pieces = read_compiled(args.table).pieces
    for piece, text in zip(pieces, read_piece_ir(args.table, pieces), strict=True):
        path = args.folder / piece.project / f"{piece.ir_hash}.ll"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode("utf-8", "surrogateescape"))
    print(f"{args.folder}: {len(pieces)} pieces")


if __name__ == "__main__":
    main()
