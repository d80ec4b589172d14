"""The tokenizer: what it promises about every statement, the odd ones too, and its file."""

import hashlib
import itertools
import json
import string
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from tokenizers import Tokenizer

from mirenc.base.errors import TokenizerError
from mirenc.model.tokenizer import (
    CLS,
    MASK,
    PAD,
    SEP,
    SPECIAL_TOKENS,
    UNK,
    IRTokenizer,
    TokenizerConfig,
    TokenizerReport,
    train_tokenizer,
)

LIMIT = 64

# Printable ASCII, so all of it comes back.
ODD = [
    "",
    " ",
    "   ",
    " leading and trailing ",
    "two  spaces",
    "#",
    "##",
    "## ##a a##b",
    "[CLS]",
    "[UNK] [SEP] [PAD] [MASK]",
    "Upper CASE and iNt32_T",
    string.punctuation,
    " ".join(string.punctuation),
    "0x1.8p+1 1e-05 -7",
    "q" * 62,
]


def test_special_tokens_stand_first_in_the_order_of_the_paper(tokenizer: IRTokenizer) -> None:
    assert SPECIAL_TOKENS == ("[UNK]", "[CLS]", "[SEP]", "[PAD]", "[MASK]")
    assert (UNK, CLS, SEP, PAD, MASK) == (0, 1, 2, 3, 4)
    assert tokenizer.vocab[:5] == list(SPECIAL_TOKENS)


def test_a_statement_begins_with_cls_and_ends_with_sep(tokenizer: IRTokenizer) -> None:
    assert tokenizer.encode("") == [CLS, SEP]
    ids = tokenizer.encode("ret void")
    assert (ids[0], ids[-1]) == (CLS, SEP)
    assert not set(ids[1:-1]) & set(range(5))


def test_decoding_gives_every_fixture_statement_back(tokenizer: IRTokenizer, fixture_statements: list[str]) -> None:
    wrong = []
    for statement in fixture_statements:
        ids = tokenizer.encode(statement)
        decoded = tokenizer.decode(ids)
        # A statement that fills all 64 places may have been cut.
        same = statement.lower().startswith(decoded) if len(ids) == LIMIT else decoded == statement.lower()
        if not same:
            wrong.append((statement, decoded))
    assert wrong == []


@pytest.mark.parametrize("text", ODD)
def test_decoding_gives_odd_text_back(tokenizer: IRTokenizer, text: str) -> None:
    ids = tokenizer.encode(text)
    assert len(ids) <= LIMIT
    assert tokenizer.decode(ids) == text.lower()
    assert not set(ids[1:-1]) & set(range(5))


@pytest.mark.parametrize(
    ("text", "shown"), [("é", "[UNK]"), ("a\tb", "a[UNK]b"), ("\n", "[UNK]"), ("naïve", "na[UNK]ve")]
)
def test_characters_outside_canonical_ir_become_unk(tokenizer: IRTokenizer, text: str, shown: str) -> None:
    ids = tokenizer.encode(text)
    assert ids.count(UNK) == 1
    assert tokenizer.decode(ids) == shown


def test_decode_leaves_cls_sep_and_pad_out(tokenizer: IRTokenizer) -> None:
    ids = tokenizer.encode("ret void")
    assert tokenizer.decode([*ids, PAD, PAD]) == "ret void" == tokenizer.decode(ids[1:-1])
    assert tokenizer.decode(np.array(ids, dtype=np.uint16)) == "ret void"
    assert tokenizer.decode([]) == ""


def test_no_unk_in_any_pair_of_printable_signs() -> None:
    # The smallest vocabulary, trained on one word: nothing but the required pieces can help.
    small = train_tokenizer(["ret void"] * 3, TokenizerConfig(vocab_size=256))
    signs = string.ascii_letters + string.digits + string.punctuation + " "
    pairs = ["".join(pair) for pair in itertools.product(signs, repeat=2)]
    ids, _ = small.encode_batch(pairs)
    assert [pairs[row] for row in np.flatnonzero((ids == UNK).any(axis=1))] == []
    assert all(small.decode(small.encode(pair)) == pair.lower() for pair in pairs)


@pytest.mark.parametrize("length", [100, 101, 5000])
def test_no_unk_in_a_long_word(tokenizer: IRTokenizer, length: int) -> None:
    # A table of base64 text in an initialiser, or a mangled name, is one long run of letters and digits.
    ids = tokenizer.encode("x7" * (length // 2) + "y" * (length % 2))
    assert UNK not in ids
    assert ("x7" * length).startswith(tokenizer.decode(ids)[:-1])


@pytest.mark.parametrize(("signs", "tokens"), [(61, 63), (62, 64), (63, 64), (5000, 64), (100_000, 64)])
def test_truncation_keeps_sep_last(tokenizer: IRTokenizer, signs: int, tokens: int) -> None:
    # Brackets are never joined into one piece: [CLS], one token a sign, [SEP].
    ids = tokenizer.encode("(" * signs)
    assert len(ids) == tokens
    assert (ids[0], ids[-1]) == (CLS, SEP)
    assert tokenizer.decode(ids) == "(" * (tokens - 2)


def test_a_batch_is_its_statements_one_by_one(tokenizer: IRTokenizer, fixture_statements: list[str]) -> None:
    texts = [*ODD, "é", "(" * 100, *fixture_statements[::20]]
    ids, length = tokenizer.encode_batch(texts)
    assert (ids.shape, ids.dtype, length.dtype) == ((len(texts), LIMIT), np.uint16, np.int32)
    for row, text in enumerate(texts):
        assert ids[row, : length[row]].tolist() == tokenizer.encode(text)
        assert (ids[row, length[row] :] == PAD).all()
    ids, length = tokenizer.encode_batch([])
    assert (ids.shape, length.shape) == ((0, LIMIT), (0,))


def test_words_looked_up_are_the_library_s(tokenizer: IRTokenizer, fixture_statements: list[str]) -> None:
    odd = [*ODD, "[MASK] [CLS]", "ΑΣ σΣ.", "İß", "▁ ▁a ▁▁", "a\tb\nc\0", "漢字 é", "x7" * 300]
    data = json.loads(tokenizer.to_json())
    del data["mirenc"]
    library = Tokenizer.from_str(json.dumps(data))
    for text in [*odd, *fixture_statements[::20]]:
        ids = library.encode(text).ids
        assert tokenizer.encode(text) == (ids if len(ids) <= LIMIT else [*ids[: LIMIT - 1], SEP])


def test_max_length_is_the_configuration_s() -> None:
    short = train_tokenizer(["ret void"] * 3, TokenizerConfig(vocab_size=256, max_length=8))
    ids, length = short.encode_batch(["((((((((((", "()"])
    assert ids.shape == (2, 8)
    assert length.tolist() == [8, 4]
    assert ids[0, 7] == SEP


def test_report_worked_by_hand(tokenizer: IRTokenizer) -> None:
    # Tokens: 3 + 2; one [UNK] + 2; 70 + 2, which is over 64. Together 80, one of them unknown.
    assert tokenizer.report(["(((", "é", "(" * 70]) == TokenizerReport(3, 80 / 3, 1 / 80, 1 / 3)
    # 64 tokens still fit.
    assert tokenizer.report(["(" * 62]) == TokenizerReport(1, 64.0, 0.0, 0.0)
    assert tokenizer.report([]) == TokenizerReport(0, 0.0, 0.0, 0.0)


# -- training ------------------------------------------------------------------------------------------
def test_training_joins_what_is_frequent() -> None:
    trained = train_tokenizer(["frobnicate i32"] * 5 + ["x"], TokenizerConfig(vocab_size=300))
    assert "frobnicate" in trained.vocab
    assert len(trained.encode("frobnicate")) == 3


def test_min_frequency_leaves_rare_pieces_out() -> None:
    texts = ["frobnicate"] * 4 + ["quux"] * 2
    often = train_tokenizer(texts, TokenizerConfig(vocab_size=400, min_frequency=3)).vocab
    assert "frobnicate" in often
    assert "quux" not in often
    assert "quux" in train_tokenizer(texts, TokenizerConfig(vocab_size=400, min_frequency=2)).vocab


def test_training_takes_a_generator_and_keeps_to_the_size(fixture_statements: list[str]) -> None:
    config = TokenizerConfig(vocab_size=256, normalisation="none")
    trained = train_tokenizer((text for text in fixture_statements[::10]), config)
    assert trained.vocab_size == 256
    assert trained.config == config


@pytest.mark.parametrize("nothing", [[], iter(())])
def test_training_on_nothing_is_an_error(nothing: object) -> None:
    with pytest.raises(TokenizerError, match="no statements to train on"):
        train_tokenizer(nothing)


def test_the_same_statements_give_the_same_vocabulary(fixture_statements: list[str]) -> None:
    texts = fixture_statements[::8]
    config = TokenizerConfig(vocab_size=700)
    vocabularies = [train_tokenizer(texts, config).vocab for _ in range(2)]
    assert vocabularies[0] == vocabularies[1]
    # In another process too: hash tables there have another seed.
    code = """
import hashlib, json, sys
from mirenc.model.tokenizer import TokenizerConfig
from mirenc.model.tokenizer import train_tokenizer
vocab = train_tokenizer(json.load(sys.stdin), TokenizerConfig(vocab_size=700)).vocab
print(hashlib.sha256(json.dumps(vocab).encode()).hexdigest())
"""
    run = subprocess.run(
        [sys.executable, "-c", code], input=json.dumps(texts), capture_output=True, text=True, check=True
    )
    assert run.stdout.strip() == hashlib.sha256(json.dumps(vocabularies[0]).encode()).hexdigest()


# -- file ----------------------------------------------------------------------------------------------
def test_a_saved_tokenizer_is_the_same(tokenizer: IRTokenizer, fixture_statements: list[str], tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    tokenizer.save(path)
    loaded = IRTokenizer.from_file(path)
    assert (loaded.config, loaded.vocab) == (tokenizer.config, tokenizer.vocab)
    texts = [*ODD, "é", *fixture_statements]
    for ours, theirs in zip(tokenizer.encode_batch(texts), loaded.encode_batch(texts), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    loaded.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == path.read_bytes()


def test_the_configuration_travels_in_the_file(tmp_path: Path) -> None:
    config = TokenizerConfig(vocab_size=300, max_length=16, normalisation="none", min_frequency=3)
    train_tokenizer(["ret void"] * 3, config).save(tmp_path / "t.json")
    assert IRTokenizer.from_file(tmp_path / "t.json").config == config


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"3", b"{}", b'{"mirenc": {}}', b"\xff\xfe\x00\x80", None])
def test_a_damaged_or_missing_file(tokenizer: IRTokenizer, tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "tokenizer.json"
    with pytest.raises(ValueError, match=r"tokenizer\.json: No such file"):
        IRTokenizer.from_file(path)
    tokenizer.save(path)
    path.write_bytes(path.read_bytes()[:-100] if content is None else content)
    with pytest.raises(TokenizerError, match=r"tokenizer\.json: not a mirenc tokenizer.*mirenc corpus build"):
        IRTokenizer.from_file(path)
    path.write_bytes(b'{"mirenc": {"vocab": 3}, "model": {}}')
    with pytest.raises(TokenizerError, match=r"tokenizer\.json: .*mirenc corpus build"):
        IRTokenizer.from_file(path)


def test_other_special_tokens_are_refused(tokenizer: IRTokenizer, tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    tokenizer.save(path)
    data = json.loads(path.read_text(encoding="utf-8"))
    vocab = data["model"]["vocab"]
    vocab["[CLS]"], vocab["[SEP]"] = vocab["[SEP]"], vocab["[CLS]"]
    path.write_text(json.dumps(data), encoding="utf-8")
    with pytest.raises(TokenizerError, match=r"token 1 must be \[CLS\], found \[SEP\]"):
        IRTokenizer.from_file(path)
