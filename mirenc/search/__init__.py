"""Vectors in files, compared and searched.

from mirenc.search import index, nearest
table = index(encoder, "project/", level="function")
rows, cosines = nearest(encoder.embed("query.ll", level="function"), table.vectors, k=5)
"""

from mirenc.cosines import compare, nearest
from mirenc.search.table import Maker, VectorTable, index
from mirenc.search.vectors import VECTOR_SUFFIXES, VectorWriter, check_vectors_output, read_vectors, write_vectors

__all__ = [
    "VECTOR_SUFFIXES",
    "Maker",
    "VectorTable",
    "VectorWriter",
    "check_vectors_output",
    "compare",
    "index",
    "nearest",
    "read_vectors",
    "write_vectors",
]
