"""How much words tell where names are left out: the words of functions without names as one more kind of code.

A model that is ``paired`` spells hidden names out of all statements, so that whole statements without them are words of
its lexical view, which `words.py` never counted. What you get: `FOLDER`, the model with a table that knows them.
How long: two minutes of one core for 1,500 files.
On what: IR of projects for training, COMPILER/PROJECT/LEVEL/x.ll:

    python pretrain/unnamed_words.py RUN/model FORMS KINDS -o FOLDER

KINDS is over how many kinds of code the table was made, three for `words.toml`: P(a document has a term) is the mean.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
from pathlib import Path

import numpy as np
from words import document_frequency

from mirenc.base.errors import MirencError
from mirenc.base.progress import progress
from mirenc.encoder import load
from mirenc.encoder.golden import write_golden
from mirenc.encoder.prepare import prepare
from mirenc.encoder.weights import load_files, read_provenance, save_files
from mirenc.model.lexical import Lexicon

FILES = 1500
FEWEST = 20  # functions whose share of right ones is told


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path, help="folder of a paired model")
    parser.add_argument("forms", type=Path)
    parser.add_argument("kinds", type=int)
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--right", type=Path, help="record of function_pools.py: how sure a nearest function is")
    arguments = parser.parse_args()
    files, encoder = load_files(arguments.model), load(arguments.model, cache=False)
    record = read_provenance(arguments.model) or ()
    learned = {project for source in record if source.kind == "pairs" for project in source.projects}
    paths = [
        path
        for path in sorted(arguments.forms.glob("*/*/*/**/*.ll"))
        if path.relative_to(arguments.forms).parts[1] in learned
    ]
    paths = random.Random(0).sample(paths, min(FILES, len(paths)))
    assert files.config.lexical is not None
    lexicon = Lexicon(files.config.lexical, files.weights["lexical_idf"], hide_names=True)
    total, documents = np.zeros(files.config.lexical.buckets, np.int64), 0
    with progress("functions", len(paths)) as advance:
        for path in paths:
            try:
                prepared = prepare(encoder.read(path), encoder.tokenizer, ("function",), "count", spelling="unnamed")
            except MirencError as error:
                print(error)
                continue
            total += document_frequency(lexicon, prepared.sample.texts, prepared.pools)
            documents += prepared.pools.text.groups
            advance(1)
    idf = files.weights["lexical_idf"].astype(np.float64)
    share = (arguments.kinds * np.exp(-idf) + total / documents) / (arguments.kinds + 1)
    weights = files.weights | {"lexical_idf": -np.log(np.maximum(share, np.exp(-idf.max()))).astype(np.float16)}
    config = files.config
    if arguments.right is not None:
        settings = json.loads(arguments.right.read_text(encoding="utf-8"))["names"]["written"]
        rates = settings["O0-O2"]["by_cosine"][files.name]
        bins = [entry for entry in rates if entry[1] >= FEWEST]
        first = round(10 * bins[0][0])  # below, too little was seen: as right as the lowest that was
        shares = (bins[0][2],) * first + tuple(share for _, _, share in bins)
        assert config.paired is not None
        config = config.model_copy(update={"paired": config.paired.model_copy(update={"right": shares})})
    save_files(
        arguments.output, name=files.name, config=config, tokenizer=files.tokenizer, weights=weights, provenance=record
    )
    for name in ("MODEL_CARD.md", "baselines.safetensors"):
        if (arguments.model / name).is_file():
            shutil.copy(arguments.model / name, arguments.output)
    write_golden(arguments.output)  # seals the folder
    print(f"{documents:,} functions of {len(paths):,} files")


if __name__ == "__main__":
    main()
