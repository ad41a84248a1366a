"""A user's own command that makes vectors: what it gets, what it may answer, and what is said when it does not."""

import sys
import time
from pathlib import Path

import pytest

from aix.errors import EmbeddingError
from aix.similarity.embedding_command import EmbeddingCommand

TEXTS = [("turns/a", "one\ntwo\x1b[2J"), ("turns/b", "été"), ("programs/c", "x")]
READ = "import sys, json, time, os\ntexts = (json.loads(line) for line in sys.stdin)\n"
ANSWER = "print(json.dumps({'id': each['id'], 'vector': [len(each['text']), 1]}), flush=True)\n"


def command(program: str, timeout: float = 20) -> EmbeddingCommand:
    return EmbeddingCommand([sys.executable, "-c", READ + program], timeout)


def vectors(program: str, texts: list[tuple[str, str]] = TEXTS, **options: int) -> list[tuple[str, list[float]]]:
    return list(command(program).vectors(texts, **options))


@pytest.mark.parametrize(
    "program",
    [
        f"for each in texts:\n    {ANSWER}",
        f"for each in reversed(list(texts)):\n    {ANSWER}",
        f"for each in texts:\n    print()\n    {ANSWER}    print('done', file=sys.stderr)",
    ],
    ids=["one by one", "all at the end", "with blank lines and progress"],
)
def test_every_text_gets_its_vector(program: str) -> None:
    assert sorted(vectors(program)) == [("programs/c", [1, 1]), ("turns/a", [11, 1]), ("turns/b", [3, 1])]


def test_it_is_started_once_and_gets_no_more_than_256_texts_ahead() -> None:
    texts = [(f"turns/{number}", "x" * 2_000) for number in range(1_000)]
    given = iter(texts)
    program = f"for each in texts:\n    each['text'] = str(os.getpid())\n    {ANSWER}"
    conversation = command(program).vectors(given)
    found = [next(conversation)]
    assert len(list(given)) >= 1_000 - 256 - 1
    conversation.close()
    found = vectors(program, texts)
    assert [key for key, _ in found] == [key for key, _ in texts]
    assert len({tuple(vector) for _, vector in found}) == 1


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        ("not json", "line 1 of its output is no answer"),
        ("[]", "line 1 of its output is no answer"),
        ('{"id": "turns/a"}', "`vector`"),
        ('{"id": "turns/a", "vector": ["1"]}', "Expected `float`"),
        ('{"id": "turns/a", "vector": []}', "has a vector of 0 numbers"),
        ('{"id": "turns/a", "vector": [0, 0]}', "a vector of zeros"),
        ('{"id": "turns/a", "vector": [NaN]}', "line 1 of its output is no answer"),
        ('{"id": "turns/a", "vector": [1e39]}', "too large"),
        ('{"id": "other", "vector": [1]}', "answers other, which no waiting text has"),
        ('{"id": "turns/a", "vector": [1]}\n{"id": "turns/a", "vector": [1]}', "line 2 of its output answers turns/a"),
        (
            '{"id": "turns/a", "vector": [1]}\n{"id": "turns/b", "vector": [1, 2]}',
            "line 2 of its output has a vector of 2 numbers, and others of this model have 1",
        ),
        (
            '{"id": "turns/a", "vector": [1]}',
            "ended with exit code 0 while 2 texts wait for a vector, such as turns/b",
        ),
        ("\xff", "line 1 of its output is no answer"),
    ],
)
def test_a_wrong_answer_is_an_error_with_its_line(answer: str, problem: str) -> None:
    program = f"texts = list(texts)\nsys.stdout.buffer.write({answer.encode('latin-1')!r} + b'\\n')"
    with pytest.raises(EmbeddingError) as caught:
        vectors(program)
    assert problem in str(caught.value)
    assert caught.value.remedy


def test_the_dimension_of_earlier_vectors_holds() -> None:
    with pytest.raises(EmbeddingError, match="2 numbers, and others of this model have 3"):
        vectors(f"for each in texts:\n    {ANSWER}", dimension=3)


def test_answers_before_an_error_are_given() -> None:
    program = f"for each in texts:\n    {ANSWER}    sys.exit('no \\x1b[31mmemory')"
    conversation = command(program).vectors(TEXTS)
    assert next(conversation) == ("turns/a", [11, 1])
    with pytest.raises(EmbeddingError, match=r"exit code 1 while 2 texts wait .*; it says: no .*memory"):
        next(conversation)


@pytest.mark.parametrize(
    "program",
    ["time.sleep(60)", "sys.stdin.close()\ntime.sleep(60)", "print('{', end='', flush=True)\ntime.sleep(60)"],
    ids=["reads nothing", "closes its input", "half a line"],
)
def test_a_silent_command_is_ended(program: str) -> None:
    begun = time.monotonic()
    with pytest.raises(EmbeddingError, match=r"silent for 0\.5 s while 3 texts wait") as caught:
        list(command(program, timeout=0.5).vectors(TEXTS))
    assert time.monotonic() - begun < 20
    assert "--timeout" in caught.value.remedy


def test_what_the_command_started_ends_with_it(tmp_path: Path) -> None:
    import os

    note = tmp_path / "pid"
    program = (
        "import subprocess\nchild = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
        f"open({str(note)!r}, 'w').write(str(child.pid))\ntime.sleep(60)"
    )
    with pytest.raises(EmbeddingError, match="silent"):
        list(command(program, timeout=3).vectors(TEXTS))
    for _ in range(100):
        try:
            os.kill(int(note.read_text()), 0)
        except ProcessLookupError:
            return
        if Path(f"/proc/{note.read_text()}/stat").read_text().split(")")[-1].split()[0] == "Z":
            return
        time.sleep(0.05)
    pytest.fail("the child lives")


@pytest.mark.parametrize("words", [["/nowhere/embed"], ["/"], ["a\0b"]])
def test_a_command_that_cannot_be_started_is_named(words: list[str]) -> None:
    with pytest.raises(EmbeddingError, match="it cannot be started"):
        list(EmbeddingCommand(words).vectors(TEXTS))


def test_a_line_without_end_is_an_error() -> None:
    with pytest.raises(EmbeddingError, match="line 1 of its output is longer than 4,194,304 bytes"):
        vectors("while True:\n    print('x' * 100_000, end='')")


def test_no_shell_reads_the_command(tmp_path: Path) -> None:
    made = tmp_path / "made"
    with pytest.raises(EmbeddingError):
        list(EmbeddingCommand(["echo", f"; touch {made}", f"$(touch {made})"]).vectors(TEXTS))
    assert not made.exists()
