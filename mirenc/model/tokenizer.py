"""`IRTokenizer`: WordPiece over statements, with the paper's special tokens.

Paper section 3.1: WordPiece as in BERT, trained from scratch on IR, lower-cased, [CLS] first, [SEP] last, 64 tokens a
statement, "decoding the ids gives the statement back". Special tokens in the order of its figure 2.

Deviation: BERT's pre-tokenizer drops white space, so decoding could not give the statement back. Here a space is
part of the token after it (written ``▁``); punctuation is still split singly and the number of tokens is the same.
"""

import itertools
import json
import os
import re
import string
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal, Self

import numpy as np
from pydantic import Field
from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, processors, trainers

from mirenc.base.arrays import Int32, UInt16
from mirenc.base.config import Config
from mirenc.base.errors import TokenizerError
from mirenc.base.writing import delivered

UNK, CLS, SEP, PAD, MASK = range(5)
SPECIAL_TOKENS = ("[UNK]", "[CLS]", "[SEP]", "[PAD]", "[MASK]")
_SPACE = "▁"
_SILENT = tuple(SPECIAL_TOKENS[index] for index in (CLS, SEP, PAD))
# 64 pieces reach nowhere near this far; cutting here keeps a megabyte initialiser from being tokenized whole.
_MAX_CHARACTERS = 8192
_MAX_WORD = 100
_MAX_REMEMBERED = 1 << 16  # texts with their ids, some 300 bytes each; words with theirs
# A run of letters and digits with the space before it, or one punctuation sign with the space before it. A longer run
# is cut: WordPiece's search is quadratic in a word's length, so it makes [UNK] of anything past 100.
_WORD = f"_?[a-z0-9]{{1,{_MAX_WORD - 1}}}|_?[^a-z0-9_]|_"  # _ is a space
_WORDS = re.compile(_WORD.replace("_", " "))


class TokenizerConfig(Config):
    """WordPiece tokenizer (paper section 3.1) of ``vocab_size`` pieces, special tokens included.

    A statement is cut to ``max_length`` tokens, [CLS] and [SEP] included. A piece must occur ``min_frequency`` times in
    the training statements, which are of that ``normalisation``.
    """

    vocab_size: int = Field(4096, ge=256, le=65535)
    max_length: int = Field(64, ge=8, le=512)
    normalisation: Literal["none", "locals"] = "locals"
    min_frequency: int = Field(2, ge=1)


@dataclass(frozen=True, slots=True)
class TokenizerReport:
    """How well a tokenizer fits some statements.

    ``mean_tokens`` are tokens a statement before cutting, [CLS] and [SEP] included; ``unk_rate`` and
    ``truncation_rate`` are shares: of tokens that are [UNK], and of statements longer than ``max_length``.
    """

    statements: int
    mean_tokens: float
    unk_rate: float
    truncation_rate: float


class IRTokenizer:
    """Statements to token ids and back, by a trained WordPiece pipeline of the tokenizers library."""

    def __init__(self, tokenizer: Tokenizer, config: TokenizerConfig) -> None:
        self.config = config
        self._text_ids: dict[str, list[int]] = {}
        self._word_ids: dict[str, list[int]] = {}
        self._tokenizer = tokenizer
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()

    def __repr__(self) -> str:
        return f"IRTokenizer(vocab_size={self.vocab_size}, normalisation={self.config.normalisation!r})"

    @property
    def vocab_size(self) -> int:
        return int(self._tokenizer.get_vocab_size())

    @cached_property
    def vocab(self) -> list[str]:
        """Pieces in id order."""
        vocabulary: dict[str, int] = self._tokenizer.get_vocab()
        return sorted(vocabulary, key=vocabulary.__getitem__)

    def encode(self, statement: str) -> list[int]:
        """The pipeline's ids of one statement, [CLS] and [SEP] included, at most ``max_length``; a word is cut once."""
        text, limit, memory = statement[:_MAX_CHARACTERS], self.config.max_length - 2, self._word_ids
        # Letter by letter, where `str.lower` knows words that end in a sigma.
        lower = text.lower() if text.isascii() else "".join(map(str.lower, text)).replace(_SPACE, " ")
        pieces = [memory.get(word) or self._encode_word(word) for word in _WORDS.findall(lower)[:limit]]
        return [CLS, *list(itertools.chain.from_iterable(pieces))[:limit], SEP]

    def _encode_word(self, word: str) -> list[int]:
        if len(self._word_ids) >= _MAX_REMEMBERED:
            self._word_ids.clear()
        pieces = self._tokenizer.model.tokenize(word.replace(" ", _SPACE))
        ids = self._word_ids[word] = [piece.id for piece in pieces]
        return ids

    def encode_batch(self, statements: Sequence[str]) -> tuple[UInt16, Int32]:
        """Ids of many statements, (U, L) uint16, padded with [PAD] to ``max_length``; tokens of each, (U,) int32."""
        # Files of one project share most of their statements.
        memory = self._text_ids
        if len(memory) + len(statements) > _MAX_REMEMBERED:
            memory.clear()
        encoded = [memory.get(text) or memory.setdefault(text, self.encode(text)) for text in statements]
        length = np.fromiter(map(len, encoded), np.int32, len(encoded))
        ids = np.full((len(encoded), self.config.max_length), PAD, dtype=np.uint16)
        is_token = np.arange(ids.shape[1]) < length[:, None]
        ids[is_token] = np.fromiter(itertools.chain.from_iterable(encoded), np.uint16, int(length.sum()))
        return ids, length

    def pieces(self, ids: Iterable[int]) -> list[str]:
        """Text of each id, lower-cased, a space in front of it included; [CLS], [SEP] and [PAD] give none."""
        names = (self._tokenizer.id_to_token(int(index)) or "[UNK]" for index in ids)
        texts = (piece[2:] if len(piece) > 2 and piece.startswith("##") else piece for piece in names)
        return ["" if piece in _SILENT else piece.replace(_SPACE, " ") for piece in texts]

    def decode(self, ids: Iterable[int]) -> str:
        """The statement of some ids, lower-cased; special tokens are left out, [UNK] stays."""
        return "".join(self.pieces(ids))

    def report(self, statements: Sequence[str]) -> TokenizerReport:
        """[UNK] rate, truncation rate and mean length on some statements."""
        if not statements:
            return TokenizerReport(0, 0.0, 0.0, 0.0)
        total = unk_count = cut_count = 0
        for encoding in self._tokenizer.encode_batch_fast([text[:_MAX_CHARACTERS] for text in statements]):
            total += len(encoding.ids)
            unk_count += encoding.ids.count(UNK)
            cut_count += len(encoding.ids) > self.config.max_length
        count = len(statements)
        return TokenizerReport(count, total / count, unk_count / total, cut_count / count)

    def to_json(self) -> str:
        """The tokenizer and its configuration as JSON text."""
        data = json.loads(self._tokenizer.to_str()) | {"mirenc": self.config.model_dump()}
        return json.dumps(data, ensure_ascii=False, indent=1) + "\n"

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the tokenizer and its configuration as one JSON file."""
        with delivered(path) as part:
            part.write_text(self.to_json(), encoding="utf-8")

    @classmethod
    def from_file(cls, path: str | os.PathLike[str]) -> Self:
        """Read what `save` wrote. TokenizerError: missing, damaged, or not the paper's special tokens."""
        try:
            data = Path(path).read_bytes()
        except OSError as error:
            raise TokenizerError(f"{os.fspath(path)}: {error.strerror}. Give a tokenizer.json") from None
        return cls.from_json(data.decode("utf-8", "replace"), where=os.fspath(path))

    @classmethod
    def from_json(cls, text: str, *, where: str = "tokenizer") -> Self:
        """Read a tokenizer from the JSON text that `save` writes; errors as of `from_file`."""
        try:
            # Our own key stands last: cut off there, 28,000 pieces are parsed by the library alone.
            tokenizer_text, _, config_text = text.rpartition('"mirenc":')
            config = TokenizerConfig.from_dict(json.loads(config_text.rstrip().removesuffix("}")), where=where)
            tokenizer = Tokenizer.from_str(tokenizer_text.rstrip().removesuffix(",") + "}")
        except Exception as error:  # noqa: BLE001 - the tokenizers library raises bare Exception
            advice = "Train one with `mirenc corpus build`"
            raise TokenizerError(f"{where}: not a mirenc tokenizer ({error}). {advice}") from None
        for index, token in enumerate(SPECIAL_TOKENS):
            if tokenizer.token_to_id(token) != index:
                raise TokenizerError(f"{where}: token {index} must be {token}, found {tokenizer.id_to_token(index)}")
        return cls(tokenizer, config)


def _pipeline(model: models.WordPiece) -> Tokenizer:
    tokenizer = Tokenizer(model)
    tokenizer.normalizer = normalizers.Sequence([normalizers.Lowercase(), normalizers.Replace(" ", _SPACE)])
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex(_WORD.replace("_", _SPACE)), behavior="isolated")
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", CLS), ("[SEP]", SEP)]
    )
    return tokenizer


def train_tokenizer(statements: Iterable[str], config: TokenizerConfig | None = None) -> IRTokenizer:
    """Train a WordPiece tokenizer on normalised statements; repeat one to weigh it. Without any, a `TokenizerError`."""
    config = config or TokenizerConfig()
    tokenizer = _pipeline(models.WordPiece({token: i for i, token in enumerate(SPECIAL_TOKENS)}, unk_token="[UNK]"))
    alphabet = [*string.ascii_lowercase, *string.digits, *string.punctuation, _SPACE]
    # Pieces that must exist so that no ASCII statement has an [UNK]. They are given first, with the special tokens,
    # because the trainer numbers those it finds by itself in the order of a hash table, another in every process.
    required = [f"##{c}" for c in string.ascii_lowercase + string.digits + string.punctuation]
    trainer = trainers.WordPieceTrainer(
        vocab_size=config.vocab_size,
        min_frequency=config.min_frequency,
        special_tokens=[*SPECIAL_TOKENS, *required],
        initial_alphabet=alphabet,
        limit_alphabet=len(alphabet) + 64,
        show_progress=False,
    )
    iterator = iter(statements)
    first = next(iterator, None)
    if first is None:
        raise TokenizerError("no statements to train on. Give files or folders with LLVM IR")
    tokenizer.train_from_iterator((text[:_MAX_CHARACTERS] for text in itertools.chain([first], iterator)), trainer)
    # A pipeline of its own: only the paper's five are special, and none of them is looked for inside a statement.
    final = _pipeline(models.WordPiece(tokenizer.get_vocab(), unk_token="[UNK]", max_input_chars_per_word=_MAX_WORD))
    return IRTokenizer(final, config)
