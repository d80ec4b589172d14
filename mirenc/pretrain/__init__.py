"""Pre-training: corpus, objectives, trainer, held-out evaluation, packaging. Needs the ``train`` extra."""
