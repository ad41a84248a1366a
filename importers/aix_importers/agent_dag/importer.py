"""The importer itself."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import ClassVar

from aix.importing import Answer, Candidate, Capabilities, Importer, Problem, Rows, Source, Ties
from aix_importers.common import PROBLEM_ADVICE, PROBLEM_NOTES
from aix_importers.common.recognition import PROGRAM_FILES, SUFFIXES, Family, may_hold_lines, recognise

_KEPT = "nothing: kept unchanged"
_ADVICE = {
    **PROBLEM_ADVICE,
    "wrong_event_id": "see aix events verify FILE",
    "several_event_ids": "give an event one event_id",
    "conflicting_node": "give versions a valid_from",
    "credentials": "nothing: never stored",
    "not_canonical": "write it as a text",
    "duplicate_key": "fix the writer of the log",
    "not_a_record": "remove the line",
    **dict.fromkeys(("edge_to_nowhere", "missing_message"), "import the missing file"),
    **dict.fromkeys(("no_id", "no_run", "no_agent"), "add the missing id"),
    "unusable_row": "export the ledger again",
    **dict.fromkeys(("unknown_kind", "unknown_role", "duplicate_seq", "cycle"), _KEPT),
    **dict.fromkeys(("result_without_call", "several_results", "wrong_edge_end"), _KEPT),
}
_NOTES = PROBLEM_NOTES | {
    *("edge_to_nowhere", "missing_message", "not_canonical", "several_event_ids", "wrong_event_id"),
    *(kind for kind, advice in _ADVICE.items() if advice == _KEPT),
}


class AgentDagImporter(Importer):
    """Reads agent graphs: JSON lines that are events, nodes and edges."""

    name: ClassVar[str] = "agent_dag"
    version: ClassVar[str] = "1"
    description: ClassVar[str] = (
        "Agent graphs of JSON lines: events (kind, ts), nodes (node, id), edges (edge, src, dst)."
    )
    problem_advice: ClassVar[Mapping[str, str]] = _ADVICE
    notes: ClassVar[frozenset[str]] = _NOTES
    capabilities: ClassVar[Capabilities] = Capabilities(
        usage=Answer.YES,
        compaction=Answer.YES,
        permissions=Answer.YES,
        subagents=Answer.YES,
        files=Answer.YES,
        codeblocks=Answer.YES,
    )
    suffixes: ClassVar[tuple[str, ...]] = SUFFIXES

    def discover(self, files: Sequence[Candidate]) -> Iterable[Source]:
        """Return the files whose records are events, nodes and edges."""
        return [Source(file.path) for file in files if self._is_own(file)]

    def likely_ties(self, source: Source) -> Sequence[int]:
        """Return the numbers of the names that a glance at a file shows."""
        from aix_importers.agent_dag.ties import likely_numbers

        return likely_numbers(source)

    def extract(self, sources: Sequence[Source]) -> Iterator[Rows | Problem | Ties]:
        """Go through the rows, problems and ties of files that are read together."""
        # Imported here, since most runs find their logs unchanged and read none.
        from aix_importers.agent_dag.extraction import extract_graph

        return extract_graph(sources, self.origin)

    def _is_own(self, file: Candidate) -> bool:
        name = file.name
        if file.claimed_by not in (None, self.name) or not may_hold_lines(name) or name.lower() in PROGRAM_FILES:
            return False
        return bool(file.claimed_by) or recognise(file.path).family is Family.AGENT_DAG
