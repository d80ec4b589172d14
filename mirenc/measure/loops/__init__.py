"""A seeded generator of C loops: structures by family, what they run on, and their drivers."""

from mirenc.measure.loops.generator import generate

__all__ = ["generate"]
