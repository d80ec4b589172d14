"""The model: text encoder, graph encoder, matching head, and two runtimes (torch to train, numpy to embed)."""
