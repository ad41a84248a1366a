"""A user's own program that makes vectors of texts.

It reads lines of JSON, `{"id": …, "text": …}`, and writes a line `{"id": …, "vector": […]}` for each, in any order. It
is started once, without a shell, and gets the next texts while no more than 256 wait for their vectors; after the last
one its input ends. docs/similar.md has an example.
"""

import os
import signal
import subprocess
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from math import isfinite
from selectors import EVENT_READ, EVENT_WRITE, DefaultSelector
from subprocess import PIPE
from typing import IO

import msgspec

from aix.errors import EmbeddingError
from aix.output.humanise import counted

DEFAULT_TIMEOUT = 60.0
_MOST_WAITING = 256
_MOST_BYTES_WAITING = 2**20
_LONGEST_LINE = 4 * 2**20
_READ_BYTES = _WRITTEN_BYTES = 2**16
_SHOWN_BYTES = 2_000
_SHOWN_CHARACTERS = 80
_END_SECONDS = 5.0
_MOST_NUMBERS = 2**14
_GREATEST = 3.4e38
"""A number that a FLOAT of 32 bits can still hold."""
_ADVICE = "docs/similar.md says what a command reads and writes"
Vector = list[float]


class _Answer(msgspec.Struct):
    id: str
    vector: list[float]


_DECODER = msgspec.json.Decoder(_Answer)


@dataclass(frozen=True)
class EmbeddingCommand:
    """A program with its arguments, and how long it may be silent."""

    words: Sequence[str]
    timeout_seconds: float = DEFAULT_TIMEOUT

    def vectors(
        self, texts: Iterable[tuple[str, str]], dimension: int | None = None
    ) -> Generator[tuple[str, Vector], None, None]:
        """Go through the vectors of texts, given with their ids, as the program answers.

        All have the same dimension: that of others they are to be compared with, if it is given.
        """
        conversation = _Conversation(self, texts, dimension)
        try:
            yield from conversation.answers()
        finally:
            conversation.end()


class _Conversation:
    """The program while it runs."""

    def __init__(self, command: EmbeddingCommand, texts: Iterable[tuple[str, str]], dimension: int | None) -> None:
        self._command = command
        self._texts: Iterator[tuple[str, str]] | None = iter(texts)
        self._dimension = dimension
        self._waiting: dict[str, None] = {}
        self._unsent = self._unread = self._complaint = b""
        self._lines = 0
        try:
            self._process = subprocess.Popen(  # noqa: S603 - the user's own program, without a shell
                list(command.words), stdin=PIPE, stdout=PIPE, stderr=PIPE, bufsize=0, start_new_session=True
            )
        except (OSError, ValueError) as error:
            raise self._error(f"it cannot be started: {getattr(error, 'strerror', None) or error}") from error
        self._input = _unblocked(self._process.stdin)
        self._output = _unblocked(self._process.stdout)
        self._errors = _unblocked(self._process.stderr)
        self._selector = DefaultSelector()
        self._selector.register(self._output, EVENT_READ)
        self._selector.register(self._errors, EVENT_READ)

    def answers(self) -> Iterator[tuple[str, Vector]]:
        """Send texts, and go through the answers."""
        self._take_texts()
        while self._waiting:
            events = self._selector.select(self._command.timeout_seconds)
            if not events:
                raise self._error(
                    f"it was silent for {self._command.timeout_seconds:g} s while {self._amount_waiting()}",
                    "give it more time with --timeout SECONDS",
                )
            for key, _ in events:
                if key.fileobj is self._input:
                    self._send()
                elif key.fileobj is self._errors:
                    self._listen()
                else:
                    yield from self._receive()
            self._take_texts()

    def end(self) -> None:
        """Wait a moment for the program to end by itself, else end it with all that it has started."""
        self._selector.close()
        for stream in (self._input, self._output, self._errors):
            with suppress(OSError):
                stream.close()
        if self._waiting:
            self._kill()
        try:
            self._process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            self._kill()
            self._process.wait()

    def _kill(self) -> None:
        if self._process.returncode is None:  # else its number may be that of another process
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)

    def _take_texts(self) -> None:
        """Take in texts while there is room for them; after the last, end the program's input."""
        while self._texts and len(self._waiting) < _MOST_WAITING and len(self._unsent) < _MOST_BYTES_WAITING:
            if (following := next(self._texts, None)) is None:
                self._texts = None
                break
            key, text = following
            self._waiting[key] = None
            if not self._unsent:
                self._watch_input()
            self._unsent += msgspec.json.encode({"id": key, "text": text}) + b"\n"
        if self._texts is None and not self._unsent:
            self._input.close()

    def _watch_input(self) -> None:
        if not self._input.closed:
            self._selector.register(self._input, EVENT_WRITE)

    def _send(self) -> None:
        try:
            sent = os.write(self._input.fileno(), self._unsent[:_WRITTEN_BYTES])
        except BlockingIOError:
            return
        except OSError:  # it reads no more; what it has to say about that comes with its other streams
            sent = len(self._unsent)
        self._unsent = self._unsent[sent:]
        if not self._unsent:
            self._selector.unregister(self._input)

    def _listen(self) -> None:
        said = os.read(self._errors.fileno(), _READ_BYTES)
        if not said:
            self._selector.unregister(self._errors)
        self._complaint = (self._complaint + said)[-_SHOWN_BYTES:]

    def _receive(self) -> Iterator[tuple[str, Vector]]:
        read = os.read(self._output.fileno(), _READ_BYTES)
        *lines, self._unread = (self._unread + (read or b"\n")).split(b"\n")
        if len(self._unread) > _LONGEST_LINE:
            raise self._error(f"line {self._lines + 1} of its output is longer than {_LONGEST_LINE:,} bytes")
        for line in lines:
            self._lines += 1
            if line.strip():
                yield self._answer(line)
        if not read and self._waiting:
            raise self._error(f"it ended{self._exit()} while {self._amount_waiting()}{self._last_words()}")

    def _answer(self, line: bytes) -> tuple[str, Vector]:
        """Return the id and the vector that a line gives."""
        place = f"line {self._lines} of its output"
        try:
            answer = _DECODER.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise self._error(f"{place} is no answer: {error}: {_shown(line)}") from error
        if answer.id not in self._waiting:
            raise self._error(f"{place} answers {_shown(answer.id.encode())}, which no waiting text has as its id")
        dimension = len(answer.vector)
        if not 0 < dimension <= _MOST_NUMBERS:
            raise self._error(f"{place} has a vector of {dimension:,} numbers; there must be 1 to {_MOST_NUMBERS:,}")
        if self._dimension is None:
            self._dimension = dimension
        if dimension != self._dimension:
            raise self._error(
                f"{place} has a vector of {dimension:,} numbers, and others of this model have {self._dimension:,}",
                "give another model another name with --model",
            )
        if not all(isfinite(number) and abs(number) < _GREATEST for number in answer.vector):
            raise self._error(f"{place} has a vector with a number that is too large")
        if not any(answer.vector):
            raise self._error(f"{place} has a vector of zeros, which is like nothing")
        del self._waiting[answer.id]
        return answer.id, answer.vector

    def _exit(self) -> str:
        try:
            code = self._process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            return " its output"
        return f" with exit code {code}" if code >= 0 else f" by signal {-code}"

    def _last_words(self) -> str:
        """Return the last line that it wrote to stderr."""
        with suppress(OSError):
            self._complaint += os.read(self._errors.fileno(), _READ_BYTES)
        lines = self._complaint.strip().splitlines()
        return f"; it says: {_shown(lines[-1])}" if lines else ""

    def _amount_waiting(self) -> str:
        verb = "waits" if len(self._waiting) == 1 else "wait"
        first = _shown(next(iter(self._waiting)).encode())
        return f"{counted(len(self._waiting), 'text')} {verb} for a vector, such as {first}"

    def _error(self, problem: str, advice: str = _ADVICE) -> EmbeddingError:
        return EmbeddingError(_shown(self._command.words[0].encode("utf-8", "backslashreplace")), problem, advice)


def _unblocked(stream: IO[bytes] | None) -> IO[bytes]:
    if stream is None:
        raise ValueError("the stream is no pipe")
    os.set_blocking(stream.fileno(), False)
    return stream


def _shown(text: bytes) -> str:
    written = text.decode("utf-8", "backslashreplace").strip()
    return written if len(written) <= _SHOWN_CHARACTERS else f"{written[:_SHOWN_CHARACTERS]}…"
