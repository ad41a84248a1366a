"""Where queries and views are: the packs that AIX brings along, its views, and the packs of other distributions.

A distribution adds a pack by an entry point of the group `aix.queries`: its name is that of the pack, its value a
package whose folder holds the SQL files. A pack that cannot be used is named, and keeps no other from working.
"""

from collections.abc import Iterable, Mapping
from functools import cache
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from aix.errors import AixError, AmbiguousQueryError, QueryFileError, QueryPackError, UnknownQueryError
from aix.plugins import entry_points_of
from aix.query.query_file import Query, query_root, read_query_file

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "aix.queries"
VIEWS = "views"
"""The folder of the building blocks, which are no queries."""
HEALTH = "health"
"""The pack of the checks that `aix check` runs."""
START = (
    "token_economics/waste",
    "token_economics/cache_savings",
    "token_economics/spending_trend",
    "token_economics/what_if",
    "token_economics/carry_cost",
    "token_economics/cache_break_causes",
    "token_economics/budget",
    "compaction_impact/break_even",
    "compaction_impact/what_if",
    "permission_usage/risks",
)
"""The queries to start with, the best first."""
PACK_ORDER = ("token_economics", "compaction_impact", "permission_usage", "programs", "overview", "tree", "agent_dag")
"""The packs of AIX in the order in which people get them; others follow, and the checks come last."""
_TITLES = {HEALTH: "Health checks", "agent_dag": "Agent graphs", "tree": "Tree of turns"}


class Pack(msgspec.Struct, frozen=True):
    """A folder of queries."""

    name: str
    distribution: str
    """The distribution that brings it; empty for those of AIX."""
    files: Mapping[str, Path]
    """By the full name of the query."""
    problem: str = ""
    """Why it cannot be used."""


def read_packs(chosen: Iterable[Pack]) -> tuple[list[Query], list[AixError]]:
    """Read all files of these packs; what cannot be used is told beside those that can."""
    queries: list[Query] = []
    problems: list[AixError] = []
    for pack in chosen:
        if pack.problem:
            problems.append(QueryPackError(pack.name, pack.distribution, pack.problem))
        for name, path in pack.files.items():
            try:
                queries.append(read_query_file(name, path))
            except QueryFileError as error:
                problems.append(error)
    return queries, problems


def packs() -> list[Pack]:
    """Return all packs, those of AIX first.

    >>> [pack.name for pack in packs()][:3]
    ['agent_dag', 'compaction_impact', 'health']
    """
    own = _own_packs()
    taken = {pack.name for pack in own} | {VIEWS}
    by_name: dict[str, list[EntryPoint]] = {}
    for point in entry_points_of(GROUP):
        by_name.setdefault(point.name, []).append(point)
    return [*own, *(_registered_pack(points, taken) for points in by_name.values())]


def find_pack(name: str, known: Iterable[Pack]) -> Pack | None:
    """Return the pack of that name, in which `-` stands for `_` where no pack is called so.

    >>> [found and found.name for found in (find_pack("agent-dag", packs()), find_pack("nope", packs()))]
    ['agent_dag', None]
    """
    by_name = {pack.name: pack for pack in known}
    return by_name.get(name) or by_name.get(name.replace("-", "_"))


def pack_title(name: str) -> str:
    """Return the name of a pack in words.

    >>> pack_title("compaction_impact"), pack_title("health")
    ('Compaction impact', 'Health checks')
    """
    return _TITLES.get(name) or name.replace("_", " ").capitalize()


def own_query_names() -> list[str]:
    """Return the full name of every query that AIX brings along."""
    return [name for pack in _own_packs() for name in pack.files]


def is_own(query: Query) -> bool:
    """Whether a query is one that AIX brings along, as its file has it."""
    return query.path.is_relative_to(query_root()) and query == find_query(query.name)


def query_names() -> list[str]:
    """Return the full name of every query.

    >>> "overview/table_rows" in query_names()
    True
    """
    return [name for pack in packs() for name in pack.files]


def find_query(name: str) -> Query:
    """Return the query of that name; the pack may be shortened or left out where no other has a query of that name.

    >>> find_query("table_rows").question
    'How many rows does each table of the ledger hold?'
    >>> find_query("token/what_if").name, find_query("agent-dag/run_history").name
    ('token_economics/what_if', 'agent_dag/run_history')
    """
    for pack in _own_packs():  # without a look at what else is installed
        if name in pack.files:
            return read_query_file(name, pack.files[name])
    known = packs()
    files = {full: path for pack in known for full, path in pack.files.items()}
    found = _names_like(name, files) or _names_like(name.replace("-", "_"), files)
    if len(found) > 1:
        raise AmbiguousQueryError(name, tuple(found))
    if found:
        return read_query_file(found[0], files[found[0]])
    for pack in known:
        if pack.problem and name.startswith(f"{pack.name}/"):
            raise QueryPackError(pack.name, pack.distribution, pack.problem)
    raise UnknownQueryError(name, tuple(files))


def _names_like(name: str, files: Iterable[str]) -> list[str]:
    """Return the full names that a name may stand for."""
    beginning, slash, last = name.rpartition("/")
    alike = [full for full in files if full.rpartition("/")[2] == last and full.startswith(beginning)]
    return [name] if name in files else alike if beginning or not slash else []


@cache
def _own_packs() -> list[Pack]:
    root = query_root()
    folders = [folder for folder in sorted(root.iterdir()) if folder.is_dir() and folder.name != VIEWS]
    found = [Pack(folder.name, "", _files(folder.name, folder)) for folder in folders]
    return [pack for pack in found if pack.files]


def _registered_pack(points: "list[EntryPoint]", taken: set[str]) -> Pack:
    point = points[0]
    owners = [each.dist.name if each.dist else "?" for each in points]
    if len(points) > 1:
        return Pack(point.name, owners[0], {}, f"several distributions register it: {' and '.join(owners)}")
    if point.name in taken:
        return Pack(f"{point.name} of {owners[0]}", owners[0], {}, f"{point.name} is the name of a pack of AIX")
    try:
        folder = _folder_of(point.module)
        files = _files(point.name, folder)
    except (Exception, SystemExit) as error:  # a plugin may fail in any way; the others go on
        return Pack(point.name, owners[0], {}, f"{point.value} cannot be found: {type(error).__name__}: {error}")
    return Pack(point.name, owners[0], files, "" if files else f"{folder} holds no SQL file")


def _folder_of(module: str) -> Path:
    """Find where a package lies without running it."""
    top, *inner = module.split(".")
    found = find_spec(top)  # of a dotted name, it would import the parents
    for location in (found and found.submodule_search_locations) or ():
        folder = Path(location, *inner)
        if folder.is_dir():
            return folder
    raise ModuleNotFoundError(f"No package named {module!r}")


def _files(pack: str, folder: Path) -> dict[str, Path]:
    paths = sorted(folder.rglob("*.sql"))
    return {f"{pack}/{path.relative_to(folder).with_suffix('').as_posix()}": path for path in paths}


@cache
def library_views_digest() -> str:
    """Return what changes when a view of AIX does."""
    return views_digest(query_root() / VIEWS)


def views_digest(folder: Path) -> str:
    """Return what changes when a view file does."""
    contents = [path.name.encode() + b"\0" + path.read_bytes() for path in sorted(folder.glob("*.sql"))]
    return sha256(b"\0".join(contents)).hexdigest()[:16]
