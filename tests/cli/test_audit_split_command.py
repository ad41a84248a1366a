"""`aix audit split`, run as users do."""

import json
import os
import subprocess

from tests.support.command_line import AIX


def _split(given: bytes, *arguments: str) -> bytes:
    return subprocess.run(
        [AIX, "audit", "split", *arguments], input=given, capture_output=True, check=True, timeout=60
    ).stdout


def test_every_line_has_one_json_list() -> None:
    given = (
        b'A=1 sudo git -C x push | tee "log 1"\n\n"one\\ntwo"\n'
        b'{"cmd": "three"}\n{"command": "four"}\n"git" log\n{ five; }\n'
    )
    answers = [json.loads(line) for line in _split(given, "--format", "json").splitlines()]
    assert answers[0] == [
        {"program": "git", "sub": "push", "words": ["git", "-C", "x", "push"], "env": ["A=1"], "wrappers": ["sudo"]},
        {"program": "tee", "sub": None, "words": ["tee", "log 1"], "env": [], "wrappers": []},
    ]
    programs = [[command["program"] for command in answer] for answer in answers[1:]]
    assert programs == [[], ["one", "two"], ["three"], ["four"], ["git"], ["five"]]


def test_a_command_line_can_be_given_as_an_argument() -> None:
    assert _split(b"ignored", "cd /srv && sudo rm -rf x") == b"cd: cd /srv\nrm: rm -rf x (behind sudo)\n"
    assert _split(b"", '"a" b', "--format", "json") == (
        b'[{"program":"a","sub":null,"words":["a","b"],"env":[],"wrappers":[]}]\n'
    )


def test_the_answers_are_valid_json_whatever_the_bytes() -> None:
    given = (
        b'run \xff\xfe \x00 \x1b[31m \xe2\x80\xae\n"run \\ud800"\n' + b"[" * 5000 + b"\n" + b'{"cmd":' * 5000 + b"\n"
    )
    lines = _split(given, "--format", "json").decode("utf-8").splitlines()
    assert len(lines) == 4
    assert json.loads(lines[0])[0]["words"] == ["run", "\udcff\udcfe", "\0", "\x1b[31m", "\u202e"]
    assert json.loads(lines[1])[0]["words"] == ["run", "\ud800"]


def test_people_read_one_line_for_each_command_and_no_character_acts() -> None:
    given = b"FOO=1 sudo make \x1b[31m\n\n# nothing\nbroken (\n"
    assert _split(given).decode("utf-8").split("\n\n") == [
        "make: make \\u001b[31m (with FOO=1; behind sudo)",
        "Nothing is run.",
        "Nothing is run.",
        "broken: broken\nNot all of it could be read: it is no valid shell, or too long.\n",
    ]


def test_a_line_is_answered_before_the_next_is_given() -> None:
    with subprocess.Popen(
        [AIX, "audit", "split", "--format", "json"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=os.environ | {"PYTHONUNBUFFERED": ""},
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for program in ("one", "two"):
            process.stdin.write(program.encode() + b"\n")
            process.stdin.flush()
            assert json.loads(process.stdout.readline())[0]["program"] == program
        process.stdin.close()
    assert process.returncode == 0
