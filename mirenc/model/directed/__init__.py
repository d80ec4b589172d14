"""The directed graph encoder; what makes it fast on repetitive code is the colour refinement in ``numpy.py``."""
