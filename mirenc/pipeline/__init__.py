"""Many inputs to embeddings: readers, in processes where it pays, feed an encoder that batches across inputs."""
