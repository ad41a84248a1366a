"""Where the runs of a graph come from: forks, subagents and the calls that started them, and messages that runs share.

All of it is known before the first row of a run is made, so that runs can be written one by one.
"""

import sqlite3
from array import array
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from functools import partial

from msgspec import Struct

from aix_importers.agent_dag.calls import is_global_id
from aix_importers.agent_dag.cycles import find_cycles
from aix_importers.agent_dag.graph import Graph, Run
from aix_importers.agent_dag.messages import texts_in
from aix_importers.agent_dag.records import Event, Node, ref_id
from aix_importers.agent_dag.references import References
from aix_importers.agent_dag.turns import CONTEXT_RESET, Outline, Placement
from aix_importers.common.json_text import compact_json

_SUBAGENT = "subagent"
_TASK_CHARACTERS = 200
_OUTPUT, _APPEND, _INPUT = range(3)
"""How a run names a message, what says most first: its answer, a part of its history, input of a request."""
_BRANCH_FIELDS = ("branch", "branch_id", "to_branch")
_OPEN_TURNS = {"model_request", "model_response", "tool_call"}
"""Kinds of events that open a turn wherever none is open."""


class Activation(Struct, frozen=True):
    """A policy that an agent began to follow."""

    time: int
    policy_id: str
    event_id: str


@dataclass(slots=True)
class Spawn:
    """How a subagent came to be: the run that started it, and the call or event and the turn in which it did."""

    parent: Run
    call_id: str | None = None
    event_id: str | None = None
    turn_id: str | None = None
    is_inferred: bool = False


class Lineage:
    """The relations between the runs of a graph."""

    def __init__(self, graph: Graph, origin: str, references: References) -> None:
        self._graph = graph
        self._origin = origin
        self._references = references
        runs = (run for run in graph.runs() if run.agent_id is not None)
        self._numbers = {run: number for number, run in enumerate(runs)}
        """The runs that are mapped, in the order in which they began."""
        self._owners = MessageOwners(graph, self._numbers, references)
        self._starts: dict[Run, Event] = {}
        for event in graph.events("run_started"):
            if event.agent_id is not None and event.run_id is not None:
                self._starts.setdefault(Run(event.agent_id, event.run_id), event)
        self._subagents = {node.id: node for node in graph.nodes("Subagent")}
        self._with_turns: dict[Run, bool] = {}
        self._of_agent: dict[str | None, list[Run]] = {}
        for run in self._numbers:
            self._of_agent.setdefault(run.agent_id, []).append(run)
        self._branches = self._find_branches()
        forks = self._find_forks()
        self._names_of_branches: dict[Run, list[str]] = {}
        for (_, branch), run in self._branches.items():
            self._names_of_branches.setdefault(run, []).append(branch)
        self.spawns = self._find_spawns()
        self.spawned_by: dict[tuple[Run, str], Run] = {}
        """By run and call: the subagent that the call started."""
        self.fork_turns: dict[Run, str] = {}
        """By run that began as a fork: the turn it goes on from."""
        self._find_turns(forks)
        self._policies = self._find_policies()

    def label(self, run: Run) -> str:
        """Return the label of the session of a run: the first `/` ends the id of the agent."""
        return f"{self._origin}:{_escaped(run.agent_id or '', '/')}/{run.run_id}"

    def start(self, run: Run) -> Event | None:
        """Return the event with which a run started."""
        return self._starts.get(run)

    def is_subagent(self, run: Run) -> bool:
        """Whether the agent of a run is a subagent."""
        start = self._starts.get(run)
        return run.agent_id in self._subagents or (start is not None and start.payload.get("reason") == _SUBAGENT)

    def persona(self, run: Run) -> str:
        """Return whose permissions a run has: those of the agent that the first of its parents is."""
        agent, seen = run.agent_id or "", set[str]()
        spawn = self.spawns.get(run)
        while spawn is not None and agent not in seen:
            seen.add(agent)
            agent = spawn.parent.agent_id or ""
            spawn = self.spawns.get(spawn.parent)
        return agent

    def task(self, run: Run) -> str | None:
        """Return the task of a subagent: what its constraints say."""
        node = self._subagents.get(run.agent_id or "")
        constraints = node.payload.get("constraints") if node else None
        if isinstance(constraints, dict):
            for name in ("task", "description", "goal"):
                if isinstance(constraints.get(name), str):
                    return str(constraints[name])
        return compact_json(constraints)[:_TASK_CHARACTERS] if constraints else None

    def spawn_call(self, run: Run) -> str | None:
        """Return the id of the row of the call that started a subagent."""
        spawn = self.spawns.get(run)
        return None if spawn is None or spawn.call_id is None else self.call_row_id(spawn.parent, spawn.call_id)

    def call_row_id(self, run: Run, call_id: str) -> str:
        """Return the id of the row of a call: its own where that is unique everywhere, else with its session."""
        if is_global_id(call_id):
            first = self._first_run_with_call(call_id)
            if first == run if first is not None else self._owners.claims(run, call_id):
                return call_id
        return f"{self._origin}:{_escaped(run.agent_id or '', '/:')}/{_escaped(run.run_id, ':')}:{call_id}"

    def _first_run_with_call(self, call_id: str) -> Run | None:
        made = "call = ? and kind = 'tool_call' and in_run is not null and is_first and not is_projected"
        order = "order by clock, run_agent, in_run limit 1"
        found = self._graph.rows(f"select run_agent, in_run from event where {made} {order}", call_id).fetchone()
        return Run(*found) if found else None

    def branch_names(self, run: Run) -> list[str]:
        """Return the branches that a run is the first of, as `agent-dag:AGENT#BRANCH`."""
        return [f"{self._origin}:{run.agent_id}#{branch}" for branch in self._names_of_branches.get(run, ())]

    def policy_at(self, run: Run, time: int) -> Activation | None:
        """Return the policy that the agent of a run followed at a time."""
        activations = self._policies.get(run.agent_id or "", [])
        known = bisect_right(activations, time, key=lambda each: each.time)
        return activations[known - 1] if known else None

    def policy_node(self, policy_id: str) -> Node | None:
        """Return a policy."""
        return self._graph.node("Policy", policy_id)

    def owns(self, run: Run, message_id: str) -> bool:
        """Whether a message belongs to a run rather than to another that names it too."""
        return self._owners.owns(run, message_id)

    def placement(self, run: Run, outline: Outline | None = None) -> Placement:
        """Return what gives the events of a run their turns; a fork goes on from a turn of another run."""
        outline = outline or Outline(self._graph.events_of(run), self._references)
        parent_id = self.fork_turns.get(run)
        return Placement(self._origin, outline, self._references, partial(self.owns, run), parent_id)

    def _find_policies(self) -> dict[str, list[Activation]]:
        found: dict[str, list[Activation]] = {}
        for event in self._graph.events("policy_activated"):
            policy_id = ref_id(event.payload.get("policy_ref"))
            if policy_id is None:
                edges = self._graph.edges("ACTIVATES_POLICY", src=event.id)
                policy_id = next((edge.dst for edge in edges), None)
            if event.agent_id is not None and policy_id is not None:
                activation = Activation(event.time or 0, policy_id, event.id)
                found.setdefault(event.agent_id, []).append(activation)
        for activations in found.values():
            activations.sort(key=lambda each: (each.time, each.event_id))
        return found

    def _find_branches(self) -> dict[tuple[str, str], Run]:
        """Return the first run of each branch of an agent: runs say their branch, or branches their run."""
        found: dict[tuple[str, str], Run] = {}
        named_by_runs = {
            ref_id(node.payload.get("run_id")): node.id
            for node in self._graph.nodes("Branch")
            if "run_id" in node.payload
        }
        forked = {
            (event.agent_id, ref_id(event.payload.get("to_branch"))) for event in self._graph.events("agent_forked")
        }
        for run in self._numbers:
            start, node = self._starts.get(run), self._graph.node("Run", run.run_id)
            stated = (each.payload.get(name) for each in (start, node) if each for name in _BRANCH_FIELDS)
            branch = next((each for each in map(ref_id, stated) if each), None) or named_by_runs.get(run.run_id)
            if branch is None and (run.agent_id, run.run_id) in forked:
                branch = run.run_id
            if branch is not None:
                found.setdefault((run.agent_id or "", branch), run)
        return found

    def _find_forks(self) -> dict[Run, Event]:
        """Return the event of another run that each fork goes on from; a circle of runs begins with its first."""
        names: dict[Run, str] = {}
        for event in self._graph.events("agent_forked"):
            payload = event.payload
            branch, name = ref_id(payload.get("to_branch")), ref_id(payload.get("at_event"))
            run = self._branches.get((event.agent_id or "", branch or ""))
            point = self._point(name)
            old = ref_id(payload.get("from_branch"))
            if point is not None and old is not None and point.agent_id == event.agent_id:
                self._branches.setdefault((point.agent_id or "", old), _run_of(point))
            if run is not None and name is not None:
                names.setdefault(run, name)
        for (_, branch), run in self._branches.items():
            for edge in self._graph.edges("FORKED_FROM", src=branch):
                if edge.dst_kind in {None, "Event"} and self._graph.event(edge.dst) is not None:
                    names.setdefault(run, edge.dst)
        for run, start in self._starts.items():
            parent = ref_id(start.payload.get("parent"))
            if parent is not None and run in self._numbers and not self.is_subagent(run):
                names.setdefault(run, parent)
        points = {run: self._point(name) for run, name in names.items()}
        forks = {run: point for run, point in points.items() if point is not None and _run_of(point) != run}
        numbers = array("q", (self._numbers[run] for run in forks))
        before = array("q", (self._numbers[_run_of(point)] for point in forks.values()))
        cycles = find_cycles(len(self._numbers), numbers, before)
        firsts = {min(numbers[place] for place in cycle) for cycle in cycles}
        return {run: point for run, point in forks.items() if self._numbers[run] not in firsts}

    def _point(self, name: str | None) -> Event | None:
        """Return the event of a mapped run that something names."""
        event = None if name is None else self._graph.event(name)
        return event if event is not None and _run_of(event) in self._numbers else None

    def _has_turns(self, run: Run) -> bool:
        if run not in self._with_turns:
            self._with_turns[run] = any(self._opens_turn(run, event) for event in self._graph.events_of(run))
        return self._with_turns[run]

    def _opens_turn(self, run: Run, event: Event) -> bool:
        """Whether an event would open a turn."""
        if event.kind == "history_append":
            message = self._references.appended(event)
            return message is not None and self.owns(run, message.id)
        return event.kind in _OPEN_TURNS or (
            event.kind == "interruption" and event.payload.get("reason") == CONTEXT_RESET
        )

    def _find_spawns(self) -> dict[Run, Spawn]:
        found: dict[Run, Spawn] = {}
        children = [run for run in self._numbers if self.is_subagent(run) and self._has_turns(run)]
        if not children:
            return found
        calls = self._naming_calls(children)
        of_agents = {
            agent: iter([call for call in calls.get(agent or "", ()) if call[0].agent_id != agent])
            for agent in {child.agent_id for child in children}
        }
        for child in children:
            named = next((call for call in calls.get(child.run_id, ()) if call[0] != child), None)
            named = named or next(of_agents[child.agent_id], None)
            spawn = Spawn(*named) if named is not None else self._spawn_by_reference(child)
            if spawn is not None and self._has_turns(spawn.parent):  # a run without turns is no session
                found[child] = spawn
        return found

    def _naming_calls(self, children: list[Run]) -> dict[str, dict[tuple[Run, str], None]]:
        """Return by agent and run: the calls whose results name it, else those whose parameters do."""
        names = {name for child in children for name in (child.run_id, child.agent_id or "")}
        found: dict[str, dict[tuple[Run, str], None]] = {}
        for kind, field in (("tool_result", "result"), ("tool_call", "args")):
            for event in self._graph.events(kind):
                payload = event.payload
                call_id, run = ref_id(payload.get("call_id")), _run_of(event)
                if run in self._numbers and call_id is not None:
                    for name in names.intersection(texts_in(payload.get(field))):
                        found.setdefault(name, {})[run, call_id] = None
        return found

    def _spawn_by_reference(self, child: Run) -> Spawn | None:
        """Return the parent of a subagent that no call names: by an event that it names, else by the parent's agent."""
        start = self._starts.get(child)
        names = [ref_id(start.payload.get("parent"))] if start else []
        names += [edge.dst for edge in self._graph.edges("FORKED_FROM", src=child.agent_id)]
        for name in names:
            event = self._point(name)
            if event is None or _run_of(event) == child:
                continue
            if event.kind in {"tool_call", "tool_result"}:
                return Spawn(_run_of(event), ref_id(event.payload.get("call_id")))
            return Spawn(_run_of(event), event_id=event.id)
        node = self._subagents.get(child.agent_id or "")
        agent = ref_id(node.payload.get("parent_agent_id")) if node else None
        if agent is None:
            agent = next((edge.dst for edge in self._graph.edges("SPAWNED_FROM", src=child.agent_id)), None)
        if agent == child.agent_id:
            return None
        parent = self._latest_before(child, agent)
        return None if parent is None else Spawn(parent, is_inferred=True)

    def _latest_before(self, child: Run, agent: str | None) -> Run | None:
        """Return the last run of an agent that has turns and began before another."""
        runs = self._of_agent.get(agent, [])
        earlier = bisect_left(runs, self._numbers[child], key=self._numbers.__getitem__)
        return next((run for run in map(runs.__getitem__, reversed(range(earlier))) if self._has_turns(run)), None)

    def _find_turns(self, forks: dict[Run, Event]) -> None:
        """Find the turns that forks go on from and subagents were started in: each run is placed once."""
        wanted: dict[Run, set[str]] = {}
        for point in forks.values():
            wanted.setdefault(_run_of(point), set()).add(point.id)
        for spawn in self.spawns.values():
            if (name := spawn.call_id or spawn.event_id) is not None:
                wanted.setdefault(spawn.parent, set()).add(name)
        turns = {run: self._turns_in(run, names) for run, names in wanted.items()}
        for run, point in forks.items():
            if point.id in (found := turns[_run_of(point)]):
                self.fork_turns[run] = found[point.id]
        for child, spawn in self.spawns.items():
            name = spawn.call_id or spawn.event_id
            spawn.turn_id = turns[spawn.parent].get(name) if name is not None else None
            if spawn.call_id is None:
                continue
            if spawn.turn_id is not None and (spawn.parent, spawn.call_id) not in self.spawned_by:
                self.spawned_by[spawn.parent, spawn.call_id] = child
            else:
                spawn.call_id = None

    def _turns_in(self, run: Run, wanted: set[str]) -> dict[str, str]:
        """Return the ids of the turns of events and calls of a run."""
        found: dict[str, str] = {}
        for placed in self.placement(run).place(self._graph.events_of(run)):
            turn, event = placed.turn, placed.event
            if turn is None:
                continue
            names = [event.id]
            if event.kind == "tool_call":
                names.append(ref_id(placed.payload.get("call_id")) or event.id)
            if placed.message is not None:
                names += (use.call_id for use in placed.message.content.uses)
            for name in wanted.intersection(names):
                found.setdefault(name, turn.id)
        return found


def _run_of(event: Event) -> Run:
    return Run(event.agent_id, event.run_id or "")


def _escaped(name: str, marks: str) -> str:
    """Return a name with `%` and these marks percent-encoded, so that a mark may end it.

    >>> _escaped("a/b", "/"), _escaped("a:b", "/"), _escaped("100%", "/")
    ('a%2Fb', 'a:b', '100%25')
    """
    for mark in f"%{marks}":
        name = name.replace(mark, f"%{ord(mark):02X}")
    return name


class MessageOwners:
    """The run of each message or call that several runs name, such as the history that a fork goes on with."""

    def __init__(self, graph: Graph, numbers: dict[Run, int], references: References) -> None:
        self._numbers = numbers
        self._owner = sqlite3.connect("")
        self._owner.executescript(
            "pragma journal_mode = off; pragma synchronous = off;"
            "create table named (message text, run integer, rank integer, primary key (message, run)) without rowid;"
            "create table claimed (call text primary key, run integer) without rowid;"
        )
        if len(numbers) > 1:
            for run in numbers:
                self._note(graph, run, references)

    def _note(self, graph: Graph, run: Run, references: References) -> None:
        ranks: dict[str, int] = {}
        for event in graph.events_of(run):
            match event.kind:
                case "model_response":
                    output = references.output_id(event)
                    named, rank = [output] if output else [], _OUTPUT
                case "history_append":
                    appended = ref_id(event.payload.get("message_ref"))
                    named, rank = [appended] if appended else [], _APPEND
                case "model_request":
                    named, rank = references.input_ids(event), _INPUT
                case _:
                    continue
            for message_id in named:
                ranks[message_id] = min(rank, ranks.get(message_id, rank))
        number = self._numbers[run]
        self._owner.executemany(
            "insert into named values (?, ?, ?)", ((message, number, rank) for message, rank in ranks.items())
        )

    def owns(self, run: Run, message_id: str) -> bool:
        """Whether a message belongs to a run: to the one that says most of it, and of those the first."""
        best = self._owner.execute(
            "select run from named where message = ? order by rank, run limit 1", (message_id,)
        ).fetchone()
        return best is None or best[0] == self._numbers[run]

    def claims(self, run: Run, call_id: str) -> bool:
        """Whether a call that only parts of messages show is the first of its id, of all runs that were asked for."""
        self._owner.execute("insert or ignore into claimed values (?, ?)", (call_id, self._numbers[run]))
        [number] = self._owner.execute("select run from claimed where call = ?", (call_id,)).fetchone()
        return bool(number == self._numbers[run])
