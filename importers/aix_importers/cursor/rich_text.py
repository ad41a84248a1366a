"""The text in what an editor of rich text keeps: Lexical, ProseMirror, or no JSON at all."""

from collections.abc import Iterator

from msgspec import Raw

from aix_importers.cursor.values import ABSENT, plain, text

_BLOCKS = {"paragraph", "heading", "quote", "listitem", "codeblock", "code"}
_MOST_NODES = 200_000


def text_of_rich(raw: Raw) -> str | None:
    """Return the text: of the text nodes, with a line per paragraph."""
    if raw is ABSENT:
        return None
    written = text(raw)
    value = plain(raw) if written is None else plain(written.encode("utf-8", "replace")) if written else None
    if not isinstance(value, dict):
        return written if written and value is None else None
    root = value.get("root", value)
    if not isinstance(root, dict):
        return None
    lines = list(_lines(root))
    return "\n".join(lines) if any(lines) else None


def _children(node: dict[str, object]) -> list[dict[str, object]]:
    listed = node.get("children", node.get("content"))
    return [child for child in listed if isinstance(child, dict)] if isinstance(listed, list) else []


def _lines(root: dict[str, object]) -> Iterator[str]:
    """Go through the paragraphs; what nests is walked without recursion, since nobody promises that it ends soon."""
    line: list[str] = []
    has_begun = False
    stack: list[dict[str, object]] = [root]
    for _ in range(_MOST_NODES):
        if not stack:
            break
        node = stack.pop()
        kind = node.get("type")
        if kind in _BLOCKS:
            if has_begun:
                yield "".join(line)
                line = []
            has_begun = True
        if kind in ("linebreak", "hardBreak"):
            line.append("\n")
        elif isinstance(node.get("text"), str):
            line.append(str(node["text"]))
        elif kind in ("mention", "mentionNode") and isinstance(node.get("mentionName"), str):
            line.append(str(node["mentionName"]))
        stack.extend(reversed(_children(node)))
    yield "".join(line)
