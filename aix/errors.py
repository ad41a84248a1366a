"""Everything AIX raises on purpose.

    AixError
    ├── UsageError             what was asked for cannot be done as asked
    │   ├── UnknownNameError       no table, query, … of that name
    │   │   ├── UnknownSessionError    no session, or neither session nor turn, of that name
    │   │   ├── UnknownQueryError      no query of that name
    │   │   ├── UnknownCallError       no call of that name
    │   │   ├── UnknownModelError      no price line fits a model of that name
    │   │   └── UnknownParameterError  the query has no such parameter
    │   ├── AmbiguousNameError     several sessions, … begin with that name
    │   │   └── AmbiguousQueryError    several packs have a query of that name
    │   ├── NotCompactionError     the turn is there, and is no compaction
    │   ├── ParameterError         a parameter of a query cannot have that value
    │   ├── UnknownVersionError    the ledger has no such version
    │   ├── SqlError               DuckDB cannot run the SQL, or AIX will not
    │   ├── TagError               a text cannot be a tag
    │   ├── MissingLibraryError    a library that AIX does not bring along is not installed
    │   └── PlaceError             something is wrong at a place that the user chose
    │       ├── ConfigError            config.toml or an AIX_… variable is wrong
    │       ├── PriceFileError         a file of prices says something that cannot be meant
    │       ├── SettingsFileError      a file of permission rules cannot be read
    │       ├── RiskFileError          a file of risk rules says something that cannot be meant
    │       ├── ReportFileError        a file is no report of an audit that this AIX can compare with
    │       ├── OutputError            the output cannot be written where or how it was asked for
    │       ├── ExportError            the export cannot be written there
    │       ├── QueryFileError         a SQL file has no proper header, or its SQL is wrong
    │       └── QueryPackError         a pack of queries is registered and cannot be used
    ├── LedgerError            the ledger cannot be used
    │   ├── LedgerNotFoundError    no ledger at that path
    │   │   └── NothingToImportError   nor is there any log in it
    │   ├── LedgerDamagedError     a file of it is missing or unreadable
    │   │   └── LedgerPathError        its path is not UTF-8
    │   ├── LedgerTooNewError      a newer AIX wrote it
    │   └── LedgerUnwritableError  nothing can be written to it
    ├── RowError               rows that break the schema reached the ledger
    └── WorkerDiedError        a worker process ended before its work did

Each exception keeps its values as attributes, says what is wrong with `str()` and what to do with `.remedy`. The
values are its only arguments, and `args` is left as Python sets it, so every exception survives pickling between
processes.
"""

from collections.abc import Iterable
from pathlib import Path


def nearest_names(name: str, known: Iterable[str], most: int = 3) -> list[str]:
    """Return the names that somebody may have meant by another.

    >>> nearest_names("sesions", ["turns", "sessions"])
    ['sessions']
    """
    from difflib import get_close_matches

    return get_close_matches(name, list(known), n=most)


class AixError(Exception):
    """The root of the tree: catch it to catch everything AIX raises on purpose."""

    @property
    def remedy(self) -> str:
        """The remedy for the user; empty when the message says it all."""
        return ""


class UsageError(AixError):
    """The request cannot be carried out."""


class UnknownNameError(UsageError):
    """No thing of that kind has that name."""

    def __init__(self, kind: str, name: str, known: tuple[str, ...]) -> None:
        self.kind = kind
        self.name = name
        self.known = known

    def __str__(self) -> str:
        return f"there is no {self.kind} named {self.name!r}"

    @property
    def remedy(self) -> str:
        """Name the nearest, or all there are."""
        nearest = nearest_names(self.name, self.known)
        if nearest:
            return f"did you mean {' or '.join(nearest)}?"
        return f"the {self.kind}s are: {', '.join(self.known)}"


class UnknownSessionError(UnknownNameError):
    """No session of the ledger has that name; `known` are those that come nearest."""

    @property
    def remedy(self) -> str:
        """Name the nearest, and the command that lists all."""
        if not self.known:
            return "the ledger holds no sessions"
        return f"the nearest are {', '.join(self.known)}; `aix sessions` lists all"


class UnknownQueryError(UnknownNameError):
    """No query has that name; `known` are the full names of all."""

    def __init__(self, name: str, known: tuple[str, ...]) -> None:
        super().__init__("query", name, known)

    @property
    def remedy(self) -> str:
        """Name the nearest, whether or not the pack was given, and the command that lists all."""
        # The pack is left out: those of a pack would all be near to each other.
        by_name = {full.rpartition("/")[2]: full for full in reversed(self.known)}
        nearest = [by_name[each] for each in nearest_names(self.name.rpartition("/")[2], by_name)]
        question = f"did you mean {' or '.join(nearest)}? " if nearest else ""
        return f"{question}`aix query` lists all"


class UnknownCallError(UnknownNameError):
    """No call of the ledger has that name; `known` are the latest."""

    def __init__(self, name: str, known: tuple[str, ...]) -> None:
        super().__init__("call", name, known)

    @property
    def remedy(self) -> str:
        """Name the latest, and the command that lists all."""
        if not self.known:
            return "the ledger holds no calls"
        return f"the latest are {', '.join(self.known)}; `aix query permission_usage/calls` lists all"


class UnknownModelError(UnknownNameError):
    """No price line fits a model of that name; `known` are the models that the lines name."""

    def __init__(self, name: str, known: tuple[str, ...]) -> None:
        super().__init__("priced model", name, known)

    @property
    def remedy(self) -> str:
        """Name the nearest, and the command that lists all: there are hundreds."""
        nearest = nearest_names(self.name, self.known)
        question = f"did you mean {' or '.join(nearest)}? " if nearest else ""
        return f"{question}`aix prices list` lists all"


class UnknownParameterError(UnknownNameError):
    """The query has no such parameter; `known` are those that it has."""

    def __init__(self, query: str, name: str, known: tuple[str, ...]) -> None:
        super().__init__("parameter", name, known)
        self.query = query

    def __str__(self) -> str:
        return f"the query {self.query} has no parameter {self.name!r}"

    @property
    def remedy(self) -> str:
        """Name the nearest, and all there are."""
        if not self.known:
            return "it has none"
        nearest = nearest_names(self.name, self.known, 1)
        question = f"did you mean {nearest[0]}? " if nearest else ""
        return f"{question}it has {', '.join(self.known)}"


class AmbiguousNameError(UsageError):
    """Several things of that kind begin with that name."""

    def __init__(self, kind: str, name: str, found: tuple[str, ...]) -> None:
        self.kind = kind
        self.name = name
        self.found = found

    def __str__(self) -> str:
        return f"several {self.kind}s begin with {self.name!r}"

    @property
    def remedy(self) -> str:
        """Name some of them."""
        return f"say which: {', '.join(self.found)}"


class AmbiguousQueryError(AmbiguousNameError):
    """Several packs have a query of that name."""

    def __init__(self, name: str, found: tuple[str, ...]) -> None:
        super().__init__("query", name, found)

    def __str__(self) -> str:
        return f"several packs have a query named {self.name!r}"


class NotCompactionError(UsageError):
    """The turn is there, and is no compaction; `near` are those of its session."""

    def __init__(self, turn_id: str, near: tuple[str, ...]) -> None:
        self.turn_id = turn_id
        self.near = near

    def __str__(self) -> str:
        return f"the turn {self.turn_id} is no compaction"

    @property
    def remedy(self) -> str:
        """Name those of its session, and the command that shows any turn's context."""
        near = f"its session has {', '.join(self.near)}" if self.near else "its session has none"
        return f"{near}; `aix context {self.turn_id}` shows what the model saw at this turn"


class ParameterError(UsageError):
    """A parameter of a query cannot have that value."""

    def __init__(self, name: str, problem: str, advice: str) -> None:
        self.name = name
        self.problem = problem
        self.advice = advice

    def __str__(self) -> str:
        return f"{self.name}: {self.problem}"

    @property
    def remedy(self) -> str:
        """Say which values it can have."""
        return self.advice


class UnknownVersionError(UsageError):
    """The ledger has no such version."""

    def __init__(self, version: int, known: tuple[int, ...]) -> None:
        self.version = version
        self.known = known

    def __str__(self) -> str:
        return f"the ledger has no version {self.version}"

    @property
    def remedy(self) -> str:
        """Name the versions there are; they may be thousands, but they have few gaps."""
        runs: list[list[int]] = []
        for number in sorted(self.known):
            if runs and number == runs[-1][-1] + 1:
                runs[-1][1:] = [number]
            else:
                runs.append([number])
        shown = [" to ".join(map(str, run)) for run in runs[-5:]]
        return f"the versions are: {', '.join(['…'] * (len(runs) > 5) + shown)}"


class SqlError(UsageError):
    """DuckDB cannot run the SQL, or AIX will not."""

    def __init__(self, problem: str, advice: str = "") -> None:
        self.problem = problem
        self.advice = advice

    def __str__(self) -> str:
        return self.problem

    @property
    def remedy(self) -> str:
        """Say what would be run."""
        return self.advice


class TagError(UsageError):
    """A text cannot be a tag."""

    def __init__(self, tag: str, problem: str) -> None:
        self.tag = tag
        self.problem = problem

    def __str__(self) -> str:
        shown = self.tag if len(self.tag) <= 40 else f"{self.tag[:40]}…"
        return f"{shown!r} cannot be a tag: {self.problem}"

    @property
    def remedy(self) -> str:
        """Say what can."""
        return "a tag is a short text on one line, such as billing or sprint-12"


class MissingLibraryError(UsageError):
    """A library that AIX does not bring along is not installed."""

    def __init__(self, library: str) -> None:
        self.library = library

    def __str__(self) -> str:
        return f"{self.library} is not installed"

    @property
    def remedy(self) -> str:
        """Say how to get it."""
        return f"pip install {self.library}"


class PlaceError(UsageError):
    """Something is wrong at a place that the user chose."""

    def __init__(self, place: str, problem: str, advice: str) -> None:
        self.place = place
        self.problem = problem
        self.advice = advice

    def __str__(self) -> str:
        return f"{self.place}: {self.problem}"

    @property
    def remedy(self) -> str:
        """Say how to put it right."""
        return self.advice


class ConfigError(PlaceError):
    """A setting is wrong, or the file that holds it cannot be read."""


class PriceFileError(PlaceError):
    """A file of prices cannot be read, or says something that cannot be meant."""


class SettingsFileError(PlaceError):
    """A file of permission rules cannot be read, or holds no rules."""

    def __init__(self, path: Path, problem: str) -> None:
        super().__init__(str(path), problem, "name a settings file with permission rules, as `aix audit --help` shows")
        self.path = path


class RiskFileError(PlaceError):
    """A file of risk rules cannot be read, or says something that cannot be meant."""


class ReportFileError(PlaceError):
    """A file is no report of an audit that this AIX can compare with."""

    def __init__(self, path: Path, problem: str) -> None:
        super().__init__(str(path), problem, "make one with `aix audit --format json -o FILE`")


class OutputError(PlaceError):
    """The output cannot be written where or how it was asked for."""


class ExportError(PlaceError):
    """The export cannot be written there."""

    def __init__(self, target: Path, problem: str) -> None:
        super().__init__(str(target), problem, "name another place with -o PATH")


class QueryFileError(PlaceError):
    """A SQL file has no proper header, or its SQL is wrong."""

    def __init__(self, path: Path, line: int, problem: str) -> None:
        super().__init__(f"{path}:{line}", problem, "see docs/queries.md on how a query is written")
        self.path = path
        self.line = line


class QueryPackError(PlaceError):
    """A pack of queries is registered and cannot be used."""

    def __init__(self, pack: str, distribution: str, problem: str) -> None:
        super().__init__(f"pack {pack}", problem, f"report it to the author of {distribution}, or remove it")
        self.pack = pack
        self.distribution = distribution


class LedgerError(AixError):
    """The ledger cannot be used."""

    def __init__(self, path: Path) -> None:
        self.path = path


class LedgerNotFoundError(LedgerError):
    """There is no ledger at that path."""

    def __str__(self) -> str:
        return f"{self.path} is not a ledger: it holds no versions folder with a version in it"

    @property
    def remedy(self) -> str:
        """Name the ways to point AIX elsewhere."""
        return "check the path, AIX_LEDGER, or `ledger` in config.toml (`aix config` shows what is in force)"


class NothingToImportError(LedgerNotFoundError):
    """A place that was given to import is no ledger, and holds no log that an importer knows."""

    def __str__(self) -> str:
        return f"{self.path} is not a ledger, and there is no log in it that an importer knows"

    @property
    def remedy(self) -> str:
        """Say what importers know."""
        return "check the path; `aix importers` lists what can be imported"


class LedgerDamagedError(LedgerError):
    """A file of the ledger is missing or unreadable."""

    def __init__(self, path: Path, problem: str) -> None:
        self.path = path
        self.problem = problem

    def __str__(self) -> str:
        return f"{self.path}: {self.problem}"

    @property
    def remedy(self) -> str:
        """Say that nothing was changed."""
        return "nothing was changed; restore the file from a backup, or import the histories into a new ledger"


class LedgerPathError(LedgerDamagedError):
    """The path of the ledger is not UTF-8."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, "its path is not UTF-8")

    def __str__(self) -> str:
        return f"{self.path} cannot hold a ledger: its path is not UTF-8, and DuckDB opens no other"

    @property
    def remedy(self) -> str:
        """Name the ways to use another folder."""
        return "name another folder with --ledger, AIX_LEDGER or `ledger` in config.toml, or rename this one"


class LedgerTooNewError(LedgerError):
    """A newer AIX wrote the ledger."""

    def __init__(self, path: Path, found: int, supported: int) -> None:
        self.path = path
        self.found = found
        self.supported = supported

    def __str__(self) -> str:
        return f"{self.path} has ledger schema {self.found}; this AIX reads up to {self.supported}"

    @property
    def remedy(self) -> str:
        """Say how to get a version that can read it."""
        return "upgrade AIX: pip install --upgrade aix-ledger"


class LedgerUnwritableError(LedgerError):
    """Nothing can be written to the ledger."""

    def __init__(self, path: Path, reason: str) -> None:
        self.path = path
        self.reason = reason

    def __str__(self) -> str:
        return f"{self.path} cannot be written: {self.reason}"

    @property
    def remedy(self) -> str:
        """Say that nothing is lost."""
        return "the ledger is whole; make room or give access, and run the command again"


class RowError(AixError):
    """Rows that break the schema reached the ledger: a defect in the importer that made them."""

    def __init__(self, table: str, problems: tuple[str, ...]) -> None:
        self.table = table
        self.problems = problems

    def __str__(self) -> str:
        more = f" (and {len(self.problems) - 3} more)" if len(self.problems) > 3 else ""
        return f"rows for table {self.table} break the schema: {'; '.join(self.problems[:3])}{more}"

    @property
    def remedy(self) -> str:
        """Say whose defect it is."""
        return "report it to the author of the importer, with the file it was reading"


class WorkerDiedError(AixError):
    """A worker process ended before its work did: it was killed, or the system ran out of memory."""

    def __str__(self) -> str:
        return "a worker process died"

    @property
    def remedy(self) -> str:
        """Say what may help."""
        return (
            "the ledger is whole; run it again, with fewer workers when memory is short"
            " (a script that starts workers needs `if __name__ == '__main__':`)"
        )
