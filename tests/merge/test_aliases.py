"""Aliases that people give: names for one thing only, kept whatever is imported, gone with their session."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import aix
from aix.errors import AliasError, UnknownNameError
from aix.merge.aliases import StoredAlias, add_alias, remove_aliases
from aix.merge.forget import forget
from aix.merge.ledger_merge import join_ledger
from aix.merge.selection import Selection
from aix.pipeline.run import Settings, import_histories
from aix.schema import TABLES
from aix.store.manifest import read_latest
from tests.importers.session_log.logs import entry, write_log
from tests.merge.test_groups import conversation
from tests.merge.test_replacement import ONE, replace
from tests.support.changes import overtake
from tests.support.conversations import session, turn
from tests.support.row_batches import Rows, deliver, dump, rows_of
from tests.support.sample_conversation import MAIN
from tests.support.sample_ledger import SAMPLE_ROWS, write_ledger

pytestmark = pytest.mark.long

MINTED = {"alias": "minted", "session_label": "a", "created_at": 1, "reason": "manual"}
GIVEN: Rows = {**conversation("a", 2), "session_aliases": [MINTED]}


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    deliver(tmp_path / "ledger", GIVEN, conversation("b"))
    return tmp_path / "ledger"


def aliases(ledger: Path) -> dict[str, tuple[str, str]]:
    return {row["alias"]: (row["session_label"], row["reason"]) for row in rows_of(ledger, "session_aliases")}


def test_an_alias_is_given_in_one_commit_and_nothing_else_changes(ledger: Path) -> None:
    before = dump(ledger)
    assert add_alias(ledger, "fox", "a")
    assert read_latest(ledger).version == 2
    assert aliases(ledger) == {"minted": ("a", "manual"), "fox": ("a", "identity_promotion")}
    after = dump(ledger)
    assert {**after, "session_aliases": before["session_aliases"]} == before
    assert aix.open(ledger).find_session("fox") == "a"


def test_giving_an_alias_again_changes_nothing(ledger: Path) -> None:
    add_alias(ledger, "fox", "a")
    assert not add_alias(ledger, "fox", "a")
    assert not add_alias(ledger, "minted", "a")
    assert (read_latest(ledger).version, aliases(ledger)["minted"]) == (2, ("a", "manual"))


@pytest.mark.parametrize(
    "alias", ["", " ", " fox", "two\nlines", "\x1b[2J", "x" * 101, "\ud800", "a:fox", "-x", "…fox"]
)
def test_what_cannot_be_an_alias_is_refused(alias: str, tmp_path: Path) -> None:
    with pytest.raises(AliasError):
        add_alias(tmp_path / "untouched", alias, "a")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("alias", "message"),
    [
        ("b", "it is the label of a session"),
        ("b-0", "it is the id of a turn"),
        ("minted", "it already stands in its log for the session a"),
        ("fox", "it already stands for the session a"),
    ],
)
def test_a_name_that_means_something_else_is_refused(ledger: Path, alias: str, message: str) -> None:
    add_alias(ledger, "fox", "a")
    with pytest.raises(AliasError, match=message):
        add_alias(ledger, alias, "a" if alias == "b" else "b")
    assert read_latest(ledger).version == 2


def test_an_alias_needs_a_session(ledger: Path) -> None:
    with pytest.raises(UnknownNameError, match="'minted'"):
        add_alias(ledger, "fox", "minted")


def test_only_what_people_gave_can_be_removed_and_all_or_nothing(ledger: Path) -> None:
    before = dump(ledger)
    add_alias(ledger, "fox", "a")
    add_alias(ledger, "owl", "b")
    with pytest.raises(AliasError, match="whose next reading brings it back"):
        remove_aliases(ledger, ["fox", "minted"])
    with pytest.raises(AliasError, match="no session has it") as unknown:
        remove_aliases(ledger, ["fix"])
    assert "did you mean fox?" in unknown.value.remedy
    assert aliases(ledger).keys() == {"fox", "owl", "minted"}
    assert remove_aliases(ledger, ["owl", "fox"]) == [StoredAlias("fox", "a", True), StoredAlias("owl", "b", True)]
    assert dump(ledger) == before


def test_an_alias_can_be_taken_from_a_ledger_that_knows_no_groups(tmp_path: Path) -> None:
    write_ledger(tmp_path, SAMPLE_ROWS)
    add_alias(tmp_path, "fox", MAIN)
    remove_aliases(tmp_path, ["fox"])
    assert aliases(tmp_path).keys() == {"s-1"}


def test_who_is_overtaken_gives_no_alias_that_another_took(ledger: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    overtake(monkeypatch, lambda: add_alias(ledger, "fox", "b"))
    with pytest.raises(AliasError, match="for the session b"):
        add_alias(ledger, "fox", "a")
    assert aliases(ledger)["fox"][0] == "b"


def test_writers_at_the_same_time_lose_no_alias(ledger: Path) -> None:
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda number: add_alias(ledger, f"fox-{number}", "a"), range(4)))
    assert len(aliases(ledger)) == 5


def test_aliases_go_with_a_session_that_is_forgotten_and_no_others(ledger: Path) -> None:
    add_alias(ledger, "fox", "a")
    add_alias(ledger, "owl", "b")
    forget(ledger, Selection(labels=["a"]))
    assert aliases(ledger) == {"owl": ("b", "identity_promotion")}


def test_a_name_that_a_log_finds_later_stays_with_the_session_that_a_person_gave_it(tmp_path: Path) -> None:
    later = {"session_aliases": [{"alias": "fox", "session_label": "b", "created_at": 1, "reason": "manual"}]}
    for name, found_first in (("one", False), ("two", True)):
        ledger = tmp_path / name
        deliver(ledger, GIVEN, conversation("b"))
        add_alias(ledger, "fox", "a")
        if found_first:
            other = tmp_path / "other"
            deliver(other, conversation("b"), later)
            join_ledger(other, ledger)
            ledger = other
        else:
            deliver(ledger, later)
        assert aliases(ledger)["fox"] == ("a", "identity_promotion")


def test_of_two_ledgers_in_which_people_gave_a_name_differently_one_wins_in_any_order(tmp_path: Path) -> None:
    found = []
    for order in ("ab", "ba"):
        for label in order:
            deliver(tmp_path / f"{order}-{label}", conversation("a"), conversation("b"))
            add_alias(tmp_path / f"{order}-{label}", "fox", label)
        join_ledger(tmp_path / f"{order}-{order[0]}", tmp_path / f"{order}-{order[1]}")
        found.append(aliases(tmp_path / f"{order}-{order[0]}"))
    assert found[0] == found[1] == {"fox": ("b", "identity_promotion")}


def test_aliases_stay_when_a_log_has_grown_or_is_read_again(tmp_path: Path) -> None:
    log = write_log(tmp_path / "log.jsonl", [entry("u-1")])
    ledger = tmp_path / "ledger"
    import_histories(ledger, [log], Settings(jobs=0))
    [(label,)] = aix.open(ledger).sql("select label from sessions").rows()
    minted = aliases(ledger)
    add_alias(ledger, "fox", label)
    expected = minted | {"fox": (label, "identity_promotion")}
    write_log(log, [entry("u-1"), entry("u-2", parent="u-1")])
    for settings in (Settings(jobs=0), Settings(jobs=0, reparse=True)):
        import_histories(ledger, [log], settings)
        assert aliases(ledger) == expected
        assert aix.open(ledger).find_session("fox") == label
    remove_aliases(ledger, ["fox"])
    assert aliases(ledger) == minted


def test_an_alias_of_a_session_that_its_log_no_longer_gives_goes(tmp_path: Path) -> None:
    deliver(tmp_path, {"turns": [turn("u")], "sessions": [session("two", "u")]}, ONE)
    add_alias(tmp_path, "fox", "one")
    add_alias(tmp_path, "owl", "two")
    replace(tmp_path, {**ONE, "sessions": [session("three", "t")]}, "one")
    assert aliases(tmp_path) == {"owl": ("two", "identity_promotion")}


def test_no_importer_gives_the_reason_that_marks_what_people_gave() -> None:
    assert TABLES["session_aliases"].column("reason").words[-1] == "identity_promotion"
    from tests import ROOT

    assert not [path for path in (ROOT / "importers").rglob("*.py") if "identity_promotion" in path.read_text("utf-8")]
