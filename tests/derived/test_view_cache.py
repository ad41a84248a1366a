"""Rows of views that are computed once: whatever changes, they are the rows that the view's SQL gives."""

import json
import shutil
from collections import Counter
from collections.abc import Callable, Container, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path

import duckdb
import msgspec
import pytest

import aix
from aix.derived import view_cache
from aix.derived.cache_key import are_views_kept
from aix.derived.catalog import CATALOG
from aix.derived.materialised_tables import derived_selects
from aix.derived.view_cache import cached_selects, cached_views
from aix.errors import LedgerDamagedError
from aix.merge import groups as ledger_groups
from aix.merge.forget import forget
from aix.merge.ledger_merge import join_ledger
from aix.merge.rewriting import tidy_groups
from aix.merge.selection import Selection
from aix.merge.tagging import Entity, add_tag
from aix.permissions import derived_tables
from aix.permissions.derived_tables import RULE_TABLES, TargetRows, derive, read_rule_book
from aix.personas.persona_tables import stored_tables
from aix.pipeline.run import Settings, import_histories
from aix.query.views import create_library_views, library_views, with_foundations
from aix.store import locks
from aix.store.garbage import collect
from aix.store.manifest import CACHE_FOLDER, Manifest, Segment, files_of, groups_of, manifest_path, read_latest
from aix.store.views import create_views
from tests import ROOT
from tests.merge.test_groups import conversation
from tests.support.conversations import call, context, message, request, session, turn
from tests.support.row_batches import deliver

pytestmark = pytest.mark.long

FIXTURES = ROOT / "fixtures"
KEPT = [view.name for view in library_views().values() if view.kept_with or view.derived]
FIRST_LOGS = ("compaction_auto", "microcompaction", "forked_copy", "api_errors", "rewind")
GROWING = FIXTURES / "claude_code" / "denials" / "input"
READING_AGAIN = FIXTURES / "library/claude-code/projects/-home-ada-press/a0c0de01-5e55-4000-8000-000000000001.jsonl"
HALF = 20
SECRET = "npm_" + "q7ZkM4xWb9TrNd2LcVy8HsGp5JfRa3EuQwXn"
"""Made up, and in two pieces, so that no scanner finds it here."""

PERSONAS = """
[personas.one]
tools.deny = ["Bash(ls *)"]
[personas.two]
tools.allow = ["Read"]
[[mappings]]
persona = "two"
agent = "p"
[[mappings]]
persona = "one"
origin = "claude-code"
"""
"""The second is that of the rows that `conversation` makes."""
Rows = dict[str, Counter[tuple[object, ...]]]


@dataclass(frozen=True)
class World:
    """Logs, and a ledger of several groups that they were imported into."""

    logs: Path
    ledger: Path

    def load(self, prices: Path | None = None) -> Manifest:
        import_histories(self.ledger, [self.logs], Settings(jobs=0, prices=prices, personas=self.personas))
        return read_latest(self.ledger)

    @property
    def personas(self) -> Path | None:
        file = self.logs.with_name("personas.toml")
        return file if file.exists() else None

    @property
    def growing_log(self) -> Path:
        [log] = (self.logs / path.relative_to(GROWING) for path in GROWING.rglob("*.jsonl"))
        return log

    def write_log(self, lines: int | None = None) -> None:
        text = (GROWING / self.growing_log.relative_to(self.logs)).read_text("utf-8")
        self.growing_log.parent.mkdir(parents=True, exist_ok=True)
        self.growing_log.write_text("".join(text.splitlines(keepends=True)[:lines]), "utf-8")


@pytest.fixture(scope="module", autouse=True)
def several_groups() -> Iterator[None]:
    """Leave small groups apart, so that there are several, and that families are dead where they were."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ledger_groups, "_TIMES_LARGER", 0)
        yield


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> World:
    folder = tmp_path_factory.mktemp("kept")
    world = World(folder / "logs", folder / "ledger")
    for name in FIRST_LOGS:
        shutil.copytree(FIXTURES / "claude_code" / name / "input", world.logs, dirs_exist_ok=True)
    shutil.copy(READING_AGAIN, world.logs / READING_AGAIN.name)
    world.write_log(HALF)
    write_rules(world, allow=["Bash", "Bash(ls *)"])
    (folder / "personas.toml").write_text(PERSONAS, "utf-8")
    world.load()
    secret = {"messages": [message("m-secret", "apart-0", "user", content=f"{SECRET} for @[Ada](user:ada)")]}
    deliver(world.ledger, conversation("apart"), secret)
    return world


@pytest.fixture
def world(made: World, tmp_path: Path) -> Iterator[World]:
    """Give a copy of the ledger; the logs stay in their place, which is a part of what they are."""
    shutil.copytree(made.ledger, tmp_path / "ledger")
    yield replace(made, ledger=tmp_path / "ledger")
    if len(made.growing_log.read_text("utf-8").splitlines()) != HALF:
        made.write_log(HALF)


def rows_by_sql(ledger: Path) -> Rows:
    """The rows that the SQL of the views, and derivation, give on the whole ledger."""
    with duckdb.connect() as connection:
        create_views(connection, ledger, read_latest(ledger))
        derived = [view.name for view in library_views().values() if view.derived]
        personas = stored_tables(ledger, read_latest(ledger))
        derive(connection, derived, read_rule_book(connection), personas=personas)
        for view in library_views().values():
            if view.derived:
                continue
            create_library_views(connection, [view])
            if view.kept_with:  # asked once, however many others stand on it
                rows = connection.table(view.name).to_arrow_table()
                connection.execute(f"drop view {view.name}")
                connection.register(view.name, rows)
        return {name: Counter(connection.table(name).fetchall()) for name in KEPT}


def kept_rows(ledger: Path) -> Rows:
    version = read_latest(ledger)
    selects = derived_selects(ledger, version) | cached_selects(ledger, version, cached_views())
    with duckdb.connect() as connection:
        return {name: Counter(connection.sql(select).fetchall()) for name, select in selects.items()}


def view_files(version: Manifest, but: Container[str] = ()) -> dict[str | None, set[Segment]]:
    views = {name: files for name, files in version.views.items() if name not in but}
    return {group: {each for files in named.values() for each in files} for group, named in groups_of(views).items()}


def cached_files(ledger: Path) -> dict[str, dict[str, int]]:
    """Return by group the files of the cache, each with the time at which it was written."""
    folders = (ledger / CACHE_FOLDER).iterdir()
    return {folder.name: {path.name: path.stat().st_mtime_ns for path in folder.iterdir()} for folder in folders}


def rows_read(ledger: Path, *names: str) -> Rows:
    with aix.open(ledger) as opened:
        return {name: Counter(opened.sql(f"from {name}").rows()) for name in names}


def strip(ledger: Path) -> None:
    """Make the newest version one of an AIX that kept no views."""
    path = manifest_path(ledger, read_latest(ledger).version)
    said = json.loads(path.read_text("utf-8"))
    del said["views"], said["views_made_by"]
    path.write_text(json.dumps(said), "utf-8")


def write_rules(world: World, **rules: list[str]) -> None:
    (world.logs / "managed-settings.json").write_text(json.dumps({"permissions": rules}), "utf-8")


def grow_a_log(world: World) -> None:
    world.write_log()
    world.load()


def tag_a_session(world: World) -> None:
    label = aix.open(world.ledger).sql("select min(label) from sessions").rows()[0][0]
    add_tag(world.ledger, "mine", [Entity("sessions", str(label))], 1)


def forget_a_session(world: World) -> None:
    label = aix.open(world.ledger).sql("select min(session_label) from v_compactions").rows()[0][0]
    forget(world.ledger, Selection(labels=[str(label)]))


def put_groups_together(world: World) -> None:
    assert tidy_groups(world.ledger)


def set_own_prices(world: World) -> None:
    prices = world.ledger.with_name("prices.csv")
    models = [model for (model,) in aix.open(world.ledger).sql("select distinct model from v_requests").rows()]
    prices.write_text("model,input,output\n" + "".join(f"{model},17,19\n" for model in models if model))
    world.load(prices)
    assert aix.open(world.ledger).sql("select max(output_price_usd) * 1000000 from v_requests").rows() == [(19,)]


def join_another_ledger(world: World) -> None:
    other = world.ledger.with_name("other")
    deliver(other, conversation("apart", 2), conversation("other"))
    join_ledger(world.ledger, other)


def bring_prices_as_rows(world: World) -> None:
    price = {"provider": "", "model": "claude-next", "variant": "standard", "valid_from": 0, "valid_to": 2**62}
    tier = {"tier_start_tokens": 0, "tier_end_tokens": 2**62, "input_usd": 1, "output_usd": 1, "price_basis": "told"}
    requests = [request("r", None, 1, model="claude-next", input_tokens=1)]
    deliver(world.ledger, {"requests": requests, "model_prices": [{**price, **tier}]})


def write_another_rule(world: World) -> None:
    write_rules(world, allow=["Bash", "Bash(ls *)"], deny=["Read"])
    world.load()
    write_rules(world, allow=["Bash", "Bash(ls *)"])
    assert ("deny",) in aix.open(world.ledger).sql("select distinct kind from rule_matches").rows()


def bring_requests_of_no_session_and_a_new_model_at_the_same_time(world: World) -> None:
    values = {"kind": "main", "model": "gpt-4o", "provider": "openai", "input_tokens": 1}

    def bring(name: str) -> None:
        rows = [request(f"r-{place}-{name}", place, 1_770_000_000_000, **values) for place in (f"t-{name}", None)]
        deliver(world.ledger, {"turns": [turn(f"t-{name}")], "turn_context": [context(f"t-{name}")], "requests": rows})

    with ThreadPoolExecutor(2) as writers:
        list(writers.map(bring, ("one", "two")))
    priced = aix.open(world.ledger).sql("select count(cost_usd) from v_requests where model = 'gpt-4o'")
    assert priced.rows() == [(4,)]


CHANGES = [
    grow_a_log,
    tag_a_session,
    forget_a_session,
    put_groups_together,
    set_own_prices,
    join_another_ledger,
    bring_prices_as_rows,
    write_another_rule,
    bring_requests_of_no_session_and_a_new_model_at_the_same_time,
]


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_kept_rows_are_those_of_the_sql_and_unchanged_groups_keep_their_files(
    change: Callable[[World], None], world: World
) -> None:
    before = read_latest(world.ledger)
    kept_rows(world.ledger)
    cached_before = cached_files(world.ledger)
    change(world)
    after = read_latest(world.ledger)
    assert after.version > before.version
    assert kept_rows(world.ledger) == rows_by_sql(world.ledger)
    groups, groups_before = groups_of(after.tables), groups_of(before.tables)
    unchanged = {group for group, files in groups.items() if groups_before.get(group) == files}
    follow_rules = RULE_TABLES if after.rules != before.rules else frozenset()
    assert bool(follow_rules) == (change is write_another_rule)
    of_groups, of_groups_before = view_files(after, follow_rules), view_files(before, follow_rules)
    cached = cached_files(world.ledger)
    for group in unchanged & cached_before.keys():
        assert cached_before[str(group)].items() <= cached[str(group)].items()
    if after.views_made_by == before.views_made_by:
        assert all(of_groups.get(group) == of_groups_before.get(group) for group in unchanged)
        assert all(cached_before.get(str(group)) == cached.get(str(group)) for group in unchanged)
    else:
        assert change in (set_own_prices, bring_prices_as_rows)
        assert not set().union(*of_groups.values()) & set().union(*of_groups_before.values())


def test_every_kept_view_has_rows_in_several_groups(world: World) -> None:
    assert all(kept_rows(world.ledger).values()), "else these tests say nothing of it"
    assert len(list((world.ledger / CACHE_FOLDER).glob("*/v_requests-*"))) > 1


def test_all_ways_of_reading_give_the_same_rows(world: World) -> None:
    expected = rows_by_sql(world.ledger)
    assert rows_read(world.ledger, *KEPT) == expected
    with duckdb.connect(str(world.ledger / CATALOG), read_only=True) as plain:
        assert {name: Counter(plain.table(name).fetchall()) for name in KEPT} == expected


def test_whoever_cannot_write_the_cache_gets_the_same_rows(world: World) -> None:
    shutil.rmtree(world.ledger / CACHE_FOLDER, ignore_errors=True)
    (world.ledger / CACHE_FOLDER).write_text("in the way")
    names = ("v_requests", "v_compactions", "call_targets")
    by_sql = rows_read(world.ledger, *names)
    (world.ledger / CACHE_FOLDER).unlink()
    assert cached_selects(world.ledger, read_latest(world.ledger), names).keys() == set(names)
    assert rows_read(world.ledger, *names) == by_sql


def test_a_link_in_the_place_of_the_cache_is_not_followed(world: World, tmp_path: Path) -> None:
    shutil.rmtree(world.ledger / CACHE_FOLDER, ignore_errors=True)
    (tmp_path / "elsewhere").mkdir()
    (world.ledger / CACHE_FOLDER).symlink_to(tmp_path / "elsewhere")
    assert cached_selects(world.ledger, read_latest(world.ledger), ["v_requests"]) == {}
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_a_file_that_was_half_written_is_never_taken(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.rmtree(world.ledger / CACHE_FOLDER, ignore_errors=True)
    monkeypatch.setattr(Path, "replace", lambda *_: (_ for _ in ()).throw(OSError("the power is gone")))
    assert cached_selects(world.ledger, read_latest(world.ledger), ["v_requests"]) == {}
    monkeypatch.undo()
    assert rows_read(world.ledger, "v_requests") == {"v_requests": rows_by_sql(world.ledger)["v_requests"]}


def test_no_cached_view_follows_from_permission_rules() -> None:
    needed = with_foundations(cached_views(), library_views())
    assert RULE_TABLES.isdisjoint(view.name for view in needed), "rules change while groups stay"


def test_vacuum_leaves_the_files_of_the_newest_version_and_no_others(world: World) -> None:
    deliver(world.ledger, conversation("apart", 2))
    collect(world.ledger, 0)
    newest = read_latest(world.ledger)
    assert {f"data/{path.name}" for path in (world.ledger / "data").iterdir()} == files_of(newest)
    assert cached_files(world.ledger).keys() <= newest.indexes.keys()
    assert kept_rows(world.ledger) == rows_by_sql(world.ledger)


def test_a_ledger_without_kept_views_reads_the_same_and_gets_them_in_a_run_without_news(world: World) -> None:
    names = ("v_requests", "v_calls")
    expected, expected_here = kept_rows(world.ledger), rows_read(world.ledger, *names)
    strip(world.ledger)
    stripped = read_latest(world.ledger)
    assert rows_read(world.ledger, *names) == expected_here
    renewed = world.load()
    assert renewed.version == stripped.version + 1
    assert renewed.tables == stripped.tables
    assert kept_rows(world.ledger) == expected
    assert world.load() == renewed


def test_a_ledger_of_an_earlier_release_gets_kept_views(tmp_path: Path) -> None:
    shutil.copytree(FIXTURES / "ledgers" / "schema_1", tmp_path / "ledger")
    (tmp_path / "logs").mkdir()
    World(tmp_path / "logs", tmp_path / "ledger").load()  # which finds nothing, but other prices and no views
    assert kept_rows(tmp_path / "ledger") == rows_by_sql(tmp_path / "ledger")
    deliver(tmp_path / "ledger", conversation("new"))
    assert kept_rows(tmp_path / "ledger") == rows_by_sql(tmp_path / "ledger")
    assert None not in view_files(read_latest(tmp_path / "ledger")), "now its rows are in groups"


def test_rows_of_families_that_only_move_are_copied(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    known = derived_selects(world.ledger, read_latest(world.ledger))
    asked: list[object] = []
    about = TargetRows.about

    def noted(rows: TargetRows, question: tuple[object, ...]) -> object:
        asked.append(question)
        return about(rows, question)

    monkeypatch.setattr(TargetRows, "about", noted)
    before = {name: rows for name, rows in kept_rows(world.ledger).items() if name in known}
    put_groups_together(world)
    assert asked == []
    after = kept_rows(world.ledger)
    assert {name: after[name] for name in known} == before
    monkeypatch.setattr(ledger_groups, "_TIMES_LARGER", float("inf"))
    calls = {
        "tool_calls": [call("k", "more-0")],
        "permission_decisions": [{"call_id": "k", "turn_id": "more-0", "outcome": "ran"}],
    }
    deliver(world.ledger, conversation("more"), calls)
    assert len(read_latest(world.ledger).indexes) == 1
    assert len(asked) == 1
    assert kept_rows(world.ledger) == rows_by_sql(world.ledger)


@pytest.mark.parametrize(
    ("name", "sql"),
    [
        ("v_calls", "select error('no') as call_id from tool_calls"),
        ("v_requests_usage", "select no_such_column from requests"),
    ],
    ids=["cached", "below a cached one"],
)
def test_a_view_that_fails_leaves_nothing_in_the_cache(
    name: str, sql: str, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.rmtree(world.ledger / CACHE_FOLDER, ignore_errors=True)
    views = library_views()
    monkeypatch.setattr(
        view_cache, "library_views", lambda: {**views, name: msgspec.structs.replace(views[name], sql=sql)}
    )
    deliver(world.ledger, conversation("new"))
    assert cached_selects(world.ledger, read_latest(world.ledger), ["v_calls"]) == {}
    monkeypatch.undo()
    assert not list((world.ledger / CACHE_FOLDER).glob("*/v_calls-*"))
    assert kept_rows(world.ledger) == rows_by_sql(world.ledger)


def fail(*_: object, **__: object) -> None:
    raise duckdb.Error("it cannot be derived")


def test_a_derivation_that_fails_stops_no_commit(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(derived_tables, "derived_rows", fail)
    grow_a_log(world)
    assert read_latest(world.ledger).views == {}
    assert derived_selects(world.ledger, read_latest(world.ledger)) == {}
    monkeypatch.undo()
    deliver(world.ledger, conversation("newer"))
    assert kept_rows(world.ledger) == rows_by_sql(world.ledger)


def test_a_derivation_that_fails_is_not_tried_again_in_every_run(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    strip(world.ledger)
    monkeypatch.setattr(derived_tables, "derived_rows", fail)
    tried = world.load()
    assert (tried.views, are_views_kept(tried)) == ({}, True)
    assert world.load() == tried


def test_a_commit_ends_where_turns_follow_each_other_in_a_circle(tmp_path: Path) -> None:
    turns = [turn("a", "b"), turn("b", "a"), turn("c", "a")]
    rows = {"turns": turns, "turn_context": [context(each["id"]) for each in turns], "sessions": [session("s", "b")]}
    deliver(tmp_path, rows)
    assert rows_read(tmp_path, "v_abandoned_turns") == {"v_abandoned_turns": Counter([("c", True)])}


def test_a_manifest_cannot_name_a_place_elsewhere_for_cached_rows(world: World, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.mkdir(mode=0o755)
    path = manifest_path(world.ledger, read_latest(world.ledger).version)
    group = read_latest(world.ledger).tables["requests"][0].group
    path.write_text(path.read_text("utf-8").replace(str(group), str(victim)), "utf-8")
    with pytest.raises(LedgerDamagedError, match="which is not a plain name"):
        rows_read(world.ledger, "v_requests")
    assert (list(victim.iterdir()), victim.stat().st_mode & 0o777) == ([], 0o755)


def test_a_link_in_the_place_of_a_group_is_neither_read_nor_written(world: World, tmp_path: Path) -> None:
    rows_read(world.ledger, "v_requests")
    expected = rows_by_sql(world.ledger)["v_requests"]
    for folder in list((world.ledger / CACHE_FOLDER).iterdir()):
        other = tmp_path / "elsewhere" / folder.name
        shutil.copytree(folder, other)
        shutil.rmtree(folder)
        folder.symlink_to(other)
        for file in other.iterdir():
            file.write_bytes(b"PAR1")
    assert cached_selects(world.ledger, read_latest(world.ledger), ["v_requests"]) == {}
    assert rows_read(world.ledger, "v_requests") == {"v_requests": expected}


def test_a_file_that_was_cut_short_is_made_again(world: World) -> None:
    expected = rows_read(world.ledger, "v_requests")
    files = list((world.ledger / CACHE_FOLDER).glob("*/v_requests-*"))
    files[0].write_bytes(b"")
    files[1].write_bytes(files[1].read_bytes()[:-1])
    assert rows_read(world.ledger, "v_requests") == expected
    assert all(file.read_bytes().endswith(b"PAR1") for file in files)


def test_rows_of_what_was_forgotten_meanwhile_are_not_kept(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.rmtree(world.ledger / CACHE_FOLDER, ignore_errors=True)
    version = read_latest(world.ledger)

    def forget_first(ledger: Path) -> AbstractContextManager[None]:
        monkeypatch.undo()
        forget_a_session(world)
        return locks.among_writers(ledger)

    monkeypatch.setattr(locks, "among_writers", forget_first)
    cached_selects(world.ledger, version, ["v_requests"])
    kept = {folder.name for folder in (world.ledger / CACHE_FOLDER).iterdir() if list(folder.iterdir())}
    assert kept <= read_latest(world.ledger).indexes.keys()


def test_other_words_do_not_fill_the_cache(world: World) -> None:
    shutil.rmtree(world.ledger / CACHE_FOLDER, ignore_errors=True)
    with aix.open(world.ledger) as ledger:
        ledger.sql("select count(*) from messages where content like '%show me%'").rows()
    assert not (world.ledger / CACHE_FOLDER).exists()


def test_vacuum_removes_rows_of_other_views(world: World) -> None:
    rows_read(world.ledger, "v_requests")
    [folder, *_] = (world.ledger / CACHE_FOLDER).iterdir()
    old, part = folder / "v_requests-0000000000000000.parquet", folder / ".0123.part"
    old.write_bytes(b"PAR1")
    part.write_bytes(b"")
    collect(world.ledger, 0, view_cache.is_cache_of)
    assert not old.exists()
    assert not part.exists()
    assert rows_read(world.ledger, "v_requests")["v_requests"] == rows_by_sql(world.ledger)["v_requests"]


def test_settings_of_ones_own_hold_for_what_is_found_by_name_first(world: World) -> None:
    settings = world.ledger.with_name("settings.json")
    settings.write_text('{"permissions": {"deny": ["Bash(rm *)"]}}')
    label = str(aix.open(world.ledger).sql("select min(label) from sessions").rows()[0][0])
    with aix.open(world.ledger) as opened, opened.under(settings) as ruled:
        assert ruled.find_session(label) == label
        assert ruled.sql("select kind, rule from permission_rules").rows() == [("deny", "Bash(rm *)")]
