"""The lexical view: the words of a piece of code, untrained, beside what the encoders learned.

A statement's terms are its constants but 0 and 1, the functions and types that it names, and the shape of its operation
(``add i32``, ``sext i32 i64``), in one spelling (`mirenc.llvm.ir.plain_statement`), lower-cased as a corpus has them. A
part of a module has the words of the globals that it takes, too: of its strings and tables, which no compiler changes.

    v_g = w unit(sum over terms j of log(1 + times j stands in g) idf_j n_j s_j e_h(j)),  s_j in {-1, 1}

In a whole module ``n_j`` is less than 1 for names, which tell the library it is written against. ``h`` and ``s`` are
bits of a hash (signed feature hashing: Weinberger et al., "Feature Hashing for Large Scale Multitask Learning", ICML
2009); ``idf`` is a table over other bits of it, fitted on the training modules or on IR (``pretrain/words.py``).
"""

import re
import zlib
from collections.abc import Iterable, Sequence

import numpy as np

from mirenc.base.arrays import Float32, Int64, Integer, spread, starts
from mirenc.llvm.ir.grammar import CASTS
from mirenc.llvm.ir.plain_statement import Layout, plain_statement
from mirenc.model.config import LexicalConfig
from mirenc.model.pooling import Pools

# Initialisers of globals may be megabytes; their first words tell enough.
_MAX_CHARACTERS = 2048
# Of a definition: a table has its first words, and not as many as all the rest of a function.
_MAX_TERMS = 64
_MAX_REMEMBERED = 1 << 17  # texts; some ten terms each
_FUNCTION_SIZE = 50  # statements
_SLICE = 1 << 13  # groups at a time, so that single instructions take no memory of their own
_NO_HASHES = np.zeros(0, dtype=np.int64)
_NAME_BIT = 1 << 32  # beside the 32 bits of a term's hash: it is a name

_FLAGS = (
    "nuw|nsw|exact|inbounds|nusw|nneg|disjoint|samesign|inrange|volatile|atomic|weak|inalloca|swifterror"
    "|fast|nnan|ninf|nsz|arcp|contract|afn|reassoc"
)
# A type as far as a shape needs it: brackets in brackets are cut at the first that closes.
_TYPE = r'(?:[\[<{][^\]>}]*[\]>}]+|%"[^"]*"|%[\w.$:]+|[a-z]\w*)'
_OPERATION = re.compile(
    rf"(?:% = )?(?:(?:must|no)?tail )?([a-z]\w*)(?: (?:{_FLAGS})(?:\([^)]*\))?)*"
    rf"(?: (eq|ne|[su][gl][te]|[ou](?:eq|ne|[gl][te])|ord|uno|true|false)\b)?(?: ({_TYPE}))?"
)
_CAST = re.compile(rf" to ({_TYPE})$")
_WORDS = re.compile(
    r'(?<![@%])c?("[^"]*)"?'  # a string, perhaps cut
    r'|@("[^"]*"|(?:[-\w:~$.]|<[^()@]*>)+)'  # a symbol; demangled ones have their templates' arguments
    r'|%("[^"]*"|[\w.$:]+)'  # a named type: local values have no names here
    r"|(?:addrspace\(\d+|[a-z_][\w.]*|[\[<]\d+ x|, align \d+|[!#]\d+)"  # digits that are no constants
    r"|(-?(?:0x[hklmr]?[0-9a-f]+|\d[\d.]*(?:e[-+]\d+)?))"
)
# A number at the end tells two of one name apart in a file: an accident of the rest of it.
_NUMBER_SUFFIX = re.compile(r"(?:\.\d+)+(?=\"?$)")
_NAMED_TYPE = re.compile(r'%(?:"[^"]*"|[\w.$:]+)')
# Written this way by LLVM 22; 0 and 1 are everywhere.
_COMMON_NUMBERS = frozenset({"0", "1", "-1", "0.000000e+00", "1.000000e+00"})


def terms_of(
    statement: str, *, whole: bool = False, hide_names: bool = False, defines: bool = False
) -> list[tuple[str, bool]]:
    r"""The terms of a normalised statement, as often as they stand in it, each with whether it is a name or has one.

    ``statement`` is as `mirenc.llvm.ir.plain_statement.plain_statement` spells it. With ``whole`` it is a term, too;
    ``hide_names`` leaves out the names of functions, globals and types, not LLVM's intrinsics, which are operations.
    ``defines`` asks what a global is: the distinct terms of its definition without its name, the first `_MAX_TERMS`.

    Examples
    --------
    >>> terms_of("% = call i32 @crc32(ptr %, i32 5381)")
    [('call i32', False), ('@crc32', True), ('5381', False)]
    >>> terms_of('@.str = constant [6 x i8] c"hello\\00"', defines=True)
    [('constant [6 x i8]', False), ('"hello\\00', False)]
    """
    value = statement.partition(" = ")[2] if defines else statement
    text = value[:_MAX_CHARACTERS].lower()
    terms: list[tuple[str, bool]] = []
    has_name = False
    operation = _OPERATION.match(text)
    if operation is not None:
        shape = " ".join(filter(None, operation.groups()))
        if operation[1] in CASTS and (cast := _CAST.search(text)) is not None:
            shape += f" {cast[1]}"
        # A type's name is a term of its own.
        terms.append((_NAMED_TYPE.sub("%", shape) if "%" in shape else shape, False))
    for string, symbol, kind, number in _WORDS.findall(text):
        if number:
            if number not in _COMMON_NUMBERS:
                terms.append((number, False))
        elif string:
            terms.append((string, False))
        elif symbol or kind:
            is_name = not symbol.startswith("llvm.")
            has_name |= is_name
            terms.append((("@" if symbol else "%") + _NUMBER_SUFFIX.sub("", symbol or kind), is_name))
    if whole:
        terms.append((f"= {text}", has_name))
    terms = [term for term in terms if not (hide_names and term[1])]
    return list(dict.fromkeys(terms))[:_MAX_TERMS] if defines else terms


def fit_idf(texts: Iterable[str], counts: Integer, config: LexicalConfig) -> Float32:
    """(buckets,) -log P(a function of `_FUNCTION_SIZE` statements has a term), from U statements and counts (U,)."""
    times = np.zeros(config.buckets)
    texts = list(texts)
    layout = Layout(texts)  # of several types of one name, the first
    for text, count in zip(texts, counts.tolist(), strict=True):
        terms = terms_of(plain_statement(text, layout), whole=config.statements)
        times[np.unique(_hash_terms(term for term, _ in terms) % config.buckets)] += count
    # A term that training never saw is as rare as one that it saw once.
    share = np.maximum(times, 1) / max(int(counts.sum()), 1)
    return -np.log(-np.expm1(-_FUNCTION_SIZE * share)).astype(np.float32)


def _hash_terms(terms: Iterable[str]) -> Int64:
    return np.array([zlib.crc32(term.encode("utf-8", "surrogateescape")) for term in terms], dtype=np.int64)


class Lexicon:
    """Texts and pools to lexical vectors; ``idf`` (buckets,) is of `fit_idf`, ``hide_names`` as of `terms_of`."""

    def __init__(self, config: LexicalConfig, idf: Float32, *, hide_names: bool = False) -> None:
        self.config = config
        self.hide_names = hide_names
        self._idf = idf
        self._memory: dict[str, Int64] = {}

    def vectors(self, texts: Sequence[str], pools: Pools, *, module: bool = False) -> Float32:
        """Lexical vectors (G, width) float32 of groups, of length `LexicalConfig.weight`; 0 for one without terms.

        ``module`` says that a group is a whole module, where names count as `LexicalConfig.module_names` has it.
        """
        name_weight = self.config.module_names if module else 1.0
        hashed_terms, row, group, count = self.memberships(texts, pools)
        groups = pools.text.groups
        if len(group) != groups or (np.bincount(group) != 1).any():
            return self._pool(hashed_terms, row, group, count, groups, name_weight)
        # One text a group, as of instructions: equal ones have equal vectors, and a module has few different ones.
        key = row * (int(count.max(initial=0)) + 1) + count
        _, first, inverse = np.unique(key, return_index=True, return_inverse=True)
        vectors = self._pool(hashed_terms, row[first], np.arange(len(first)), count[first], len(first), name_weight)
        return vectors[inverse[np.argsort(group)]]

    def memberships(self, texts: Sequence[str], pools: Pools) -> tuple[list[Int64], Int64, Int64, Int64]:
        """Hashes of each row's terms; row, group and count of every membership."""
        layout = Layout(texts)
        statements, row = np.unique(pools.text.item, return_inverse=True)
        hashed_terms = [self._term_hashes(plain_statement(texts[text], layout)) for text in statements.tolist()]
        group, count = pools.text.group, pools.text.count
        if pools.definitions is not None:
            definitions, definition_row = np.unique(pools.definitions.item, return_inverse=True)
            hashed_terms += [self._term_hashes(texts[text], defines=True) for text in definitions.tolist()]
            row = np.concatenate([row, definition_row + len(statements)])
            group = np.concatenate([group, pools.definitions.group])
            count = np.concatenate([count, pools.definitions.count])
        return hashed_terms, row, group, count

    def _pool(
        self, hashed_terms: list[Int64], row: Int64, group: Int64, count: Int64, groups: int, name_weight: float
    ) -> Float32:
        """Vectors of the groups, from the hashes of each row's terms and from memberships: row, group and count."""
        # Terms are told apart by their hash alone: among those of one module two seldom share 32 bits.
        distinct_hashes, term = np.unique(np.concatenate([_NO_HASHES, *hashed_terms]), return_inverse=True)
        length = np.array([len(hashes) for hashes in hashed_terms], dtype=np.int64)
        start = starts(length)
        width = self.config.width
        column = (distinct_hashes >> 16 & 0x7FFF) % width
        weights = np.where(distinct_hashes >> 31 & 1, -1.0, 1.0) * self._idf[distinct_hashes % self.config.buckets]
        weights *= np.where(distinct_hashes & _NAME_BIT, name_weight, 1.0)
        order = np.argsort(group, kind="stable")
        group, row, count = group[order], row[order], count[order]
        result = np.empty((groups, width), dtype=np.float32)
        for first in range(0, groups, _SLICE):
            size = min(_SLICE, groups - first)
            low, high = np.searchsorted(group, (first, first + size))
            # Every membership as the terms of its text.
            terms = length[row[low:high]]
            term_row = term[spread(start[row[low:high]], start[row[low:high] + 1])[0]]
            key = np.repeat(group[low:high] - first, terms) * max(len(distinct_hashes), 1) + term_row
            pair, member = np.unique(key, return_inverse=True)
            times = np.bincount(member, np.repeat(count[low:high], terms), len(pair))
            owner, term_row = np.divmod(pair, max(len(distinct_hashes), 1))
            sums = np.bincount(owner * width + column[term_row], np.log1p(times) * weights[term_row], size * width)
            sums = sums.reshape(size, width)
            norm = np.sqrt((sums * sums).sum(1, keepdims=True))
            result[first : first + size] = sums * (self.config.weight / np.where(norm > 0, norm, 1))
        return result

    def _term_hashes(self, text: str, *, defines: bool = False) -> Int64:
        """Hashes of the terms of a statement or, with ``defines``, of a global's definition; remembered."""
        key = f"\0{text}" if defines else text
        hashes = self._memory.get(key)
        if hashes is None:
            if len(self._memory) >= _MAX_REMEMBERED:
                self._memory = {}
            with_statement = self.config.statements and not defines
            terms = terms_of(text, whole=with_statement, hide_names=self.hide_names, defines=defines)
            names = np.array([_NAME_BIT * is_name for _, is_name in terms], dtype=np.int64)
            hashes = self._memory[key] = _hash_terms(term for term, _ in terms) | names
        return hashes
