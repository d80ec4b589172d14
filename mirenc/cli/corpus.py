"""``mirenc corpus``: sources or IR to a corpus for pre-training."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from mirenc.base.errors import ConfigError, MirencError, NoFunctionBodyError, needs
from mirenc.cli import common

if TYPE_CHECKING:
    from mirenc.model.tokenizer import IRTokenizer

# What each kind of source takes of the options that not all of them take.
_OPTIONS = {"ir": (), **dict.fromkeys(("commands", "sources"), ("--levels", "--compiler", "--cflags", "--cuda-path"))}
_FORMS = "LLVM passes to run first; values as for `mirenc embed --form`. Can be repeated. [default: plain]"

app = typer.Typer(help="Build corpora for pre-training.", no_args_is_help=True)
_SOURCE = "Folder of IR or sources (each folder directly below is one project) or compile_commands.json."
_TOKENIZER = "Use this tokenizer instead of training one: a file, or the name or folder of a model."
_LEVELS = "Levels to compile at. [default: O0,O2, and Oz for about every eighth source]"
_COMPILER = "The clang that compiles sources. [default: the first on PATH]"
_EXCLUDE_IR = "IR for evaluation: modules that share a function with it are left out. Can be repeated."
_JOBS = "How many processes run. [default: one for each core]"
_SOURCES = "Folders with PROJECT/O0/x.ll and PROJECT/O2/x.ll, such as CORPUS/ir; one for each compiler."


def _tokenizer(name: str) -> "IRTokenizer":
    """A tokenizer by its file, or of a model by its name or folder."""
    from mirenc.encoder.weights import find_model, is_model_name
    from mirenc.model.tokenizer import IRTokenizer

    is_model = is_model_name(name) or os.path.isdir(name)
    return IRTokenizer.from_file(find_model(name) / "tokenizer.json" if is_model else name)


@app.command()
@common.reads_ir
def build(
    source: Annotated[Path, Argument(help=_SOURCE)],
    output: Annotated[Path, Option("--output", "-o", help="Folder for the corpus.", file_okay=False)],
    vocab_size: Annotated[int, Option(help="Size of the vocabulary that is trained.", min=256, max=65535)] = 4096,
    tokenizer: Annotated[str | None, Option(help=_TOKENIZER)] = None,
    levels: Annotated[str | None, Option(help=_LEVELS)] = None,
    compiler: Annotated[str | None, Option(help=_COMPILER)] = None,
    cflags: Annotated[str, Option(help="More compiler flags, as one string.")] = "",
    cuda_path: Annotated[Path | None, Option(help="Folder of a CUDA toolkit, for CUDA sources.")] = None,
    exclude_ir: Annotated[list[Path] | None, Option(help=_EXCLUDE_IR)] = None,
    max_nodes: Annotated[int, Option(help="Leave out graphs with more nodes; their text stays.", min=1)] = 20_000,
    jobs: Annotated[int | None, Option("--jobs", "-j", help=_JOBS, min=1)] = None,
    *,
    options: common.Reading,
) -> None:
    """Build a corpus: compile sources, read the IR, drop duplicates, train a tokenizer.

    A build that was stopped continues where it was.

    mirenc corpus build builds -o corpus --vocab-size 512
    mirenc corpus build builds -o other --tokenizer mirenc-tiny
    """
    flags = common.split_flags(cflags)
    from mirenc.base.writing import only_one
    from mirenc.llvm.inputs.file_kind import folder_error
    from mirenc.model.tokenizer import TokenizerConfig

    with needs("train", "building a corpus needs more packages"):
        from mirenc.llvm.sources.compile_programs import Choices
        from mirenc.llvm.sources.ir_folder import failures_of, origins_of
        from mirenc.llvm.sources.prepare import find_ir, kind_of_source, prepare_ir
        from mirenc.pretrain.corpus import build_corpus, hashes_of_ir
    loaded_tokenizer = _tokenizer(tokenizer) if tokenizer else None
    config = loaded_tokenizer.config if loaded_tokenizer else TokenizerConfig(vocab_size=vocab_size)
    kind = kind_of_source(source, common.say)
    compile_options = {"--levels": levels, "--compiler": compiler, "--cflags": cflags, "--cuda-path": cuda_path}
    for option, value in compile_options.items():
        if value and option not in _OPTIONS[kind]:
            raise ConfigError(f"{source}: {option} has no effect on it (it is taken as {kind}). Leave {option} out")
    if source.is_dir() and output.resolve().is_relative_to(source.resolve()):
        raise ConfigError(f"the output folder {output} is in the input folder {source}. Name a folder outside")
    output.mkdir(parents=True, exist_ok=True)  # now, not after an hour of reading
    jobs = jobs or os.cpu_count() or 1
    excluded_inputs = common.expand([str(path) for path in exclude_ir or ()], options)
    reserved_hashes = hashes_of_ir(excluded_inputs, config.normalisation, options=options) if exclude_ir else None
    choices = Choices([level.strip() for level in levels.split(",")] if levels else None, compiler, flags, cuda_path)
    with only_one(output):
        with common.progress("compiling", None) as advance:
            folder = prepare_ir(
                source,
                output / "ir",
                choices,
                jobs=jobs,
                # A corpus that is there is built anew: what failed then may have been mended.
                retry_failed=(output / "corpus.json").is_file(),
                advance=lambda count, note: advance(count, note=note),
                report=lambda line: typer.echo(line, err=True),
            )
        origins = origins_of(folder)
        # A folder that was made here holds what its log names; anything else in it is somebody else's.
        files = find_ir(folder) if folder == source else sorted(folder / name for name in origins)
        if not files:
            raise folder_error(str(folder))
        with common.progress("reading", len(files)) as advance:
            corpus, report = build_corpus(
                files,
                folder,
                output,
                config,
                tokenizer=loaded_tokenizer,
                options=options,
                sources=origins,
                reserved=reserved_hashes,
                max_nodes=max_nodes,
                jobs=jobs,
                advance=advance,
            )
    typer.echo(
        f"{output}: {corpus!r}\n{report.files} files: {report.modules} in the corpus ({report.without_graph} without "
        f"graph); left out: {report.duplicates} duplicates, {len(report.reserved)} that share a function with "
        f"--exclude-ir, {len(report.failures)} unreadable"
    )
    compile_errors = failures_of(folder) if kind in ("sources", "commands") else []
    read_errors = [MirencError(message) for _, message in report.failures]
    empty_errors = [NoFunctionBodyError(path) for path in report.empty]
    common.Failures(report.files + len(compile_errors), [*compile_errors, *read_errors, *empty_errors]).finish()


@app.command()
@common.reads_ir
def functions(
    sources: Annotated[list[Path], Argument(help=_SOURCES)],
    output: Annotated[Path, Option("--output", "-o", help="Folder for the functions.", file_okay=False)],
    tokenizer: Annotated[str, Option(help="Tokenizer of the training run: a file, or the name or folder of a model.")],
    forms: Annotated[list[str] | None, Option("--in-form", help=_FORMS)] = None,
    *,
    options: common.Reading,
) -> None:
    """Collect functions in several forms, to train search on your own code (stage `contrast` of `mirenc pretrain`).

    Forms of a program are files of the same name that were compiled at different levels or by different compilers, or
    that had different passes (--in-form).

    mirenc corpus functions builds -o functions --tokenizer mirenc-tiny
    mirenc corpus functions builds -o normal --tokenizer mirenc-tiny --in-form O2
    """
    with needs("train", "a corpus of functions needs more packages"):
        from mirenc.pretrain.corpus.functions import build_functions
    with common.progress("reading", None) as advance:
        errors = build_functions(
            sources, output, _tokenizer(tokenizer), forms=forms or ["plain"], options=options, advance=advance
        )
    typer.echo(f"{output}: {len(list(output.glob('*.functions')))} projects")
    common.Failures(len(errors), errors).finish()
