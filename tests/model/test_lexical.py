"""The lexical view: which words of a statement are terms, and vectors worked out from the terms."""

import zlib

import numpy as np
import pytest

from mirenc.model.config import LexicalConfig, ModelConfig
from mirenc.model.lexical import Lexicon, fit_idf, terms_of
from mirenc.model.pooling import Pool, Pools, make_pool
from mirenc.model.tokenizer import TokenizerConfig

CONFIG = LexicalConfig(width=64, buckets=4096, weight=3.0)
IDF = np.random.default_rng(0).uniform(0.5, 5, 4096).astype(np.float32)


def words(statement: str, **options: bool) -> list[str]:
    """The terms, whether names or not."""
    return [term for term, _ in terms_of(statement, **options)]


@pytest.mark.parametrize(
    ("statement", "terms"),
    [
        ("% = add nuw nsw i32 %, 7", ["add i32", "7"]),
        ("% = add i32 %, 1", ["add i32"]),
        ("store i64 -1, ptr %", ["store i64"]),
        ("% = fcmp fast olt double %, 2.500000e+00", ["fcmp olt double", "2.500000e+00"]),
        ("% = icmp samesign ult i16 %, -300", ["icmp ult i16", "-300"]),
        ("% = sext i32 % to i64", ["sext i32 i64"]),
        ("% = zext nneg <4 x i8> % to <4 x i32>", ["zext <4 x i8> <4 x i32>"]),
        ("% = getelementptr inbounds [16 x i8], ptr %, i64 0, i64 %", ["getelementptr [16 x i8]"]),
        (
            '% = getelementptr inbounds %"struct.a::B.12", ptr %, i32 0, i32 5',
            ["getelementptr %", '%"struct.a::b"', "5"],
        ),
        ("% = load i32, ptr @table, align 4", ["load i32", "@table"]),
        ("% = call i32 @crc32(ptr %, i32 5381)", ["call i32", "@crc32", "5381"]),
        (
            "invoke void @std::vector<int, std::allocator<int>>::push_back(ptr %, ptr %) to label % unwind label %",
            ["invoke void", "@std::vector<int, std::allocator<int>>::push_back"],
        ),
        ("% = call i32 @llvm.smax.i32(i32 %, i32 %)", ["call i32", "@llvm.smax.i32"]),
        ("% = fadd float %, 0x7FF0000000000000", ["fadd float", "0x7ff0000000000000"]),
        ("% = load i32, ptr addrspace(3) %", ["load i32"]),
        ("% = fadd x86_fp80 %, 0xK4000C000000000000000", ["fadd x86_fp80", "0xk4000c000000000000000"]),
        ("ret void", ["ret void"]),
        ('@.str = constant [3 x i8] c"42\\00"', ["@.str", '"42\\00']),
        ("%struct.pair = type { i32, [8 x i8] }", ["%struct.pair"]),
        ("unreachable", ["unreachable"]),
        ("", []),
    ],
)
def test_terms_by_hand(statement: str, terms: list[str]) -> None:
    assert words(statement) == terms


def test_hidden_names_leave_shapes_constants_and_intrinsics() -> None:
    call = "% = call %struct.node @find(ptr @table, i32 99)"
    assert words(call) == ["call %", "%struct.node", "@find", "@table", "99"]
    assert words(call, hide_names=True) == ["call %", "99"]
    assert words("call void @llvm.memcpy.p0.p0.i64(ptr %, ptr %, i64 32, i1 false)", hide_names=True) == [
        "call void",
        "@llvm.memcpy.p0.p0.i64",
        "32",
    ]


def test_a_whole_statement_is_a_term_where_asked_for() -> None:
    assert words("% = add i32 %, 7", whole=True)[-1] == "= % = add i32 %, 7"
    named = "call void @f(i32 7)"
    assert f"= {named}" in words(named, whole=True)
    assert words(named, whole=True, hide_names=True) == ["call void", "7"]


def test_a_definition_has_the_words_of_its_value() -> None:
    assert words('@.str = constant [3 x i8] c"ab\\00"', defines=True) == ["constant [3 x i8]", '"ab\\00']
    table = f"@table = constant [200 x i32] [{', '.join(f'i32 {n // 2}' for n in range(2000, 2200))}]"
    terms = words(table, defines=True)
    assert terms[:3] == ["constant [200 x i32]", "1000", "1001"]  # once each
    assert len(terms) == 64
    shown = "@names = global [2 x ptr] [ptr @first, ptr null]"
    assert words(shown, defines=True) == ["global [2 x ptr]", "@first"]
    assert words(shown, hide_names=True, defines=True) == ["global [2 x ptr]"]


def test_idf_is_how_seldom_a_function_has_a_term() -> None:
    # 1,000 statements: "ret void" is every second, 77 one in a thousand; a function is 50 draws.
    idf = fit_idf(["ret void", "% = add i32 %, 77"], np.array([500, 1]), CONFIG)
    assert idf.shape == (4096,)

    def of(term: str, share: float) -> None:
        assert idf[zlib.crc32(term.encode()) % 4096] == pytest.approx(-np.log(1 - np.exp(-50 * share)), abs=1e-4)

    of("ret void", 500 / 501)
    of("77", 1 / 501)
    of("add i32", 1 / 501)
    of("never seen", 1 / 501)  # as rare as what was seen once


def pools_of(text: Pool, definitions: Pool | None = None) -> Pools:
    return Pools(text, text, definitions)


def by_hand(bags: list[dict[str, int]], weight: dict[str, float] | None = None) -> np.ndarray:
    out = np.zeros((len(bags), CONFIG.width))
    for row, bag in enumerate(bags):
        for term, count in bag.items():
            bits = zlib.crc32(term.encode())
            value = (weight or {}).get(term, 1.0) * np.log1p(count) * IDF[bits % CONFIG.buckets]
            out[row, (bits >> 16 & 0x7FFF) % CONFIG.width] += -value if bits >> 31 else value
    length = np.linalg.norm(out, axis=1, keepdims=True)
    return CONFIG.weight * out / np.where(length > 0, length, 1)


def test_vectors_by_hand() -> None:
    texts = ["% = add i32 %, 7", "unused", "% = mul i32 %, 7", "% = shl i32 %, 7"]
    # Group 0 has text 0 three times and text 2 once; group 1 text 3; group 2 nothing.
    item, group, count = np.array([0, 2, 3]), np.array([0, 0, 1]), np.array([3, 1, 1])
    pool = make_pool(item, group, 3, "sqrt", count=count)
    vectors = Lexicon(CONFIG, IDF).vectors(texts, pools_of(pool))
    assert (vectors.shape, vectors.dtype) == ((3, 64), np.float32)
    expected = by_hand([{"add i32": 3, "7": 4, "mul i32": 1}, {"shl i32": 1, "7": 1}, {}])
    np.testing.assert_allclose(vectors, expected, atol=1e-5)


def test_vectors_remember_texts_but_not_their_places() -> None:
    lexicon = Lexicon(CONFIG, np.ones(4096, np.float32))
    one, none = np.zeros(1, np.int64), np.zeros(0, np.int64)
    first = lexicon.vectors(["ret void", "% = add i32 %, 7"], pools_of(make_pool(one + 1, one, 1, "count")))
    again = lexicon.vectors(["% = add i32 %, 7"], pools_of(make_pool(one, one, 1, "count")))
    np.testing.assert_array_equal(first, again)
    assert not lexicon.vectors([], pools_of(make_pool(none, none, 2, "count"))).any()


def one_group(rows: list[int], texts: list[str], definitions: list[int] | None = None) -> tuple[list[str], Pools]:
    def pool(items: list[int]) -> Pool:
        return make_pool(np.array(items, dtype=np.int64), np.zeros(len(items), np.int64), 1, "count")

    return texts, pools_of(pool(rows), None if definitions is None else pool(definitions))


def test_groups_of_one_text_each() -> None:
    texts = ["% = add i32 %, 7", "ret void", "% = mul i32 %, 9"]
    item, group, count = np.array([2, 0, 1, 0, 0]), np.array([3, 1, 0, 4, 2]), np.array([1, 1, 1, 1, 5])
    vectors = Lexicon(CONFIG, IDF).vectors(texts, pools_of(make_pool(item, group, 5, "count", count=count)))
    add, mul = {"add i32": 1, "7": 1}, {"mul i32": 1, "9": 1}
    expected = by_hand([{"ret void": 1}, add, {"add i32": 5, "7": 5}, mul, add])
    np.testing.assert_allclose(vectors, expected, atol=1e-5)


def test_two_spellings_of_an_address_are_one_word() -> None:
    lexicon = Lexicon(LexicalConfig(width=64, buckets=4096, statements=True), np.ones(4096, np.float32))
    node = "%struct.node = type { i32, ptr }"
    field = "% = getelementptr inbounds nuw %struct.node, ptr %, i32 0, i32 1"
    vectors = lexicon.vectors(*one_group([1], [node, field]))
    other = lexicon.vectors(*one_group([0], ["% = getelementptr inbounds i8, ptr %, i64 8"]))
    np.testing.assert_array_equal(vectors, other)
    # The struct of that name of another module has the field elsewhere; what was remembered does not count.
    wider = lexicon.vectors(*one_group([1], ["%struct.node = type { i128, ptr }", field]))
    np.testing.assert_array_equal(wider, lexicon.vectors(*one_group([0], ["% = getelementptr i8, ptr %, i64 16"])))


def test_a_group_has_the_words_of_the_globals_it_takes() -> None:
    texts = ['@.str = constant [3 x i8] c"ab\\00"', "ret void"]
    with_global = Lexicon(CONFIG, IDF).vectors(*one_group([1], texts, [0]))
    np.testing.assert_allclose(with_global, by_hand([{"ret void": 1, "constant [3 x i8]": 1, '"ab\\00': 1}]), atol=1e-5)
    # A name that a statement and a definition have is there twice, not two words.
    called, table = "call void @f()", "@table = constant ptr @f"
    with_both = Lexicon(CONFIG, IDF).vectors(*one_group([0], [called, table], [1]))
    np.testing.assert_allclose(with_both, by_hand([{"call void": 1, "constant ptr": 1, "@f": 2}]), atol=1e-5)
    none = Lexicon(CONFIG, IDF).vectors(*one_group([1], texts, []))
    np.testing.assert_allclose(none, by_hand([{"ret void": 1}]), atol=1e-5)


@pytest.mark.parametrize("names", [1.0, 0.25, 0.0])
def test_names_weigh_less_in_a_whole_module(names: float) -> None:
    config = CONFIG.model_copy(update={"module_names": names, "statements": True})
    call = "% = call %struct.node @find(ptr @table, i32 99)"
    small, text = "% = add i32 %, 7", "call void @llvm.trap()"
    lexicon = Lexicon(config, IDF)
    group = one_group([0, 1, 2], [call, small, text])
    unnamed = ["call %", "99", "add i32", "7", f"= {small}", "call void", "@llvm.trap", f"= {text}"]
    named = ["%struct.node", "@find", "@table", f"= {call}"]
    bag = dict.fromkeys([*unnamed, *named], 1)
    module = by_hand([bag], dict.fromkeys(named, names))
    np.testing.assert_allclose(lexicon.vectors(*group, module=True), module, atol=1e-5)
    # A part of a module keeps them, and they are in its vector.
    np.testing.assert_allclose(lexicon.vectors(*group), by_hand([bag]), atol=1e-5)
    hidden = Lexicon(config, IDF, hide_names=True).vectors(*group, module=True)
    np.testing.assert_allclose(hidden, by_hand([dict.fromkeys(unnamed, 1)]), atol=1e-5)


def test_a_lexical_view_wants_statements_without_local_names() -> None:
    with pytest.raises(ValueError, match=r"set tokenizer\.normalisation = 'locals'"):
        ModelConfig(tokenizer=TokenizerConfig(normalisation="none"), lexical=LexicalConfig())
