"""Sources that must be read together because they are tied, and have not been.

All that ties a source to others is only known once it is read. So a run first reads what has changed, together with the
sources that the ledger knows to be tied to it, or that a glance at them shows to be; then it looks for sets of tied
sources that were not read together as they are now. What is tied to a source may lie where nobody looked in this run:
such sources are found again by what the ledger has of them.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from operator import itemgetter
from pathlib import Path

import msgspec

from aix.pipeline.contract import Importer
from aix.pipeline.discovery import Walk, discover, stamp
from aix.pipeline.plan import Planned, State, make_plan, owner_by
from aix.pipeline.read_outcomes import Known
from aix.pipeline.ties import SourceGraph, likely_numbers, reading_of
from aix.pipeline.worker_messages import Group
from aix.store.engine import engine
from aix.store.manifest import EMPTY, EntryFile, Manifest, is_ledger, read_latest
from aix.store.sources import NO_TIES, Fingerprints, SourceTies, read_fingerprints, read_ties
from aix.store.views import create_views


class ConnectedSources:
    """Finds what must be read together, from round to round."""

    def __init__(
        self,
        ledger: Path,
        plan: Sequence[Planned],
        known: Known,
        importers: Sequence[Importer],
        machine: str | None,
    ) -> None:
        self._ledger = ledger
        self._known = known
        self._importers = importers
        self._machine = machine
        self._planned = {each.id: each for each in plan}
        self._parts = _by_group(plan)
        self._contents: dict[str, str] = {}
        """Of everything that was read in this run."""
        self._part_of = {each.id: part for part in self._parts for each in part}
        self._graph: tuple[tuple[EntryFile, ...], SourceGraph] = ((), SourceGraph(NO_TIES))
        """The ties that a version had when they were last asked for, with the files that hold them."""
        self._held: set[str] = set()
        """Sources that were read, and held back from being committed."""
        self._tried: set[frozenset[str]] = set()
        self.left_undone = self._version().unfinished
        """Runs of earlier releases that died before they read together what is tied, and whose work this run does."""
        self._looks_everywhere = bool(self.left_undone)

    def first_groups(self) -> list[Group]:
        """Return what must be read because it has changed, with everything that is known to be tied to it."""
        to_read = [_ids(part) for part in self._parts if any(each.state.must_be_read for each in part)]
        version = self._version()
        graph = self._graph_of(version)
        self._known.tied = set(graph.stored)
        changed = {source for ids in to_read for source in ids}
        sets = list(graph.sets_with(changed, self._glances(changed, graph.stored)))
        if sets:
            self._look_for(version, sets)
            self._tried.update(map(self._here, sets))
        return [self._group(ids) for ids in _merged([*to_read, *sets, *self._parts_of(sets)])]

    def _glances(self, sources: Collection[str], stored: Mapping[str, SourceTies]) -> dict[str, SourceTies]:
        """Return the likely ties of sources, with those that the ledger has of each; one alone is tied to nothing."""
        if len(sources) == 1 and not stored:
            return {}
        glances = {}
        for source in sources:
            planned = self._planned[source]
            if numbers := likely_numbers(planned.claim.importer, planned.source, self._machine):
                known = stored.get(source, SourceTies())
                glances[source] = SourceTies(known.read_with, known.numbers + numbers)
        return glances

    def hold_back(self, contents: Mapping[str, str], ties: Mapping[str, SourceTies], waiting: set[str]) -> set[str]:
        """Return those of the sources that wait to be committed that belong to a set which was not read together."""
        held = self.read_along(self._sets_left(contents, ties, waiting)) & waiting
        self._held |= held
        return held

    def sets_left(self, contents: Mapping[str, str], ties: Mapping[str, SourceTies]) -> list[frozenset[str]]:
        """Return the sets of tied sources that were not read together as they are now, given what was just read.

        A source that was held back is in one of them, if need be alone: its set may be another by now.
        """
        self._contents.update(contents)
        left = self._sets_left(contents, ties, None if self._looks_everywhere else self._contents)
        alone = self._held - self.read_along(left)
        self._looks_everywhere, self._held = False, set()
        return [*left, *(frozenset({source}) for source in sorted(alone))]

    def _sets_left(
        self, contents: Mapping[str, str], ties: Mapping[str, SourceTies], among: Collection[str] | None
    ) -> list[frozenset[str]]:
        """Return the sets left that hold some of the sources given, or else all sets left."""
        self._contents.update(contents)
        version = self._version()
        graph = self._graph_of(version)
        held_ties = {**graph.stored, **ties}
        self._known.tied.update(held_ties)
        sets = list(graph.sets_with(among, ties))
        known = {**read_fingerprints(self._ledger, version.fingerprints), **self._known.fingerprints} if sets else {}
        held = {**{source: each.content for source, each in known.items()}, **self._contents}
        suspect = [ids for ids in sets if not _were_read_together(ids, held, held_ties)]
        self._look_for(version, suspect)
        here = {ids: self._here(ids) for ids in suspect}
        left = [ids for ids in suspect if len(here[ids]) > 1 and here[ids] not in self._tried]
        return [ids for ids in left if not _were_read_together(here[ids], held, held_ties)]

    def read_along(self, sets: Iterable[frozenset[str]]) -> set[str]:
        """Return all sources that are read when these sets are."""
        listed = list(sets)
        return {source for ids in (*listed, *self._parts_of(listed)) for source in ids}

    def groups_of(self, sets: Sequence[frozenset[str]]) -> list[Group]:
        """Return what makes workers read these sets; what the ledger has by now is only read along."""
        for source in {source for ids in sets for source in ids if source in self._contents}:
            if source in self._known.committed:
                now = {"state": State.UNCHANGED, "is_known": True, "replaces": False}
                self._put(msgspec.structs.replace(self._planned[source], **now))
        self._tried.update(map(self._here, sets))
        return [self._group(ids) for ids in _merged([*sets, *self._parts_of(sets)])]

    def _graph_of(self, version: Manifest) -> SourceGraph:
        """Return the ties that a version has; of a small plan, no commit lies between two questions."""
        if self._graph[0] != version.ties:
            self._graph = ((), SourceGraph(NO_TIES))  # not two of them in memory at a time
            self._graph = (version.ties, SourceGraph(read_ties(self._ledger, version.ties)))
        return self._graph[1]

    def _version(self) -> Manifest:
        return read_latest(self._ledger) if is_ledger(self._ledger) else EMPTY

    def _look_for(self, version: Manifest, sets: Iterable[frozenset[str]]) -> None:
        """Find sources of earlier runs where they were, as if their files had been given."""
        missing = {source for ids in sets for source in ids if source not in self._planned}
        if not missing:
            return
        fingerprints = {**read_fingerprints(self._ledger, version.fingerprints), **self._known.fingerprints}
        by_name = {importer.name: importer for importer in self._importers}
        prefix = f"{self._machine}:" if self._machine else ""
        # A walk for each file: with others around, an importer may not look for what lies beside it.
        walks: dict[tuple[str, str], Walk] = {}
        for name, path, importer in sorted(self._places(version, missing), key=itemgetter(1)):
            is_here = name == prefix + path or name.startswith(f"{prefix}{path}#")
            if not is_here or importer not in by_name:  # another run could read it
                self.left_undone = ()
                continue
            walk = walks.setdefault((importer, path), Walk(path, [by_name[importer]]))
            with suppress(OSError):
                walk.stamps[path] = stamp(Path(path).stat())
        owner = owner_by(self._importers, fingerprints, self._machine)
        found = discover(list(walks.values()), owner, are_given=False)
        for each in make_plan(found, fingerprints, machine=self._machine, reparse=False):
            if each.id in missing:
                self._known.fingerprints[each.id] = fingerprints[each.id]
                self._put(each)

    def _places(self, version: Manifest, ids: Collection[str]) -> list[tuple[str, str, str]]:
        """Return the name, path and importer of the sources with these ids."""
        with engine(self._ledger) as connection:
            create_views(connection, self._ledger, version, ["import_sources"])
            return connection.execute(
                "select source_key, path, importer from import_sources"
                " where substr(sha256(source_key), 1, 32) in (select unnest($ids))",
                {"ids": list(ids)},
            ).fetchall()

    def _here(self, ids: Collection[str]) -> frozenset[str]:
        """Leave out sources that are gone from disk, or another machine's."""
        return frozenset(source for source in ids if source in self._planned)

    def _put(self, planned: Planned) -> None:
        self._planned[planned.id] = planned
        self._known.planned[planned.source] = planned

    def _parts_of(self, sets: Iterable[frozenset[str]]) -> Iterator[frozenset[str]]:
        """Go through the groups of the plan that have a source in one of these sets: they come along as a whole."""
        parts = (self._part_of.get(source) for ids in sets for source in ids)
        return map(_ids, {id(part): part for part in parts if part}.values())

    def _group(self, ids: Collection[str]) -> Group:
        members = [self._planned[source] for source in ids if source in self._planned]
        is_whole = len(members) == len(ids)
        parts = _by_group(members)
        by_itself = [
            _group_of(part, self._known.fingerprints, is_whole=False)
            for part in parts
            if len(parts) > 1 and any(each.state.must_be_read for each in part)
        ]
        return _group_of(members, self._known.fingerprints, by_itself, is_whole=is_whole)


def _ids(part: Iterable[Planned]) -> frozenset[str]:
    return frozenset(each.id for each in part)


def _were_read_together(ids: Collection[str], contents: Mapping[str, str], ties: Mapping[str, SourceTies]) -> bool:
    reading = reading_of({source: contents.get(source, "") for source in ids})
    return all(ties[source].read_with == reading for source in ids)


def _merged(sets: Iterable[frozenset[str]]) -> list[set[str]]:
    """Put sets together that have a source in common."""
    set_of: dict[str, set[str]] = {}
    for ids in sets:
        whole = set(ids)
        for other in {id(found): found for source in ids if (found := set_of.get(source))}.values():
            whole |= other
        set_of.update(dict.fromkeys(whole, whole))
    return list({id(each): each for each in set_of.values()}.values())


def _by_group(plan: Iterable[Planned]) -> list[list[Planned]]:
    """Return sources side by side that their importer calls a group."""
    by_name: dict[tuple[str, str], list[Planned]] = {}
    for each in plan:
        by_name.setdefault((each.claim.importer.name, each.source.group or each.source.name), []).append(each)
    return list(by_name.values())


def _group_of(
    members: Sequence[Planned], known: Fingerprints, parts: Sequence[Group] = (), *, is_whole: bool = True
) -> Group:
    """Return what tells a worker to read these sources together, in the order of their names."""
    ordered = sorted(members, key=lambda each: each.source.name)
    importer = ordered[0].claim.importer
    return Group(
        importer.name,
        dict(importer.options),
        tuple(each.source for each in ordered),
        sum(each.size_bytes for each in ordered),
        tuple(known[each.id].size_bytes if each.id in known else -1 for each in ordered),
        tuple(parts),
        is_whole,
    )
