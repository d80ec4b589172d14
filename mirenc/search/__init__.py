"""Vectors in files, compared and searched.

from mirenc.search import index, nearest
table = index(encoder, "project/", level="function")
rows, cosines = nearest(encoder.embed("query.ll", level="function"), table.vectors, k=5)
"""

from mirenc.search.cosines import compare, index, nearest
from mirenc.search.vectors import VECTOR_SUFFIXES, VectorTable, read_vectors

__all__ = ["VECTOR_SUFFIXES", "VectorTable", "compare", "index", "nearest", "read_vectors"]
