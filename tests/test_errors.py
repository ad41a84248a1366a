"""One tree of exceptions, drawn in its docstring; each keeps its values and survives a trip between processes."""

import pickle
import re
from pathlib import Path

import pytest

from aix import errors

EXAMPLES = [
    errors.AixError(),
    errors.UsageError("x"),
    errors.UnknownNameError("table", "turn", ("turns", "threads")),
    errors.UnknownSessionError("session", "s-9", ("s-1", "s-2")),
    errors.UnknownHolderError("adda", ("ada",)),
    errors.UnknownThingError("adda", ("ada",)),
    errors.UnknownIdError("program", "agnt", ("programs",)),
    errors.UnknownQueryError("cost", ("economics/costs", "economics/savings")),
    errors.UnknownCallError("call_9", ("call_1", "call_2")),
    errors.UnknownProjectError("mil", ("mill", "loom")),
    errors.UnknownFileError("a.py", ("src/aa.py",)),
    errors.UnknownToolError("bsh", ("Bash", "Read")),
    errors.UnknownEmbeddingError("nope", ("small",)),
    errors.UnknownModelError("model-y", ("model-x", "model-z")),
    errors.UnknownProgramError("agnt", ("agent", "task")),
    errors.UnknownParameterError("economics/costs", "sinse", ("since", "until")),
    errors.AmbiguousEndingError("session", "…b", ("ab", "cb")),
    errors.AmbiguousFileError("a.py", ("src/a.py", "tests/a.py")),
    errors.AmbiguousQueryError("costs", ("economics/costs", "acme/costs")),
    errors.AmbiguousIdError("ada", ("program:ada", "user:ada")),
    errors.NotCompactionError("t-1", ("c-1",)),
    errors.ParameterError("since", "Can't read 'soon' as a date", "write a date"),
    errors.QueryFileError(Path("costs.sql"), 3, "there is no grain"),
    errors.QueryPackError("acme", "acme-queries", "there is no module acme"),
    errors.UnknownVersionError(9, (1, 2, 4)),
    errors.SqlError("no such column", "see the schema"),
    errors.TagError("", "it is empty"),
    errors.AliasError("", "it is empty", "choose a short name"),
    errors.UnknownTextError("nowhere at all"),
    errors.SearchTextError("->", "it has no letter and no digit"),
    errors.SearchUnavailableError("no such module: fts5"),
    errors.NotCanonicalError("params.seed", "it is beyond 2^53-1"),
    errors.MissingLibraryError("pandas"),
    errors.MissingExtraError("the package mcp 2", "mcp"),
    errors.TimeLimitError(60.0),
    errors.PlaceError("here", "wrong", "there"),
    errors.ConfigError("config.toml", "wrong", "right it"),
    errors.SettingsFileError(Path("settings.json"), "it holds no JSON object"),
    errors.RiskFileError("risks.toml", "rule x: it has no risk", "see how a rule is written"),
    errors.PersonasFileError("personas.toml", "this is not TOML", "docs/personas.md shows what such a file can say"),
    errors.PriceFileError("prices.csv:2", "input: -1 is negative", "write USD per million tokens, such as 2.5"),
    errors.ReportDefinitionError("ours.toml", "it has neither figures nor sections", "see docs/reports.md"),
    errors.ReportFileError(Path("old.json"), "is no report of an audit"),
    errors.NamesFileError("names.txt", "is not UTF-8", "write one name to a line"),
    errors.RedactionKeyError(Path("redaction.key"), "is not a key"),
    errors.EmbeddingError("embed", "it cannot be started", "see docs/similar.md"),
    errors.OutputError("out.csv", "disk full", "elsewhere"),
    errors.LedgerError(Path("l")),
    errors.LedgerNotFoundError(Path("l")),
    errors.NoLedgerYetError(Path("l"), "Run `aix import`", ""),
    errors.LedgerPathError(Path("l")),
    errors.LedgerDamagedError(Path("l"), "broken"),
    errors.LedgerTooNewError(Path("l"), 9, 2),
    errors.LedgerUnwritableError(Path("l"), "disk full"),
    errors.NothingToImportError(Path("logs")),
    errors.WorkerDiedError(),
    errors.ExportError(Path("/x"), "is a folder"),
    errors.AmbiguousNameError("session", "a", ("ab", "ac")),
    errors.RoutingError("s-1", "it leads nowhere"),
    errors.AmbiguousTargetError("ada", ("t-1", "t-2")),
    errors.NoCommandError("s-1", "the session is a subagent"),
    errors.RowError("turns", ("id: is NULL", "b", "c", "d")),
]


def all_classes(root: type[Exception]) -> list[type[Exception]]:
    below = [child for child in root.__subclasses__() if child is not _PluginError]
    return [root, *(inner for child in below for inner in all_classes(child))]


def test_the_docstring_draws_the_whole_tree() -> None:
    drawn = re.findall(r"^([ │├└─]*)(\w+Error)\b", errors.__doc__ or "", re.MULTILINE)
    parents: list[str] = []
    for indent, name in drawn:
        depth = (len(indent) - 4) // 4
        cls = getattr(errors, name)
        assert cls.__base__.__name__ == (parents[depth - 1] if depth else "Exception"), name
        parents[depth:] = [name]
    assert [name for _, name in drawn] == [cls.__name__ for cls in all_classes(errors.AixError)]


def test_every_exception_is_tried_here() -> None:
    assert {type(example) for example in EXAMPLES} == set(all_classes(errors.AixError))


@pytest.mark.parametrize("error", EXAMPLES, ids=lambda error: type(error).__name__)
def test_an_exception_survives_pickling_with_its_values(error: errors.AixError) -> None:
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is type(error)
    assert (str(copy), copy.remedy, vars(copy)) == (str(error), error.remedy, vars(error))


def test_values_are_kept_and_the_message_is_a_sentence_about_them() -> None:
    error = errors.LedgerTooNewError(Path("/l"), 9, 2)
    assert (error.path, error.found, error.supported) == (Path("/l"), 9, 2)
    assert str(error) == "/l has ledger schema 9; this AIX reads up to 2"
    many = errors.RowError("turns", ("a", "b", "c", "d", "e"))
    assert str(many) == "rows for table turns break the schema: a; b; c (and 2 more)"


def test_a_kind_has_the_exit_code_of_a_command_that_fails_so() -> None:
    for error in EXAMPLES:
        expected = 2 if isinstance(error, errors.UsageError) else 3 if isinstance(error, errors.LedgerError) else 1
        assert error.exit_code == expected


def test_an_error_without_all_its_values_is_not_made() -> None:
    with pytest.raises(TypeError, match="takes path, found, supported"):
        errors.LedgerTooNewError(Path("/l"), 9)  # type: ignore[call-arg]


def test_values_can_be_given_by_name() -> None:
    error = errors.LedgerTooNewError(supported=2, path=Path("/l"), found=9)
    copy = pickle.loads(pickle.dumps(error))
    assert str(copy) == str(error) == "/l has ledger schema 9; this AIX reads up to 2"


class _PluginError(errors.UsageError):
    def __init__(self, part: str) -> None:
        super().__init__(f"{part} is {{bad}}")


def test_an_error_of_a_plugin_has_the_message_that_it_makes() -> None:
    assert str(_PluginError("a part")) == str(pickle.loads(pickle.dumps(_PluginError("a part")))) == "a part is {bad}"
