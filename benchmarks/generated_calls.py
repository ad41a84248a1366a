"""Calls of tools for generated logs, with the results that Claude Code notes for them."""

import json
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache

from benchmarks.generated_text import Supply

Record = dict[str, object]

_FILES = 60
_SUFFIXES = ("py", "ts", "tsx", "go", "md")
_LARGEST_PICTURE = 900_000
_DENIALS = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit,"
    " the new_string was NOT written to the file). STOP what you are doing and wait for the user to tell you how to"
    " proceed.",
    "This command requires approval",
    "Claude requested permissions to use {name}, but you haven't granted it yet.",
    "Permission to use {name} has been denied.",
    "PreToolUse:{name} hook error: [hooks/guard.sh]: {reason}",
)
_MISTAKES = {
    "Edit": "<tool_use_error>File has not been read yet. Read it first before writing to it.</tool_use_error>",
    "Write": "<tool_use_error>File has been modified since read, either by the user or by a linter.</tool_use_error>",
    "Read": "File does not exist.",
}


@dataclass
class Call:
    """A call and what came back; `detail` is what stands beside the message, as `toolUseResult`."""

    name: str
    input: Record
    content: str | list[Record]
    detail: object
    written: str | None = None
    is_error: bool = False


@dataclass
class Tools:
    """The tools of one session, in a project with some files."""

    supply: Supply
    dice: random.Random
    cwd: str
    todos: list[Record] = field(default_factory=list)

    def call(self) -> Call:
        """Return a call of any tool but the one that starts agents."""
        (make,) = self.dice.choices(_MAKERS, _WEIGHTS)
        call = make(self)
        luck = self.dice.random()
        if luck < 0.015:
            return self.denied(call)
        if luck < 0.06:
            return self._failed(call)
        return call

    def denied(self, call: Call) -> Call:
        """Return the call as one that was not allowed."""
        words = self.dice.choice(_DENIALS).format(name=call.name, reason=self.supply.word(self.dice))
        return Call(call.name, call.input, words, f"Error: {words}", is_error=True)

    def path(self) -> str:
        """Return a file of the project; a few are touched often."""
        paths = _paths(self.cwd, self.supply)
        return paths[int(self.dice.random() ** 2 * len(paths))]

    def diagnostics(self) -> list[Record]:
        """Return what an editor shows of a file."""
        found: list[Record] = []
        for _ in range(self.dice.randint(1, 4)):
            line = self.dice.randrange(300)
            place = {"start": {"line": line, "character": 4}, "end": {"line": line, "character": 19}}
            found.append(
                {
                    "message": self.supply.prose(self.dice, 60),
                    "severity": self.dice.choice(("Error", "Warning", "Hint")),
                    "range": place,
                    "source": self.dice.choice(("Pylance", "typescript", "eslint")),
                    "code": str(self.dice.randrange(1_000, 9_000)),
                }
            )
        return [{"uri": f"file://{self.path()}", "diagnostics": found}]

    def length(self, median: float, spread: float) -> int:
        """Return a length: most are small, few are very large."""
        return 1 + int(median * self.dice.lognormvariate(0, spread))

    def _failed(self, call: Call) -> Call:
        words = _MISTAKES.get(call.name)
        if words is None:
            words = "\n".join(["Exit code 1", *self.supply.lines(self.dice, self.length(8, 1))])
        return Call(call.name, call.input, words, f"Error: {words}", is_error=True)

    def _read(self) -> Call:
        path = self.path()
        if self.dice.random() < 0.008:
            return self._read_picture(path)
        lines = self.supply.lines(self.dice, min(2_000, self.length(85, 1.3)))
        first = 1 if self.dice.random() < 0.7 else self.dice.randrange(2, 400)
        shown = _numbered(lines, first)
        place: Record = {} if first == 1 else {"offset": first, "limit": len(lines)}
        file = {
            "filePath": path,
            "content": "\n".join(lines),
            "numLines": len(lines),
            "startLine": first,
            "totalLines": first + len(lines) + 20,
        }
        return Call("Read", {"file_path": path, **place}, shown, {"type": "text", "file": file})

    def _read_picture(self, path: str) -> Call:
        path = f"{path}.png"
        data = self.supply.base64(self.dice, min(_LARGEST_PICTURE, self.length(60_000, 1.3)))
        image: Record = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}}
        file = {"base64": data, "type": "image/png", "originalSize": len(data) // 4 * 3}
        return Call("Read", {"file_path": path}, [image], {"type": "image", "file": file})

    def _edit(self) -> Call:
        path = self.path()
        before = self.supply.lines(self.dice, min(1_500, 8 + self.length(250, 1.1)))
        start = self.dice.randrange(3, len(before) - 4)
        old = before[start : start + min(len(before) - start, self.length(4, 0.9))]
        new = self.supply.lines(self.dice, self.length(6, 0.9))
        above, below = before[start - 3 : start], before[start + len(old) : start + len(old) + 3]
        hunk = {
            "oldStart": start - 2,
            "oldLines": len(above) + len(old) + len(below),
            "newStart": start - 2,
            "newLines": len(above) + len(new) + len(below),
            "lines": [
                *(f" {line}" for line in above),
                *(f"-{line}" for line in old),
                *(f"+{line}" for line in new),
                *(f" {line}" for line in below),
            ],
        }
        change = {"old_string": "\n".join(old), "new_string": "\n".join(new), "replace_all": False}
        detail = {
            "filePath": path,
            "oldString": change["old_string"],
            "newString": change["new_string"],
            "originalFile": "\n".join(before),
            "structuredPatch": [hunk],
            "userModified": False,
            "replaceAll": False,
        }
        shown = _numbered([*above, *new, *below], start - 2)
        words = f"The file {path} has been updated. Here's the result of running `cat -n` on a snippet:\n{shown}"
        return Call("Edit", {"file_path": path, **change}, words, detail, written=path)

    def _write(self) -> Call:
        path = self.path()
        content = "\n".join(self.supply.lines(self.dice, self.length(45, 0.9)))
        detail: Record = {
            "type": "create",
            "filePath": path,
            "content": content,
            "structuredPatch": [],
            "originalFile": None,
        }
        words = f"File created successfully at: {path}"
        return Call("Write", {"file_path": path, "content": content}, words, detail, written=path)

    def _bash(self) -> Call:
        verb = self.dice.choice(("make", "git diff", "npm run", "pytest -q", "go test", "cat", "ls -la", "docker logs"))
        command = f"{verb} {self.supply.word(self.dice)} 2>&1 | tail -{self.dice.randrange(5, 200)}"
        output = "\n".join(self.supply.lines(self.dice, min(700, self.length(12, 1.4))))
        detail = {"stdout": output, "stderr": "", "interrupted": False, "isImage": False}
        description = self.supply.prose(self.dice, 40)
        return Call("Bash", {"command": command, "description": description}, output, detail)

    def _grep(self) -> Call:
        pattern, paths = self.supply.word(self.dice), [self.path() for _ in range(self.length(8, 0.9))]
        if self.dice.random() < 0.5:
            detail: Record = {"mode": "files_with_matches", "filenames": paths, "numFiles": len(paths)}
            shown = "\n".join([f"Found {len(paths)} files", *paths])
        else:
            lines = self.supply.lines(self.dice, len(paths) * 3)
            shown = "\n".join(f"{self.dice.choice(paths)}:{place}:{line}" for place, line in enumerate(lines, 10))
            detail = {"mode": "content", "numFiles": 0, "filenames": [], "content": shown, "numLines": len(lines)}
        return Call("Grep", {"pattern": pattern, "path": self.cwd, "output_mode": detail["mode"]}, shown, detail)

    def _glob(self) -> Call:
        paths = [self.path() for _ in range(self.length(8, 0.8))]
        detail = {"filenames": paths, "durationMs": 21, "numFiles": len(paths), "truncated": False}
        return Call("Glob", {"pattern": f"**/{self.supply.word(self.dice)}*"}, "\n".join(paths), detail)

    def _todo_write(self) -> Call:
        names = [self.supply.prose(self.dice, 45) for _ in range(self.dice.randint(2, 8))]
        done = self.dice.randrange(len(names))
        states = ["completed"] * done + ["in_progress"] + ["pending"] * len(names)
        old, self.todos = self.todos, []
        for name, state in zip(names, states, strict=False):
            self.todos.append({"content": name, "status": state, "activeForm": name})
        words = "Todos have been modified successfully. Ensure that you continue to use the todo list."
        return Call("TodoWrite", {"todos": self.todos}, words, {"oldTodos": old, "newTodos": self.todos})

    def _web_fetch(self) -> Call:
        url = f"https://docs.example.org/{self.supply.word(self.dice)}/{self.dice.randrange(1_000)}"
        text = self.supply.prose(self.dice, self.length(1_500, 0.6))
        detail = {"bytes": 40_000, "code": 200, "codeText": "OK", "result": text, "durationMs": 2_100, "url": url}
        return Call("WebFetch", {"url": url, "prompt": self.supply.prose(self.dice, 90)}, text, detail)

    def _web_search(self) -> Call:
        query = self.supply.prose(self.dice, 50)
        hits = [{"title": self.supply.prose(self.dice, 50), "url": f"https://example.org/{n}"} for n in range(8)]
        results = [{"tool_use_id": "srvtoolu_01", "content": hits}, self.supply.prose(self.dice, 900)]
        words = f'Web search results for query: "{query}"\n\n{json.dumps(hits)}'
        return Call("WebSearch", {"query": query}, words, {"query": query, "results": results, "durationSeconds": 7.5})

    def _tracker(self) -> Call:
        blocks: list[Record] = [{"type": "text", "text": self.supply.prose(self.dice, self.length(1_200, 0.8))}]
        return Call("mcp__tracker__get_issue", {"id": f"AB-{self.dice.randrange(900)}"}, blocks, blocks)

    def _editor_diagnostics(self) -> Call:
        blocks: list[Record] = [{"type": "text", "text": json.dumps(self.diagnostics())}]
        return Call("mcp__ide__getDiagnostics", {}, blocks, blocks)


def _numbered(lines: list[str], first: int) -> str:
    return "\n".join(map("%6d→%s".__mod__, enumerate(lines, first)))


@cache
def _paths(cwd: str, supply: Supply) -> list[str]:
    dice = random.Random(cwd)
    names = ((supply.word(dice), supply.word(dice), dice.choice(_SUFFIXES)) for _ in range(_FILES))
    return [f"{cwd}/src/{folder}/{stem}_{number}.{suffix}" for number, (folder, stem, suffix) in enumerate(names)]


_SHARES: dict[Callable[[Tools], Call], int] = {
    Tools._bash: 33,
    Tools._read: 25,
    Tools._edit: 19,
    Tools._grep: 9,
    Tools._todo_write: 6,
    Tools._write: 3,
    Tools._glob: 3,
    Tools._web_fetch: 1,
    Tools._web_search: 1,
    Tools._tracker: 1,
    Tools._editor_diagnostics: 1,
}
_MAKERS, _WEIGHTS = list(_SHARES), list(_SHARES.values())
