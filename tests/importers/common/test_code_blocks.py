"""Fenced code in Markdown, held against another reader of CommonMark."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from aix_importers.common.code_blocks import FencedBlock, fenced_blocks


@pytest.mark.parametrize(
    ("text", "blocks"),
    [
        ("", []),
        ("no code", []),
        ("```py\nx\n```", [("py", "x\n")]),
        ("```\n```", [(None, "")]),
        ("~~~ js  title=a\nx\n~~~", [("js", "x\n")]),
        ("````md\n```\nx\n```\n````", [("md", "```\nx\n```\n")]),
        ("```\nx\n~~~\n```", [(None, "x\n~~~\n")]),
        ("```\nx\n`````  \ny", [(None, "x\n")]),
        ("```\nx\n``` y\n```", [(None, "x\n``` y\n")]),
        ("  ```\n  x\n    y\n  ```", [(None, "x\n  y\n")]),
        ("    ```\n    x\n    ```", []),
        ("``` a`b\nx", []),
        ("```sh\nls", [("sh", "ls\n")]),
        ("```\r\nx\r\n```\r\n", [(None, "x\n")]),
        ("1. Do:\n\n   ```sh\n   ls\n   ```\n2. Then:\n   ```\n   y\n   ```", [("sh", "ls\n"), (None, "y\n")]),
        ("- a\n  - b\n    ```\n    x\n    ```\n", [(None, "x\n")]),
        ("- ```py\n  x\n  ```", [("py", "x\n")]),
    ],
)
def test_blocks_are_found_as_commonmark_says(text: str, blocks: list[tuple[str | None, str]]) -> None:
    assert [(block.language, block.content) for block in fenced_blocks(text)] == blocks


@pytest.mark.parametrize(
    ("info", "language", "path", "lines"),
    [
        ("ts src/a.ts", "ts", "src/a.ts", (None, None)),
        ("ts a.ts", "ts", "a.ts", (None, None)),
        ("python:src/a.py", "python", "src/a.py", (None, None)),
        ("ts:C:\\src\\a.ts", "ts", "C:\\src\\a.ts", (None, None)),
        ("12:14:src/a b.ts", None, "src/a b.ts", (12, 14)),
        ("14:12:src/a.ts", None, "src/a.ts", (None, None)),
        ('js title="web/a b.js"', "js", "web/a b.js", (None, None)),
        ("js {1,3} filename='a.js'", "js", "a.js", (None, None)),
        ("js title=Example", "js", None, (None, None)),
        ("python 3.11", "python", None, (None, None)),
        ("js {1,3-4}", "js", None, (None, None)),
        ("sh https://example.com/a.sh", "sh", None, (None, None)),
        ("c++:main", "c++:main", None, (None, None)),
        ("12:14", "12:14", None, (None, None)),
    ],
)
def test_a_file_may_be_named_behind_the_fence(
    info: str, language: str | None, path: str | None, lines: tuple[int | None, int | None]
) -> None:
    (block,) = fenced_blocks(f"~~~{info}\nx\n~~~")
    assert (block.language, block.path, (block.line_start, block.line_end)) == (language, path, lines)


def test_code_is_the_content_without_its_last_line_end() -> None:
    blocks = fenced_blocks("```\n```\n```\nx\n\ny\n```\n```\nx\n\n")
    assert [block.code for block in blocks] == ["", "x\n\ny", "x\n"]


_LINES = st.sampled_from(
    [
        "",
        "text",
        "```",
        "~~~",
        "````",
        "``` py x",
        "~~~py",
        " ```",
        "   ~~~",
        "  code",
        "```  ",
        "`` `",
        "``` a`b",
        "``` `",
    ]
)


@given(st.lists(_LINES, max_size=10))
def test_another_reader_finds_the_same(lines: list[str]) -> None:
    text = "".join(f"{line}\n" for line in lines)
    tokens = [token for token in MarkdownIt().parse(text) if token.type == "fence"]
    expected = [FencedBlock(token.info.split()[0] if token.info.split() else None, token.content) for token in tokens]
    assert [*fenced_blocks(text)] == expected
