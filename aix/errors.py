"""Everything AIX raises on purpose.

    AixError
    ├── UsageError             what was asked for cannot be done as asked
    │   ├── UnknownNameError       no table, query, … of that name
    │   │   ├── UnknownSessionError    no session, or neither session nor turn; `known` are the nearest
    │   │   │   ├── UnknownHolderError     no persona, session or text has that name
    │   │   │   └── UnknownThingError      nothing that can be tagged; `known` are the nearest ids
    │   │   ├── UnknownIdError         the ledger has no node, … of that id
    │   │   ├── UnknownQueryError      no query of that name; `known` are the full names of all
    │   │   ├── UnknownCallError       no finding or call of that name; `known` are the latest calls
    │   │   ├── UnknownProjectError    no session is of such a project; `known` are the names of all
    │   │   ├── UnknownFileError       no turn touched such a file; `known` are files with a like name
    │   │   ├── UnknownToolError       no call is of a tool of that name
    │   │   ├── UnknownEmbeddingError  no vectors were stored under that name
    │   │   ├── UnknownModelError      no price line fits a model of that name
    │   │   ├── UnknownProgramError    the ledger has no program of that id
    │   │   └── UnknownParameterError  the query has no such parameter
    │   ├── AmbiguousNameError     several sessions, … begin with that name
    │   │   ├── AmbiguousEndingError   several sessions end with that, as a table shows their names
    │   │   │   └── AmbiguousFileError     several files end with that path
    │   │   ├── AmbiguousQueryError    several packs have a query of that name
    │   │   └── AmbiguousIdError       things of several kinds have that id
    │   ├── NotCompactionError     the turn is there, and is no compaction; `near` are those of its session
    │   ├── ParameterError         a parameter of a query cannot have that value
    │   ├── UnknownVersionError    the ledger has no such version
    │   ├── SqlError               DuckDB cannot run the SQL, or AIX will not
    │   ├── TagError               a text cannot be a tag
    │   ├── AliasError             a text cannot be an alias of a session, or an alias cannot be removed
    │   ├── SearchTextError        a text cannot be searched for
    │   ├── UnknownTextError       no thread has any word of a text
    │   ├── SearchUnavailableError  SQLite cannot make an index of texts
    │   ├── TimeLimitError         a statement took longer than it may
    │   ├── NotCanonicalError      a value that RFC 8785 has no canonical JSON for
    │   ├── MissingLibraryError    a library that AIX does not bring along is not installed
    │   │   └── MissingExtraError      one of an optional part of AIX
    │   └── PlaceError             something is wrong at a place that the user chose
    │       ├── ConfigError            config.toml or an AIX_… variable is wrong
    │       ├── PriceFileError         a file of prices says something that cannot be meant
    │       ├── PersonasFileError      a file of personas says something that cannot be meant
    │       ├── SettingsFileError      a file of permission rules cannot be read, or holds none
    │       ├── RiskFileError          a file of risk rules says something that cannot be meant
    │       ├── ReportDefinitionError  a file that describes a report says something that cannot be meant
    │       ├── ReportFileError        a file is no report of an audit that this AIX can compare with
    │       ├── NamesFileError         a file of names to hide cannot be read
    │       ├── RedactionKeyError      the key of a ledger's redaction cannot be used
    │       ├── EmbeddingError         a user's own command that makes vectors does not do its part
    │       ├── OutputError            the output cannot be written where or how it was asked for
    │       ├── ExportError            the export cannot be written there
    │       ├── QueryFileError         a SQL file has no proper header, or its SQL is wrong
    │       └── QueryPackError         a pack of queries is registered and cannot be used
    ├── LedgerError            the ledger cannot be used
    │   ├── LedgerNotFoundError    no ledger at that path
    │   │   ├── NoLedgerYetError       nothing was imported on this machine so far
    │   │   └── NothingToImportError   nor is there any log in it that an importer knows
    │   ├── LedgerDamagedError     a file of it is missing or unreadable
    │   │   └── LedgerPathError        its path is not UTF-8
    │   ├── LedgerTooNewError      a newer AIX wrote it
    │   └── LedgerUnwritableError  nothing can be written to it
    ├── RoutingError           a target leads to no single thread, or no tool goes on there
    │   ├── AmbiguousTargetError   it leads to several threads
    │   └── NoCommandError         no tool has a command that goes on with the thread
    ├── RowError               rows that break the schema reached the ledger: a defect in their importer
    └── WorkerDiedError        a worker process was killed, or the system ran out of memory

`aix/declared_error.py` says how a kind of error is declared.
"""

from pathlib import Path
from typing import TYPE_CHECKING

from aix.declared_error import AixError as AixError
from aix.declared_error import did_you_mean
from aix.declared_error import nearest_names as nearest_names

_NAMED = 5
"""How many names an error lists of those that it could mean."""


class UsageError(AixError):
    exit_code = 2
    if TYPE_CHECKING:  # without values of its own, an error is made of its message

        def __init__(self, message: str) -> None: ...


class UnknownNameError(UsageError):
    kind: str
    name: str
    known: tuple[str, ...]
    template = "there is no {kind} named {name!r}"

    def _remedy(self) -> str:
        question = did_you_mean(nearest_names(self.name, self.known)).rstrip()
        named = f"the {self.kind}s are: {', '.join(self.known)}" if self.known else f"there are no {self.kind}s"
        return question or named


class UnknownSessionError(UnknownNameError):
    def _remedy(self) -> str:
        near = [known for known in self.known if self.name and nearest_names(self.name, [known[: len(self.name)]])]
        return f"{did_you_mean(near)}`aix sessions` lists all" if self.known else "the ledger holds no sessions"


class UnknownHolderError(UnknownSessionError):
    """`known` are the names of personas and of the nearest sessions."""

    template = "there is no persona, session or text named {name!r}"

    def __init__(self, name: str, known: tuple[str, ...]) -> None:
        super().__init__("persona", name, known)

    def _remedy(self) -> str:
        return f"{did_you_mean(nearest_names(self.name, self.known))}`aix personas` and `aix sessions` list all"


class UnknownThingError(UnknownSessionError):
    def __init__(self, name: str, known: tuple[str, ...]) -> None:
        super().__init__("session, turn or other id", name, known)

    def _remedy(self) -> str:
        lists = "`aix sessions`, `aix program list` and `aix sql` list ids"
        return f"{did_you_mean(nearest_names(self.name, self.known))}{lists}"


class UnknownIdError(UnknownNameError):
    """`known` is the table whose rows have such ids."""

    def _remedy(self) -> str:
        return f"give its id, or 8 characters of it or more; the table {self.known[0]} has all (`aix sql`)"


class UnknownQueryError(UnknownNameError):
    def __init__(self, name: str, known: tuple[str, ...]) -> None:
        super().__init__("query", name, known)

    def _remedy(self) -> str:
        # The pack is left out: those of a pack would all be near to each other.
        by_name = {full.rpartition("/")[2]: full for full in reversed(self.known)}
        nearest = nearest_names(self.name.rpartition("/")[2], by_name)
        return f"{did_you_mean([by_name[each] for each in nearest])}`aix query` lists all"


class UnknownCallError(UnknownNameError):
    template = "no finding and no call has an id that begins with {name!r}"

    def __init__(self, name: str, known: tuple[str, ...]) -> None:
        super().__init__("call", name, known)

    def _remedy(self) -> str:
        lists = "`aix audit` lists the ids of findings, `aix query permission_usage/calls` those of calls"
        return lists if self.known else "`aix audit` lists findings; the ledger holds no calls"


class UnknownProjectError(UnknownNameError):
    template = "no session is of a project with {name!r} in its name"

    def __init__(self, name: str, known: tuple[str, ...]) -> None:
        super().__init__("project", name, known)

    def _remedy(self) -> str:  # without all that are known: there may be many
        return f"{did_you_mean(nearest_names(self.name, self.known))}`aix cost --by project` lists all"


class UnknownFileError(UnknownNameError):
    template = "no turn is known to have touched a file {name!r}"

    def __init__(self, name: str, known: tuple[str, ...]) -> None:
        super().__init__("file", name, known)

    def _remedy(self) -> str:
        near = did_you_mean(list(self.known))
        return f"{near}give a whole path, or the end of one from a slash on; `aix query tree/blame` lists all files"


class UnknownToolError(UnknownNameError):
    template = "no call is of a tool named {name!r}"

    def __init__(self, name: str, known: tuple[str, ...]) -> None:
        super().__init__("tool", name, known)

    def _remedy(self) -> str:  # without all that are known: there may be many
        by_name = {known.lower(): known for known in self.known}
        near = did_you_mean([by_name[each] for each in nearest_names(self.name.lower(), by_name)])
        return f"{near}`aix cost --by tool` lists all" if self.known else "the ledger holds no calls of tools"


class UnknownEmbeddingError(UnknownNameError):
    def __init__(self, name: str, known: tuple[str, ...]) -> None:
        super().__init__("embedding", name, known)

    def _remedy(self) -> str:
        make = f"there are none yet; `aix embed --model {self.name} --command COMMAND` makes one"
        return super()._remedy() if self.known else make


class UnknownModelError(UnknownNameError):
    def __init__(self, name: str, known: tuple[str, ...]) -> None:
        super().__init__("priced model", name, known)

    def _remedy(self) -> str:  # without all that are known: there are hundreds
        return f"{did_you_mean(nearest_names(self.name, self.known))}`aix prices list` lists all"


class UnknownProgramError(UnknownNameError):
    def __init__(self, name: str, known: tuple[str, ...]) -> None:
        super().__init__("program", name, known)

    def _remedy(self) -> str:  # without all that are known: there may be many
        near = did_you_mean(nearest_names(self.name, self.known))
        return f"{near}`aix program list` lists all" if self.known else "the ledger holds no programs"


class UnknownParameterError(UnknownNameError):
    query: str
    template = "the query {query} has no parameter {name!r}"

    def __init__(self, query: str, name: str, known: tuple[str, ...]) -> None:
        super().__init__("parameter", name, known)
        self.query = query

    def _remedy(self) -> str:
        return f"{did_you_mean(nearest_names(self.name, self.known, 1))}it has {', '.join(self.known) or 'none'}"


class AmbiguousNameError(UsageError):
    kind: str
    name: str
    found: tuple[str, ...]
    template = "several {kind}s begin with {name!r}"

    def _remedy(self) -> str:
        more = " and others" if len(self.found) > _NAMED else ""
        return f"say which: {', '.join(self.found[:_NAMED])}{more}"


class AmbiguousEndingError(AmbiguousNameError):
    template = "several {kind}s end with {name!r}"


class AmbiguousFileError(AmbiguousEndingError):
    def __init__(self, name: str, found: tuple[str, ...]) -> None:
        super().__init__("file", name, found)

    def _remedy(self) -> str:
        more = f" and {len(self.found) - _NAMED} others" if len(self.found) > _NAMED else ""
        return f"take all with --all, or say which: {', '.join(self.found[:_NAMED])}{more}"


class AmbiguousQueryError(AmbiguousNameError):
    template = "several packs have a query named {name!r}"

    def __init__(self, name: str, found: tuple[str, ...]) -> None:
        super().__init__("query", name, found)


class AmbiguousIdError(AmbiguousNameError):
    template = "several things have the id {name!r}"

    def __init__(self, name: str, found: tuple[str, ...]) -> None:
        super().__init__("id", name, found)


class NotCompactionError(UsageError):
    turn_id: str
    near: tuple[str, ...]
    template = "the turn {turn_id} is not a compaction"

    def _remedy(self) -> str:
        near = ", ".join(self.near) or "none"
        return f"its session has {near}; `aix context {self.turn_id}` shows what the model saw at this turn"


class ParameterError(UsageError):
    name: str
    problem: str
    advice: str
    template = "{name}: {problem}"
    remedy_template = "{advice}"


class UnknownVersionError(UsageError):
    version: int
    known: tuple[int, ...]
    template = "the ledger has no version {version}"

    def _remedy(self) -> str:  # there may be thousands of versions, with few gaps
        runs: list[list[int]] = []
        for number in sorted(self.known):
            if runs and number == runs[-1][-1] + 1:
                runs[-1][1:] = [number]
            else:
                runs.append([number])
        shown = [" to ".join(map(str, run)) for run in runs[-5:]]
        return f"the versions are: {', '.join(['…'] * (len(runs) > 5) + shown)}"


class SqlError(UsageError):
    problem: str
    advice: str
    template = "{problem}"
    remedy_template = "{advice}"

    def __init__(self, problem: str, advice: str = "") -> None:
        self.problem = problem
        self.advice = advice


class TagError(UsageError):
    tag: str
    problem: str
    remedy_template = "a tag is a short text on one line, such as billing or sprint-12"

    def __str__(self) -> str:
        shown = self.tag if len(self.tag) <= 40 else f"{self.tag[:40]}…"
        return f"{shown!r} cannot be a tag: {self.problem}"


class AliasError(UsageError):
    alias: str
    problem: str
    advice: str
    remedy_template = "{advice}"

    def __str__(self) -> str:
        shown = self.alias if len(self.alias) <= 40 else f"{self.alias[:40]}…"
        return f"the alias {shown!r}: {self.problem}"


class SearchTextError(UsageError):
    text: str
    problem: str
    remedy_template = "give words that the texts have; `aix search --help` shows how to combine them"

    def __str__(self) -> str:
        shown = self.text if len(self.text) <= 40 else f"{self.text[:40]}…"
        return f"{shown!r} cannot be searched for: {self.problem}"


class UnknownTextError(UsageError):
    text: str
    template = "no thread has any of the words {text!r}"
    remedy_template = "`aix search` finds texts by parts of words too, as in 'deploy*'"


class SearchUnavailableError(UsageError):
    problem: str
    template = "texts cannot be searched: {problem}"
    remedy_template = "search needs an SQLite with FTS5, as most Pythons have, and room for its temporary files"


class TimeLimitError(UsageError):
    seconds: float
    template = "it was stopped after {seconds:g} s"
    remedy_template = "narrow it down by session, turn or time; a search finds words in texts faster"


class NotCanonicalError(UsageError):
    place: str
    problem: str
    template = "{place}: {problem}"
    remedy_template = "write it as a text"


class MissingLibraryError(UsageError):
    library: str
    template = "{library} is not installed"
    remedy_template = "pip install {library}"


class MissingExtraError(MissingLibraryError):
    extra: str
    remedy_template = "pip install 'aix-ledger[{extra}]'"


class PlaceError(UsageError):
    place: str
    problem: str
    advice: str
    template = "{place}: {problem}"
    remedy_template = "{advice}"


class ConfigError(PlaceError): ...


class PriceFileError(PlaceError): ...


class PersonasFileError(PlaceError): ...


class SettingsFileError(PlaceError):
    path: Path

    def __init__(self, path: Path, problem: str) -> None:
        super().__init__(str(path), problem, "name a settings file with permission rules, as `aix audit --help` shows")
        self.path = path


class RiskFileError(PlaceError): ...


class ReportDefinitionError(PlaceError): ...


class ReportFileError(PlaceError):
    def __init__(self, path: Path, problem: str) -> None:
        super().__init__(str(path), problem, "make one with `aix audit --format json -o FILE`")


class NamesFileError(PlaceError): ...


class RedactionKeyError(PlaceError):
    def __init__(self, path: Path, problem: str) -> None:
        super().__init__(str(path), problem, "remove it; the next redaction makes a key, and its marks are other ones")


class EmbeddingError(PlaceError): ...


class OutputError(PlaceError): ...


class ExportError(PlaceError):
    def __init__(self, target: Path, problem: str) -> None:
        super().__init__(str(target), problem, "name another place with -o PATH")


class QueryFileError(PlaceError):
    path: Path
    line: int

    def __init__(self, path: Path, line: int, problem: str) -> None:
        super().__init__(f"{path}:{line}", problem, "see docs/queries.md on how a query is written")
        self.path = path
        self.line = line


class QueryPackError(PlaceError):
    pack: str
    distribution: str

    def __init__(self, pack: str, distribution: str, problem: str) -> None:
        super().__init__(f"pack {pack}", problem, f"report it to the author of {distribution}, or remove it")
        self.pack = pack
        self.distribution = distribution


class LedgerError(AixError):
    path: Path
    template = "{path}"
    exit_code = 3


class LedgerNotFoundError(LedgerError):
    template = "there is no ledger at {path}"
    remedy_template = "check --ledger, AIX_LEDGER, or `ledger` in config.toml; `aix config` shows the folder in use"


class NoLedgerYetError(LedgerNotFoundError):
    advice: str
    place: str
    template = "No ledger yet. {advice}"
    remedy_template = "{place}"


class NothingToImportError(LedgerNotFoundError):
    template = "{path} is not a ledger and holds no history that an importer knows"
    remedy_template = "check the path; `aix importers` lists what can be imported"


class LedgerDamagedError(LedgerError):
    problem: str
    template = "{path}: {problem}"
    remedy_template = "nothing was changed; restore the file from a backup, or import the histories into a new ledger"


class LedgerPathError(LedgerDamagedError):
    template = "{path} cannot hold a ledger: {problem}, as DuckDB needs it"
    remedy_template = "name another folder with --ledger, AIX_LEDGER or `ledger` in config.toml, or rename this one"

    def __init__(self, path: Path) -> None:
        super().__init__(path, "its path is not UTF-8")


class LedgerTooNewError(LedgerError):
    found: int
    supported: int
    template = "{path} has ledger schema {found}; this AIX reads up to {supported}"
    remedy_template = "upgrade AIX: pip install --upgrade aix-ledger"


class LedgerUnwritableError(LedgerError):
    reason: str
    template = "{path} cannot be written: {reason}"
    remedy_template = "the ledger is whole; make room or give access, and run the command again"


class RoutingError(AixError):
    target: str
    problem: str
    template = "{problem}"


class AmbiguousTargetError(RoutingError):
    """`found` are the first of the threads, each with its session."""

    found: tuple[str, ...]

    def __init__(self, target: str, found: tuple[str, ...]) -> None:
        super().__init__(target, f"{target!r} leads to several threads")
        self.found = found

    def _remedy(self) -> str:
        more = " and others" if len(self.found) > _NAMED else ""
        return f"say which: {', '.join(self.found[:_NAMED])}{more}"


class NoCommandError(RoutingError):
    def _remedy(self) -> str:
        from shlex import quote

        return f"`aix resume {quote(self.target)} --context` prints its context"


class RowError(AixError):
    table: str
    problems: tuple[str, ...]
    remedy_template = "report it to the author of the importer, with the file it was reading"

    def __str__(self) -> str:
        more = f" (and {len(self.problems) - 3} more)" if len(self.problems) > 3 else ""
        return f"rows for table {self.table} break the schema: {'; '.join(self.problems[:3])}{more}"


class WorkerDiedError(AixError):
    template = "a worker process died"
    remedy_template = (
        "the ledger is whole; run it again, with fewer workers when memory is short"
        " (a script that starts workers needs `if __name__ == '__main__':`)"
    )
