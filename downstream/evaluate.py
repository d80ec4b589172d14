"""`mirenc evaluate` as the tables here have it, with the same arguments: ``python downstream/evaluate.py TASK ...``.

It adds the row ``ir2vec`` where the wheel is installed (``pip install --no-deps IR2Vec==2.1.1``), no dependency.
"""

import sys

from ir2vec_row import ir2vec_available, read_piece, vectors_of

from mirenc.cli import main
from mirenc.decide.features.feature_matrix import EXTRA_ROWS, ExtraRow

if __name__ == "__main__":
    if ir2vec_available():
        EXTRA_ROWS["ir2vec"] = ExtraRow(read_piece, vectors_of)
    sys.argv.insert(1, "evaluate")
    main()
