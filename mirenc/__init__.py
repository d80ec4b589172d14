"""mirenc: pre-trained multimodal embeddings for LLVM IR."""

__version__ = "0.1.0"
