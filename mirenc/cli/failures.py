"""`Failures`: the files of a run that fail, while the others go on."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import attrgetter
from typing import TypeVar

import typer

from mirenc.base.errors import EmptyInputs, MirencError, NoFunctionBodyError, input_error
from mirenc.base.progress import progress
from mirenc.cli.messages import IN_A_BATCH, diagnostic_text, say, warn

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


class Failures(EmptyInputs):
    """Collects the files that fail, of ``total``. A single file's error ends the run; of several, each is named.

    Files without a function body have not failed: they are counted and left out.
    """

    def __init__(self, total: int, problems: Iterable[MirencError] = ()) -> None:
        super().__init__(total)
        self.count = 0
        for problem in problems:
            self.add(problem)

    def results(
        self,
        title: str,
        items: Sequence[_Item],
        function: Callable[[_Item], _Result],
        name_of: Callable[[_Item], str] = attrgetter("name"),
    ) -> Iterator[_Result]:
        """Yield ``function(item)`` for each item, with a progress bar; items that fail are recorded and skipped."""
        with progress(title, len(items)) as advance:
            for item in items:
                try:
                    result = function(item)
                except MirencError as error:
                    self.add(error)
                except (OSError, typer.BadParameter, typer.Exit):  # concerns the run, not one item
                    raise
                except Exception as error:  # noqa: BLE001 - an item of a stranger must not end the run
                    self.add(input_error(error, name_of(item), "worked on"))
                else:
                    yield result
                advance()

    def add(self, error: MirencError) -> None:
        """Print an error, or count a file without functions. Raises the error of a single file; ends after the last."""
        if self.total == 1 or isinstance(error, NoFunctionBodyError):
            super().add(error)
        else:
            self.count += 1
            warn(f"{' '.join(str(error).split())}\n{diagnostic_text(error, IN_A_BATCH)}".removesuffix("\n"))
        if self.count + self.empty == self.total:
            self.finish()

    def finish(self) -> None:
        """Print how many files were left out. Raises Exit(1): some failed."""
        if self.empty:
            say(self.line)
        if not self.count:
            return
        delivered = self.total - self.count - self.empty
        ending = f"; the other {f'{delivered} were' if delivered > 1 else 'was'} delivered" if delivered else ""
        problem = f"{self.count} of {self.total} files failed (listed above){ending}"
        say(f"error: {problem}. Mend or leave out the listed files")
        raise typer.Exit(1)
