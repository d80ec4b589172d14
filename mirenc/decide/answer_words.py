"""`AnswerWords`: how the settings and answers of a task are put into words and into source code."""

from typing import Any, ClassVar

from mirenc.decide.prediction import Choice, PredictedNumber, Prediction
from mirenc.decide.settings import Setting


class AnswerWords:
    """The part of a `mirenc.decide.Task` that people read; each task overrides what it can say better."""

    default_words: ClassVar[str] = ""  # how to say that the default is the answer; "": by its name
    directive_note: ClassVar[str] = ""  # what people must know who write a `directive` into their source
    unit: ClassVar[str] = ""  # of a predicted number

    def directive(self, setting: Setting) -> str:
        """The line of source that asks for a setting, such as a pragma; "" where there is none."""
        return ""

    def directive_of(self, answer: Prediction) -> str:
        """The line of source for an answer; "" for the default."""
        return self.directive(answer.setting) if isinstance(answer, Choice) and answer.choice != answer.default else ""

    def number_words(self, answer: PredictedNumber) -> str:
        """The predicted number with its unit."""
        return f"{answer.value:.6g} {self.unit}".strip()

    def remarks(self, answer: Any) -> list[str]:
        """Lines that `mirenc predict` prints below an answer (`Prediction`)."""
        return []

    def details(self, answer: Any) -> dict[str, Any]:
        """Fields that ``--json`` adds to an answer."""
        return {}
