"""The corpus of pre-training: from IR to compact shards."""

from mirenc.pretrain.corpus.build import BuildReport, build_corpus, hashes_of_ir
from mirenc.pretrain.corpus.store import Corpus, CorpusModule, ModuleInfo

__all__ = ["BuildReport", "Corpus", "CorpusModule", "ModuleInfo", "build_corpus", "hashes_of_ir"]
