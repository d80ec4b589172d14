"""Files of vectors: write, read, compare and search them.

from mirenc.search import index, nearest
encoder = mirenc.load("mirenc-search")
table = index(encoder, "project/", level="function")
rows, cosines = nearest(encoder.embed("query.ll", level="function"), table.vectors, k=5)
"""

from mirenc.base.cosines import compare as compare, nearest as nearest
from mirenc.search.table import Maker as Maker, VectorTable as VectorTable, index as index
from mirenc.search.vectors import (
    VECTOR_SUFFIXES as VECTOR_SUFFIXES,
    VectorWriter as VectorWriter,
    check_vectors_output as check_vectors_output,
    read_vectors as read_vectors,
    write_vectors as write_vectors,
)
