"""How fast the index of texts is made, how large it is, and how long searches take.

    python -m benchmarks.search LEDGER [WORD…]

makes the whole index of a ledger in one process and in two, then searches for each word five times. Without words, it
takes the most frequent one, a rare one and a phrase from the texts.
"""

import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from functools import partial
from itertools import pairwise
from pathlib import Path
from statistics import median

from aix.reading.ledger import Ledger, open_ledger
from aix.search.index import TextIndex
from aix.search.search import SearchRequest, search
from aix.search.words import words_of
from aix.store.cache_files import make_missing

_ROUNDS = 5
_SAMPLE = "select content from messages where content is not null order by id limit 2000"


def main(folder: str, *words: str) -> None:
    """Measure it."""
    ledger = open_ledger(Path(folder))
    for workers in (1, 2):
        for index in TextIndex.all_of(ledger.path, ledger.manifest):
            index.discard()
        seconds = _seconds(partial(make_missing, TextIndex.all_of(ledger.path, ledger.manifest), workers=workers))
        characters, size = _sizes(ledger)
        print(
            f"{characters / 1e6:,.0f} million characters indexed in {seconds:.1f} s by {workers} process"
            f"{'es' if workers > 1 else ''}: {characters / 1e6 / seconds:.0f} million a second,"
            f" {100 * size / characters:.1f} % of their size"
        )
    start = median(_seconds(partial(_run, "version")) for _ in range(_ROUNDS))
    print(f"the command alone starts in {start:.2f} s")
    for text in words or _queries(ledger):
        found = search(ledger, SearchRequest(text=text))
        inside = median(_seconds(partial(_search, folder, text)) for _ in range(_ROUNDS))
        whole = median(_seconds(partial(_run, "search", text, "--ledger", folder)) for _ in range(_ROUNDS))
        print(f"{text}: {found.turns:,} turns; {inside:.2f} s in Python, {whole:.2f} s as a command")


def _search(folder: str, text: str) -> None:
    search(open_ledger(Path(folder)), SearchRequest(text=text))


def _sizes(ledger: Ledger) -> tuple[int, int]:
    characters = size = 0
    for index in TextIndex.all_of(ledger.path, ledger.manifest):
        with closing(index.open()) as database:
            characters += database.execute("select sum(characters) from size").fetchone()[0]
        size += index.path.stat().st_size
    return characters, size


def _queries(ledger: Ledger) -> list[str]:
    counts = Counter[str]()
    phrases = Counter[str]()
    for (text,) in ledger.sql(_SAMPLE):
        words = words_of(text)
        counts.update(words)
        phrases.update(f'"{one} {two}"' for one, two in pairwise(words))
    [(common, _)] = counts.most_common(1)
    rare = min(word for word, count in counts.items() if count == 1 and word.isalpha() and len(word) > 5)
    return [rare, common, phrases.most_common(20)[-1][0]]


def _run(*arguments: str) -> None:
    subprocess.run([Path(sys.executable).with_name("aix"), *arguments], check=True, capture_output=True)


def _seconds(function: Callable[[], object]) -> float:
    begun = time.perf_counter()
    function()
    return time.perf_counter() - begun


if __name__ == "__main__":
    main(*sys.argv[1:])
