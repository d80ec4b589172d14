"""``mirenc tokenizer``: train a tokenizer, report on one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from typer import Argument, Option

from mirenc.cli import common

if TYPE_CHECKING:
    from mirenc.llvm import ReadOptions
    from mirenc.model.tokenizer import IRTokenizer

app = typer.Typer(help="Train and examine WordPiece tokenizers.", no_args_is_help=True)
_VOCAB_SIZE = "Size of the vocabulary, special tokens included."
_NORMALISATION = "locals: write % for every name of a local value, and leave out attributes. none: keep both."


def _texts(inputs: list[str], level: str, options: ReadOptions) -> tuple[list[str], common.Failures]:
    """Distinct statements of each file, end to end; files that fail are named on stderr and left out."""
    from mirenc.llvm import read_ir, statements_of

    files = list(dict.fromkeys(common.expand(inputs, options)))
    failures = common.Failures(len(files))
    read = failures.results("reading", files, lambda file: statements_of(read_ir(file, options=options), level).texts)
    return [text for texts in read for text in texts], failures


@app.command()
@common.reads_ir
def train(
    inputs: common.Inputs,
    output: Annotated[Path, Option("--output", "-o", help="File for the tokenizer, such as tokenizer.json.")],
    vocab_size: Annotated[int, Option(help=_VOCAB_SIZE, min=256, max=65535)] = 4096,
    max_length: Annotated[int, Option(help="Cut statements after this number of tokens.", min=8, max=512)] = 64,
    normalisation: Annotated[Literal["none", "locals"], Option(help=_NORMALISATION)] = "locals",
    *,
    options: common.Reading,
) -> None:
    """Train a tokenizer on the statements of IR files.

    mirenc tokenizer train src -o tokenizer.json
    mirenc tokenizer train src -o small.json --vocab-size 512
    """
    common.check_output(output)
    from mirenc.model.tokenizer import TokenizerConfig, train_tokenizer

    config = TokenizerConfig(vocab_size=vocab_size, max_length=max_length, normalisation=normalisation)
    # Each file votes once for a statement, so that one file's loops do not decide the vocabulary.
    texts, failures = _texts(inputs, normalisation, options)
    with common.progress("training", None):
        tokenizer = train_tokenizer(texts, config)
    tokenizer.save(output)
    _print_report(f"{output}: {tokenizer.vocab_size} pieces", tokenizer, texts)
    failures.finish()


@app.command()
@common.reads_ir
def report(
    tokenizer: Annotated[Path, Argument(help="File of a tokenizer, such as tokenizer.json.")],
    inputs: common.Inputs,
    *,
    options: common.Reading,
) -> None:
    """Measure a tokenizer on IR files: mean length of statements, share of unknown tokens, share of cut statements.

    mirenc tokenizer report tokenizer.json src
    mirenc tokenizer report tokenizer.json foo.ll bar.ll
    """
    from mirenc.model.tokenizer import IRTokenizer

    loaded = IRTokenizer.from_file(tokenizer)
    texts, failures = _texts(inputs, loaded.config.normalisation, options)
    if texts:
        _print_report(str(tokenizer), loaded, texts)
    failures.finish()


def _print_report(head: str, tokenizer: IRTokenizer, texts: list[str]) -> None:
    report = tokenizer.report(texts)
    typer.echo(f"{head}\nstatements        {report.statements}\nmean tokens       {report.mean_tokens:.2f}")
    typer.echo(f"[UNK] rate        {100 * report.unk_rate:.4f} %")
    typer.echo(f"truncation rate   {100 * report.truncation_rate:.3f} %")
