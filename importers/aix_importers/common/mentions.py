r"""Mentions of people and agents in messages: `@[Name](kind:ID)`.

A backslash takes the meaning from the character behind it. A name may hold one level of brackets, and so links and
other markup; all brackets that do not come in such pairs are escaped, in ids the round ones. A mention is on one line:
a line end in a name or id is escaped too. No mention are those in code, between backticks on a line or in a fenced
block, those whose `@` is escaped, and links to addresses such as `https://…`.

The view `v_mentions` of the query library finds the same mentions in the messages of a ledger.
"""

import re
from collections.abc import Iterator

import msgspec

_ESCAPED = r"\\[\s\S]"
_LONGEST_FENCE = 6
"""Longer fences count as this long: a pattern without references back needs a branch for each length."""


def _block(mark: str, info: str, length: int) -> str:
    """Return a pattern for a block from a fence of this length to one at least as long, or to the end of the text."""
    fence, longer = mark * length, f"{mark}*"
    opening = fence + longer if length == _LONGEST_FENCE else fence
    return rf"{opening}{info}$[\s\S]*?(?:\n[ \t>]*{fence}{longer}[ \t]*$|\Z)"


_BLOCKS = [
    _block(mark, info, length)
    for mark, info in (("`", r"[^`\n]*"), ("~", r"(?:[^~\n][^\n]*)?"))
    for length in range(3, _LONGEST_FENCE + 1)
]
_FENCED = rf"^[ \t>]*(?:(?:[-*+]|[0-9]{{1,9}}[.)])[ \t]+)?(?:{'|'.join(_BLOCKS)})"
"""A fence may be behind quote marks and the mark of a list item."""
_CODE_SPANS = [
    r"`[^`\n]+`",
    r"``[^`\n]+(?:`[^`\n]+){0,50}``",
    r"`{3,}[^`\n]+(?:`{1,2}[^`\n]+){0,50}`{3,}",
    r"`+",
]
_NAME = rf"[^\[\]\\\n]*(?:(?:{_ESCAPED}|\[[^\[\]\\\n]*\])[^\[\]\\\n]*){{0,200}}"
_KIND = r"[A-Za-z][A-Za-z0-9_-]*"
_ID = rf"[^()\\\n]*(?:{_ESCAPED}[^()\\\n]*){{0,200}}"
_OTHER = r"[^`\\@\n]+(?:\n+[ \t]*[^ \t>*+0-9`~\\@\n-][^`\\@\n]*){0,200}"
"""Text up to the next mark, over the ends of lines behind which no fence can be."""
_TOKEN = re.compile(
    "|".join([_FENCED, *_CODE_SPANS, _ESCAPED, rf"@\[{_NAME}\]\({_KIND}:{_ID}\)", _OTHER, r"\n+", r"[\s\S]"]),
    re.MULTILINE,
)
_MENTION = re.compile(rf"@\[({_NAME})\]\(({_KIND}):({_ID})\)")
_LINE_MARKS = str.maketrans("\r\x85\u2028\u2029", "    ")
"""Characters that some engines take for line ends: as blanks they are the same to all."""
_ADDRESS = "//"
_ESCAPED_CHARACTER = re.compile(r"\\([\s\S])")
_OF_NAME = re.compile(r"[\[\]\\\n]")
_OF_ID = re.compile(r"[()\\\n]|^/")


class Mention(msgspec.Struct, frozen=True):
    """A person or an agent that a text mentions."""

    name: str
    kind: str
    """`user`, `agent`, or another word."""
    target_id: str
    start_char: int
    end_char: int
    """The first character that is no part of it any more."""


def parse_mentions(text: str) -> Iterator[Mention]:
    r"""Go through the mentions of a text.

    >>> [mention] = parse_mentions(r"Ask @[Ann \[QA\]](user:u-1), not `@[Bo](user:u-2)`.")
    >>> mention.name, mention.kind, mention.target_id
    ('Ann [QA]', 'user', 'u-1')
    """
    if "@[" not in text:
        return
    for token in _TOKEN.finditer(text.translate(_LINE_MARKS)):
        start, end = token.span()
        mention = _MENTION.fullmatch(text, start, end)
        if mention and mention[1] and mention[3] and not mention[3].startswith(_ADDRESS):
            yield Mention(_unescaped(mention[1]), mention[2], _unescaped(mention[3]), start, end)


def render_mention(name: str, kind: str, target_id: str) -> str:
    r"""Return the text of a mention, from which `parse_mentions` gets the same back.

    >>> render_mention("Ann [QA]", "user", "u(1)")
    '@[Ann \\[QA\\]](user:u\\(1\\))'
    """
    if not (name and target_id and re.fullmatch(_KIND, kind)):
        raise ValueError(f"a mention has a name, a word for its kind and an id: {name!r}, {kind!r}, {target_id!r}")
    mention = f"@[{_OF_NAME.sub(_escape, name)}]({kind}:{_OF_ID.sub(_escape, target_id)})"
    if not _MENTION.fullmatch(mention):
        raise ValueError("the name or id of a mention holds more than 200 characters that need an escape")
    return mention


def _escape(found: re.Match[str]) -> str:
    return f"\\{found[0]}"


def _unescaped(text: str) -> str:
    return _ESCAPED_CHARACTER.sub(r"\1", text)
