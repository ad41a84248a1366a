"""How well and how fast similar turns are found.

    python -m benchmarks.similarity LEDGER
    python -m benchmarks.similarity --speed TURNS

The first measures on the turns of a ledger, with several kinds of vectors, how often the most similar turn is one of
the same session, or of the same project where sessions are left out; how near a title that a tool or a person gave to a
session is to a turn of it; and how near a prompt is to its own answer. The last two are given as the mean of 1/rank: 1
where the right one always comes first. The second makes vectors at random and measures the processor time that a
question takes.
"""

import random
import sys
import time
from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from math import log, log1p, sqrt
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

import pyarrow as pa

from aix.reading.ledger import Ledger, open_ledger
from aix.search.words import words_of
from aix.similarity.features import PLACES, features_of
from aix.similarity.space import Nearest, VectorSpace
from aix.similarity.texts import TURNS, GroupTexts, Part
from aix.similarity.vectors import Vectors
from aix.store.manifest import groups_of

_DIMENSIONS = 256
_BATCH_ROWS = 16_384
_TURNS = "select turn_id, session_label, project from v_counted_turns"
_TITLES = """
    select label, coalesce(title, task_description) from sessions left join session_context using (label)
    where coalesce(title, task_description) is not null
"""
Pieces = list[tuple[Part, str]]
Vector = Mapping[int, float]


class Kind(NamedTuple):
    """A kind of vectors: the weights of a text by feature, and the place of a feature."""

    name: str
    weights: Callable[[Pieces], Mapping[object, float]]
    is_dense: bool = False


def _words(pieces: Pieces) -> Mapping[object, float]:
    counts = Counter(word for _, text in pieces for word in words_of(text))
    return {word: log1p(count) for word, count in counts.items()}


def _pieces_of_words(pieces: Pieces) -> Mapping[object, float]:
    """Words and the runs of three to five letters in them."""
    counts: defaultdict[object, float] = defaultdict(float)
    for word, count in Counter(word for _, text in pieces for word in words_of(text)).items():
        counts[word] += count
        for size in (3, 4, 5):
            marked = f"^{word[:24]}$"
            for begin in range(len(marked) - size + 1):
                counts["#", marked[begin : begin + size]] += count / 4
    return {feature: log1p(count) for feature, count in counts.items()}


def _word_pairs(pieces: Pieces) -> Mapping[object, float]:
    counts: defaultdict[object, float] = defaultdict(float)
    for _, text in pieces:
        words = words_of(text)
        for word in words:
            counts[word] += 1
        for pair in pairwise(words):
            counts[pair] += 0.5
    return {feature: log1p(count) for feature, count in counts.items()}


def _own(pieces: Pieces) -> Mapping[object, float]:
    return {place: float(weight) for place, weight in features_of(pieces).items()}


KINDS = (
    Kind("words of AIX", _own),
    Kind("all words", _words),
    Kind("words and letter runs", _pieces_of_words),
    Kind("words and word pairs", _word_pairs),
    Kind(f"all words, {_DIMENSIONS} dimensions", _words, is_dense=True),
    Kind(f"words and letter runs, {_DIMENSIONS} dimensions", _pieces_of_words, is_dense=True),
)


class _Turn(NamedTuple):
    pieces: Pieces
    session: str
    project: str | None


def main(ledger: str) -> None:
    """Measure how well similar turns are found."""
    with open_ledger(Path(ledger)) as opened:
        turns = _read(opened)
        titles = [(label, title) for label, title in opened.sql(_TITLES) if label in {turn.session for turn in turns}]
    print(f"{len(turns):,} turns, {len(titles):,} titles")
    for kind in KINDS:
        begun = time.process_time()
        print(f"{kind.name:44} {_judge(kind, turns, titles)}  {time.process_time() - begun:.0f} s", flush=True)
    sessions, projects = Counter(turn.session for turn in turns), Counter(turn.project for turn in turns)
    of_session = _mean((sessions[turn.session] - 1) / (len(turns) - 1) for turn in turns if sessions[turn.session] > 1)
    others = [(projects[turn.project] - sessions[turn.session], len(turns) - sessions[turn.session]) for turn in turns]
    of_project = _mean(same / all_ for same, all_ in others if same > 0)
    print(f"{'by chance':44} session {of_session:.2f}  project {of_project:.2f}")


def _read(ledger: Ledger) -> list[_Turn]:
    known = {turn: (session, project) for turn, session, project in ledger.sql(_TURNS)}
    turns = []
    for files in groups_of(ledger.manifest.tables).values():
        texts = GroupTexts(ledger.path, files)
        for _ in texts.read():
            pass
        turns += [
            _Turn(each.pieces(), *known[each.key])
            for each in texts.found
            if each.table == TURNS and each.key in known and known[each.key][0] is not None
        ]
    return turns


def _judge(kind: Kind, turns: Sequence[_Turn], titles: Sequence[tuple[str, str]]) -> str:
    weights = [kind.weights(turn.pieces) for turn in turns]
    having = Counter(feature for each in weights for feature in each)
    rarity: defaultdict[object, float] = defaultdict(lambda: log((len(turns) + 1) / 0.5))
    rarity.update({feature: log((len(turns) + 1) / (count + 0.5)) for feature, count in having.items()})

    def vector(weights_of_text: Mapping[object, float]) -> Vector:
        found: defaultdict[int, float] = defaultdict(float)
        for feature, weight in weights_of_text.items():
            place, sign = _place(feature) if kind.is_dense else (hash(feature), 1)
            found[place] += sign * weight * rarity[feature]
        length = sqrt(sum(number * number for number in found.values())) or 1.0
        return {place: number / length for place, number in found.items()}

    vectors = _Lists([vector(each) for each in weights])
    near = [vectors.cosines(vectors.vectors[number]) for number in range(len(turns))]
    sessions, projects = Counter(turn.session for turn in turns), Counter(turn.project for turn in turns)
    in_session, in_project = [], []
    for number, turn in enumerate(turns):
        order = sorted(range(len(turns)), key=lambda other: -near[number][other])
        if sessions[turn.session] > 1:
            best = next(other for other in order if other != number)
            in_session.append(turns[best].session == turn.session)
        if projects[turn.project] > sessions[turn.session]:
            best = next(other for other in order if turns[other].session != turn.session)
            in_project.append(turns[best].project == turn.project)
    of_titles = []
    for label, title in titles:
        cosines = vectors.cosines(vector(kind.weights([(Part.PROMPT, title)])))
        best_own = max(cosines[number] for number, turn in enumerate(turns) if turn.session == label)
        of_titles.append(1 / (1 + sum(cosine > best_own for cosine in cosines)))
    asked = [
        (prompt, answer)
        for turn in turns
        if (prompt := _only(turn, Part.PROMPT)) and (answer := _only(turn, Part.ANSWER)) and prompt[0][1][:1] != "<"
    ]
    answers = _Lists([vector(kind.weights(answer)) for _, answer in asked])
    of_answers = []
    for number, (prompt, _) in enumerate(asked):
        cosines = answers.cosines(vector(kind.weights(prompt)))
        of_answers.append(1 / (1 + sum(cosine > cosines[number] for cosine in cosines)))
    return (
        f"session {_mean(in_session):.2f}  project {_mean(in_project):.2f}"
        f"  title {_mean(of_titles):.2f}  answer {_mean(of_answers):.2f}"
    )


def _place(feature: object) -> tuple[int, int]:
    digest = crc32(repr(feature).encode())
    return digest % _DIMENSIONS, 1 if digest >> 31 else -1


def _only(turn: _Turn, part: Part) -> Pieces:
    return [(each, text) for each, text in turn.pieces if each is part and len(text.strip()) > 20]


def _mean(values: Iterable[float]) -> float:
    listed = list(values)
    return sum(listed) / max(len(listed), 1)


class _Lists:
    """Vectors, and for each place those that have it."""

    def __init__(self, vectors: Sequence[Vector]) -> None:
        self.vectors = vectors
        self._having: defaultdict[int, list[tuple[int, float]]] = defaultdict(list)
        for number, vector in enumerate(vectors):
            for place, weight in vector.items():
                self._having[place].append((number, weight))

    def cosines(self, vector: Vector) -> list[float]:
        """Return the cosine of each with another."""
        found = [0.0] * len(self.vectors)
        for place, weight in vector.items():
            for number, other in self._having.get(place, ()):
                found[number] += weight * other
        return found


def measure_speed(turns: int) -> None:
    """Measure how long a question takes among vectors that were made at random."""
    vectors = [_random_vectors(begin, min(begin + _BATCH_ROWS, turns)) for begin in range(0, turns, _BATCH_ROWS)]
    keys = [key for part in vectors for key in part.keys.to_pylist()]
    sessions = {key: f"session-{number // 50}" for number, key in enumerate(keys)}
    questions: dict[str, Callable[[VectorSpace, Mapping[int, int]], Nearest]] = {
        "turns": lambda space, query: space.nearest(query),
        "sessions of 50 turns": lambda space, query: space.nearest_sums(query, sessions),
    }
    for name, ask in questions.items():
        begun, wall = time.process_time(), time.perf_counter()
        space = VectorSpace(vectors)
        next(ask(space, space.sum_of(keys[:1])))
        seconds = time.process_time() - begun
        print(
            f"{turns:,} turns, most similar {name}: {seconds:.2f} s of a processor, {time.perf_counter() - wall:.2f} s"
        )


def _random_vectors(begin: int, end: int, places_each: int = 150) -> Vectors:
    """Words are as frequent as Zipf says: a few are in most turns, most in a few."""
    source = random.Random(begin)
    pool = [min(int(source.paretovariate(0.35)), PLACES - 1) for _ in range(100_000)]
    places, weights, ends = array("H"), array("B"), array("i", [0])
    for _ in range(begin, end):
        found = sorted(set(source.choices(pool, k=2 * places_each)))[:places_each]
        places.extend(found)
        weights.extend(source.choices(range(4, 40), k=len(found)))
        ends.append(len(places))
    offsets = pa.array(ends, pa.int32())
    return Vectors(
        pa.array([f"turn-{number}" for number in range(begin, end)]),
        pa.ListArray.from_arrays(offsets, pa.array(places, pa.uint16())),
        pa.ListArray.from_arrays(offsets, pa.array(weights, pa.uint8())),
    )


if __name__ == "__main__":
    if sys.argv[1] == "--speed":
        measure_speed(int(sys.argv[2]))
    else:
        main(sys.argv[1])
