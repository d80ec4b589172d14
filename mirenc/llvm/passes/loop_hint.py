"""`Hint`: what a loop pragma asks LLVM's vectorizer and unroller for."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Hint:
    """What a loop pragma asks for: `vectorize_width`, `interleave_count`, `unroll_count`; 0 leaves it to LLVM.

    Width 1 is `vectorize(disable)`, too.
    """

    width: int
    count: int
    unroll: int = 0

    @property
    def size(self) -> int:
        """Iterations of the source that are one iteration of the result; compile time grows with it."""
        return max(self.width, 1) * max(self.count, 1) * max(self.unroll, 1)

    def pragma(self) -> str:
        """The line of C: ``#pragma clang loop vectorize_width(4) interleave_count(2)``."""
        clauses = {"vectorize_width": self.width, "interleave_count": self.count, "unroll_count": self.unroll}
        return " ".join(["#pragma clang loop", *(f"{name}({value})" for name, value in clauses.items() if value)])

    def nodes(self) -> tuple[str, ...]:
        """The loop's metadata, as clang 14 to 22 write it for the pragma."""
        nodes = []
        if self.width:
            nodes.append(f'!{{!"llvm.loop.vectorize.width", i32 {self.width}}}')
            nodes.append('!{!"llvm.loop.vectorize.scalable.enable", i1 false}')
        if self.count:
            nodes.append(f'!{{!"llvm.loop.interleave.count", i32 {self.count}}}')
        if self.width > 1:
            nodes.append('!{!"llvm.loop.vectorize.enable", i1 true}')
        if self.unroll:
            nodes.append(f'!{{!"llvm.loop.unroll.count", i32 {self.unroll}}}')
        return tuple(nodes)


PLAIN = Hint(1, 1)
"""A loop that is neither vectorised nor interleaved."""
