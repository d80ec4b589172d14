"""`Hint`: what a loop pragma asks LLVM's vectorizer for."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Hint:
    """What a loop pragma asks for: `vectorize_width` and `interleave_count`."""

    width: int
    count: int

    def nodes(self) -> tuple[str, ...]:
        """The loop's metadata, as clang 14 to 22 write it for the pragma."""
        enable = ('!{!"llvm.loop.vectorize.enable", i1 true}',) if self.width > 1 else ()
        return (
            f'!{{!"llvm.loop.vectorize.width", i32 {self.width}}}',
            '!{!"llvm.loop.vectorize.scalable.enable", i1 false}',
            f'!{{!"llvm.loop.interleave.count", i32 {self.count}}}',
            *enable,
        )


PLAIN = Hint(1, 1)
"""A loop that is neither vectorised nor interleaved."""
