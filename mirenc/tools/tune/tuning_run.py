"""`Tuning`: for each hot place, build a few settings, time them in turns, and keep what is significantly faster."""

import difflib
import hashlib
import json
import math
import shutil
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from mirenc.base.deadline import OverLimitError, TimeUpError, seconds_left, variant_limit, within
from mirenc.base.errors import CompileError, MirencError, TaskError
from mirenc.llvm.inputs.projects import COMMANDS
from mirenc.tools.measure.machine import describe_machine
from mirenc.tools.run.compilers import check_profile, compiler_version, merge_profiles
from mirenc.tools.run.programs import Ended, run_shell
from mirenc.tools.run.run_folder import Journal, Plan, Run, one_line
from mirenc.tools.run.turns import LEAST_ROUNDS, Gain, Turns, WrongRunError
from mirenc.tools.tune.build import UserBuild, Variant, overlay_flags
from mirenc.tools.tune.tuning_case import Case, Key, Place, text_of

_SHORT_RUN = 0.1  # seconds: such a run is mostly its own start
_MIN_LIMIT = 1.0  # seconds that a run may take, whatever the default takes: a machine may be busy for so long
_MIN_PROFILE_LIMIT = 10.0  # and one with profile counters, which are written in the end
_BUSY_PROCESSORS = 1.2  # processors that are busy, on average


@dataclass(frozen=True)
class Order:
    """What the user asked for: shell commands, and how much to try."""

    build: str
    run: str
    check: str = ""  # a command whose output must stay the same, in place of that of ``run``
    files: tuple[Path, ...] = ()  # whose places; () for all that are compiled
    loops: int = 8  # or other places
    tries: int = 3
    rounds: int = 12


@dataclass(frozen=True)
class Tried:
    """One setting of a place; ``problem`` says why it has no gain; ``limit``: it was ended after so many seconds."""

    directive: str
    gain: Gain | None = None
    problem: str = ""
    limit: float | None = None


@dataclass(frozen=True)
class Outcome:
    """The result of a place; ``again`` is the gain of the best setting when it was timed again, alone."""

    file: str
    line: int
    function: str
    share: float
    trip_count: float
    tried: Sequence[Tried] = ()
    noise: float = 1.0
    again: Gain | None = None
    kept: str = ""  # the setting
    alone: str = ""  # why nothing was tried


class Outcomes(Journal):
    """Finished places by file and line, and settings that were ended, which are recorded at once."""

    def __init__(self, path: Path, setup: dict[str, Any]) -> None:
        self.done: dict[Key, Outcome] = {}
        self.ended: dict[tuple[Key, str], Tried] = {}
        super().__init__(path, setup)

    def take(self, values: dict[str, Any]) -> None:
        if "ended" in values:
            file, line = values["place"]
            setting = Tried(**values["ended"])
            self.ended[(file, line), setting.directive] = setting
            return
        tries = [Tried(**setting | {"gain": setting["gain"] and Gain(*setting["gain"])}) for setting in values["tried"]]
        outcome = Outcome(**values | {"tried": tries, "again": values["again"] and Gain(*values["again"])})
        self.done[outcome.file, outcome.line] = outcome


class Tuning(Run):
    """Tunes the program that an order builds in a folder; ``say`` is called with messages.

    Raises CompileError: it does not build; TaskError: it fails, or nothing in it can be tuned; ToolchainError.
    """

    def __init__(
        self, order: Order, case: Case, folder: Path, output: Path, plan: Plan, say: Callable[[str], None]
    ) -> None:
        super().__init__(plan, output)
        self.order, self.case, self.place, self.say = order, case, folder, say
        self.seconds = 0.0  # of one run of the build as it was
        # Of all that was kept, against the build as it was: gain, that by the clock on the wall, and noise
        self.total_gain: tuple[Gain, Gain, float] | None = None
        self.unread_sources: list[str] = []  # and why
        self.work.mkdir(parents=True, exist_ok=True)
        check_profile(case.compiler, case.profile)
        self.user = UserBuild(order.build, folder, self.work, case.compiler)
        self.kept_settings: dict[Key, str] = {}
        self.baseline = self.best = Variant({}, self.work)
        self.out_of_time = False  # whether the time was up before all was tried
        self.unfinished: list[Outcome] = []  # the place at which it was
        self._default_seconds: dict[str, float] = {}  # wall-clock seconds that a command takes in the build as it was
        self._step = "the first build"

    def find(self) -> int:
        """Build and run the program, find its hot places, and return how many of them are left to try."""
        try:
            return self._find()
        except BaseException as error:
            self.close()
            if isinstance(error, TimeUpError):
                raise too_late(self.plan.minutes, self._step) from None
            if isinstance(error, OverLimitError):
                problem = f"{self._step} was {error}, far longer than the first one took"
                raise TaskError(f"{problem}. Give commands that always end") from None
            raise

    def _find(self) -> int:
        self.user.forget()  # what an earlier run left is to be compiled again
        self.baseline = self.best = self.user.build()
        if not self.user.compile_commands():
            problem = "the build compiled no C or C++ with CC, CXX, or a gcc or clang on PATH"
            raise TaskError(f"{problem}. If all was built before, remove that first, as with: make clean")
        self._step = "the first run"
        first = self._time(self.order.run)
        if first.code:
            raise TaskError(f"--run ends with {first.code}, and nothing can be compared. Mend the command")
        self.expected, self.seconds = self._behaviour(first), first.cpu
        self._step = "the second run"
        second = self._time(self.order.run)
        self._default_seconds[self.order.run] = min(first.wall, second.wall)
        if self._behaviour(second) != self.expected:
            problem = "the output differs from run to run, so a wrong build could not be recognised"
            raise TaskError(f"{problem}. With --check, name a command whose output stays the same")
        # Of one thread, the processor's time is the same beside other work; of several, it counts waiting too.
        self.clock = self.case.clock or ("wall" if first.cpu > _BUSY_PROCESSORS * first.wall else "cpu")
        if first.cpu < _SHORT_RUN:
            self.say(f"warning: a run takes {first.cpu:.3f} s, mostly for its start-up. Give the program more work")
        selected_files, top = {path.resolve() for path in self.order.files}, self.place.resolve()

        def is_selected(place: Place) -> bool:
            file = place.file.resolve()
            return file.is_relative_to(top) and (not selected_files or file in selected_files)

        commands = self.work / COMMANDS
        commands.write_text(
            json.dumps(self.user.compile_commands(), indent=1), encoding="utf-8", errors="surrogateescape"
        )
        flags = self._profile(max(first.cpu, first.wall))
        self._step = "the search for hot places"
        places = [*filter(is_selected, self.case.places(commands, flags, self.unread_sources.append))]
        self.journal = Outcomes(self.work / "journal.jsonl", self._setup())
        self.kept_settings = {key: outcome.kept for key, outcome in self.journal.done.items() if outcome.kept}
        self._propose(places)
        return len(self.left)

    @property
    def left(self) -> list[Place]:
        """Places that are not tried yet."""
        return [place for place in self.directives if place.key not in self.journal.done]

    @property
    def outcomes(self) -> list[Outcome]:
        """Results of the places that are done, begun or left alone, the hottest first."""
        return sorted([*self.journal.done.values(), *self.unfinished, *self.alone], key=lambda outcome: -outcome.share)

    def measure(self, advance: Callable[..., None]) -> None:
        try:
            with suppress(TimeUpError), within(self._seconds_to_tune()):
                self._try_places(advance)
            self.out_of_time = bool(self.left)
            self._compare_all()
        except TimeUpError:
            self.out_of_time, self.kept_settings = True, {}
        except OverLimitError as error:
            raise TaskError(f"the build that was the best one till now was {error}. Give a --run that ends") from None

    def _seconds_to_tune(self) -> float:
        """Seconds left, less those of the shortest final comparison, which takes a quarter at most."""
        remaining = seconds_left()
        return remaining - min(3 * LEAST_ROUNDS * self._default_seconds[self.order.run], remaining / 4)

    def _try_places(self, advance: Callable[..., None]) -> None:
        if self.kept_settings:
            self.best = self._build(self.kept_settings)
        for place in self.in_time(self.left):
            outcome = self._tune(place)
            self.journal.write(asdict(outcome))
            self.journal.done[place.key] = outcome
            if outcome.kept:
                self.kept_settings[place.key] = outcome.kept
            advance(note=place.title)

    def _compare_all(self) -> None:
        if self.kept_settings:
            turns = self._run_turns([self.baseline, self.best], (0,))
            if not turns.dropped:
                self.total_gain = turns.gain(1), turns.gain(1, clock="wall"), turns.noise
            if not turns.faster(1):
                self.say("with the best settings together, the program is not faster by more than noise; none is kept")
                self.kept_settings = {}

    def close(self) -> None:
        """Put the original build back in place."""
        self.user.restore(self.baseline)
        self.user.clear()

    def patch(self) -> str:
        """The kept settings as a patch for ``patch -p1`` in the folder."""
        parts = []
        for path, text in self.case.texts(self.kept_settings).items():
            if text == path.read_bytes():
                continue
            name = path.resolve().relative_to(self.place.resolve()).as_posix()
            old, new = (data.decode("latin-1").splitlines(keepends=True) for data in (path.read_bytes(), text))
            for line in difflib.unified_diff(old, new, f"a/{name}", f"b/{name}"):
                parts.append(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n")
        return "".join(parts)

    # -- steps -----------------------------------------------------------------------------------------
    def _profile(self, seconds: float) -> list[str]:
        """Profile one run, which takes ``seconds`` without counters; return the flags that use the profile."""
        self._step = "the build with profile counters"
        texts = {path: self.case.profiled_text(text_of(path)).encode("latin-1") for path in self.user.sources}
        variant = self.user.build(flags=self.case.profile, sources=texts)
        raw, profile, overlays = self.work / "raw", self.work / "profile.profdata", self.work / "profiled"
        for folder in (raw, overlays):
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
        prelude = f"{self.case.profile_run}export LLVM_PROFILE_FILE='{raw}/%p-%m.profraw'\n"
        self._step = "the run with profile counters"
        result = run_shell(prelude + self.order.run, self.place, variant_limit(seconds, _MIN_PROFILE_LIMIT))
        self.user.restore(self.baseline)
        shutil.rmtree(variant.folder)
        files = sorted(raw.iterdir())
        if result.code or not files:
            reason = f"ends with {result.code}" if result.code else "wrote no profile; it has to end by itself"
            raise TaskError(f"--run {reason}. Give a command that runs what --build builds")
        merge_profiles(files, profile, self.user.compiler)
        shutil.rmtree(raw)
        edits = {path: text for path, text in texts.items() if text != path.read_bytes()}
        return [*(flag.format(profile) for flag in self.case.profile_use), "-w", *overlay_flags(overlays, edits)]

    def _tune(self, place: Place) -> Outcome:
        """Try the proposals for a place, with the settings that are kept so far."""
        trials: list[Tried] = []
        try:
            return self._time_settings(place, trials)
        except TimeUpError:
            reason = "the time was up"
            settings = [*trials, *map(Tried, self.directives[place][len(trials) :])]
            settings = [item if item.gain or item.problem else replace(item, problem=reason) for item in settings]
            self.unfinished.append(replace(_outcome(place), tried=settings, alone=reason))
            raise

    def _time_settings(self, place: Place, trials: list[Tried]) -> Outcome:
        """Time the settings of a place in turns; ``trials`` receives each setting when it has been built."""
        variants: dict[int, Variant] = {}  # by their places in what was tried
        for number, directive in enumerate(self.directives[place]):
            if ended := self.journal.ended.get((place.key, directive)):
                trials.append(ended)
                continue
            default = f"the default's build takes {self.user.seconds:.3g} s"
            try:
                variant = self._build({**self.kept_settings, place.key: directive})
                default = self._default_words(self.order.check or self.order.run)
                setting = Tried(directive, problem=self._problem(variant, variants.values()))
            except CompileError as error:
                setting = Tried(directive, problem=one_line(str(error)))
            except OverLimitError as error:
                setting = self._drop(place, directive, error, default)
            trials.append(setting)
            if not setting.problem:
                variants[number] = variant
        outcome = replace(_outcome(place), tried=trials)
        if not variants:
            return outcome
        seed = zlib.crc32(repr(place.key).encode())
        with within(self._seconds_to_tune()):
            turns = self._run_turns([self.best, *variants.values()], (seed, 0))
        gains, default_words = {}, self._default_words(self.order.run)
        for turn, number in enumerate(variants, 1):
            if problem := turns.dropped.get(turn):
                trials[number] = self._drop(place, trials[number].directive, problem, default_words)
            else:
                gains[number] = turns.gain(turn)
                trials[number] = replace(trials[number], gain=gains[number])
        outcome = replace(outcome, noise=turns.noise)
        best = max(gains, key=lambda number: gains[number].factor, default=-1)
        if gains and turns.faster([*variants].index(best) + 1):
            # The best of several looks better than it is, so it is timed again, alone.
            turns = self._run_turns([self.best, variants[best]], (seed, 1))
            if problem := turns.dropped.get(1):
                trials[best] = self._drop(place, trials[best].directive, problem, default_words)
            else:
                outcome = replace(outcome, again=turns.gain(1))
            if turns.faster(1):
                outcome = replace(outcome, kept=trials[best].directive)
                self.best = variants.pop(best)
        for variant in variants.values():
            shutil.rmtree(variant.folder)
        return outcome

    def _default_words(self, command: str) -> str:
        return f"the default takes {self._default_seconds[command]:.3g} s"

    def _drop(self, place: Place, directive: str, problem: Exception, default: str) -> Tried:
        """A setting that cannot be a candidate; one that was ended is reported, recorded, and not tried again."""
        if not isinstance(problem, OverLimitError):
            return Tried(directive, problem=str(problem))
        self.say(f"{place.title}: {directive}: {problem}, together with every process that it started; {default}")
        setting = Tried(directive, problem=str(problem), limit=problem.seconds)
        self.journal.write({"place": place.key, "ended": asdict(setting)})
        return setting

    def _propose(self, places: Sequence[Place]) -> None:
        """Set ``directives``, what to try at each of the hottest places, and ``alone``, places that nothing changes."""
        self.directives: dict[Place, list[str]] = {}
        self.alone: list[Outcome] = []
        for place in places:
            if len(self.directives) == self.order.loops:
                break
            seconds_left()
            try:
                is_done = place.key in self.journal.done
                self.directives[place] = [] if is_done else self.case.proposals(place, self.order.tries)
            except MirencError as error:
                self.alone.append(replace(_outcome(place), alone=one_line(str(error))))

    def _problem(self, variant: Variant, variants: Iterable[Variant]) -> str:
        """Why a variant need not be timed, or ""."""
        if variant.same_as(self.best):
            return "the same code as without it"
        if any(map(variant.same_as, variants)):
            return "the same code as with another"
        self.user.restore(variant)
        return "" if self._behaviour() == self.expected else "its output or exit code differs from the original build's"

    def _run_turns(self, variants: Sequence[Variant], seed: Sequence[int]) -> Turns:
        def run_once(number: int) -> Ended:
            self.user.restore(variants[number])
            result = self._time(self.order.run)
            if number and (result.code or not (self.order.check or result.output == self.expected[1])):
                raise WrongRunError("its output or exit code differs from the original build's")
            return result

        return Turns.run(len(variants), run_once, self.order.rounds, (self.plan.seed, *seed), self.clock)

    def _behaviour(self, run: Ended | None = None) -> tuple[int, str]:
        """Exit code and output of the current build; ``run`` is a run of it that was timed already."""
        if run is None or self.order.check:
            run = self._time(self.order.check or self.order.run)
        return run.code, run.output

    def _time(self, command: str) -> Ended:
        """Run a command in the current build, for at most ten times as long as in the original build."""
        result = run_shell(command, self.place, variant_limit(self._default_seconds.get(command, math.inf), _MIN_LIMIT))
        self._default_seconds.setdefault(command, result.wall)
        return result

    def _build(self, settings: Mapping[Key, str]) -> Variant:
        """Build the program with some settings."""
        self.user.restore(self.baseline)
        compiler = self.case.write_compiler(settings, self.work / "compiler")
        variant = self.user.build(sources=self.case.texts(settings), compiler=compiler)
        return replace(variant, files={**self.baseline.files, **variant.files})

    def _setup(self) -> dict[str, Any]:
        """The facts that must agree for outcomes to be comparable."""
        digest = hashlib.sha256(b"".join(hashlib.sha256(source.read_bytes()).digest() for source in self.user.sources))
        commands = {name: getattr(self.order, name) for name in ("build", "run", "check")}
        facts = {"machine": describe_machine(), "compiler": compiler_version(self.user.compiler)}
        return {"format": 1, "tuned": self.case.places_are, **commands, **facts, "sources": digest.hexdigest()}


def too_late(minutes: float, step: str) -> TaskError:
    """The error when the budget is up before any setting was tried."""
    problem = f"the budget of {60 * minutes:g} s was up in {step}, before any setting was tried"
    return TaskError(f"{problem}. Give --budget more minutes, or --run less work")


def _outcome(place: Place) -> Outcome:
    return Outcome(str(place.file), place.line, place.function, place.share, place.trip_count)
