"""Text and graph encoders, one file each: configuration, layers and formula (`mirenc.model.kinds` says how)."""
