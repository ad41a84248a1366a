"""Texts of prompts: passages that the client put between tags, and the files that a text names."""

import re
from collections.abc import Iterator
from typing import NamedTuple

_OPENED = re.compile(r"The user opened the file ([^\n]+?) in the IDE")
_SELECTED = re.compile(r"The user selected the lines (\d{1,18}) to (\d{1,18}) from ([^\n]+):(?:\n|$)")
_OF_THE_CLIENT = (
    "ide_opened_file",
    "ide_selection",
    "system-reminder",
    "task-notification",
    "local-command-stdout",
    "bash-stdout",
    "bash-stderr",
)
_MENTION = re.compile(r"""(?:(?<!\S)|(?<=<command-args>))@(?:"([^"\n]+)"|([^\s"'`<>]+))""")
_LINES = re.compile(r"(.+)#L(\d{1,18})(?:-L?(\d{1,18}))?", re.DOTALL)
_BEHIND_A_MENTION = ".,;:!?)]}*…"
_HIDDEN_FILE = re.compile(r"\.[A-Za-z][\w.-]*")
_ROOT = re.compile(r"\.{1,2}|~|[A-Za-z]:")
_KNOWN_NAMES = "Dockerfile Gemfile Jenkinsfile Justfile LICENSE Makefile Procfile README Rakefile"
# A name with a dot may also be a decorator, a host or a package, so that only endings of common files count.
_KNOWN_ENDINGS = """
    adoc astro bash bat bib bmp c cc cfg cjs clj cljs cmake conf cpp cs csproj css csv cts cu dart db diff docx edn
    ejs el env erb erl ex exs fish fs gif go gql gradle graphql groovy h hbs hcl heex hpp hs html ini ipynb java
    jinja jl jpeg jpg js json json5 jsonc jsonl jsx kt kts less lock log lua markdown md mdc mdx mjs ml mli mm mod
    mts nim nix odt org parquet patch pdf php pl plist png po pptx prisma properties proto ps1 py pyi pyx r rake rb
    rs rst rtf sass sbt scala scss service sh sln sol sql sqlite styl sum svelte svg swift tcl tex tf tfvars thrift
    toml ts tsv tsx txt vb vim vue wasm webp xaml xls xlsx xml xsd xsl yaml yml zig zsh
"""
_NAMES = frozenset(_KNOWN_NAMES.split())
_ENDINGS = frozenset(_KNOWN_ENDINGS.split())


def envelopes(text: str, tag: str) -> Iterator[str]:
    """Go through what stands between a tag and its end; a tag without an end holds nothing.

    >>> [*envelopes("<a>1</a> and <a>2</a> and <a>3", "a")]
    ['1', '2']
    """
    for start, end in _places(text, tag):
        yield text[start + len(tag) + 2 : end - len(tag) - 3]


def without_envelopes(text: str, *tags: str) -> str:
    """Leave out the tags and what stands between them.

    >>> without_envelopes("See <a>1</a>this <b>2</b>", "a", "b")
    'See  this  '
    """
    for tag in tags:
        kept = 0
        parts = []
        for start, end in _places(text, tag):
            parts.append(text[kept:start])
            kept = end
        text = " ".join([*parts, text[kept:]])
    return text


def _places(text: str, tag: str) -> Iterator[tuple[int, int]]:
    opening, closing = f"<{tag}>", f"</{tag}>"
    end = 0
    while (start := text.find(opening, end)) >= 0 and (found := text.find(closing, start)) >= 0:
        end = found + len(closing)
        yield start, end


class NamedFile(NamedTuple):
    """A file as a prompt names it."""

    path: str
    line_start: int | None
    line_end: int | None


def files_in_editor(text: str) -> Iterator[NamedFile]:
    """Go through the files that the editor had open, or of which lines were selected."""
    for envelope in envelopes(text, "ide_opened_file"):
        opened = _OPENED.match(envelope)
        if opened:
            yield NamedFile(opened[1], None, None)
    for envelope in envelopes(text, "ide_selection"):
        selected = _SELECTED.match(envelope)
        if selected:
            yield NamedFile(selected[3], *_lines(selected[1], selected[2]))


def mentioned_files(text: str) -> Iterator[NamedFile]:
    """Go through the files mentioned as `@path`; whatever could be something else is left out.

    >>> [each.path for each in mentioned_files('Move @src/a.py and @"my notes.md" to @types/node, says @app.route')]
    ['src/a.py', 'my notes.md']
    """
    said = without_envelopes(text, *_OF_THE_CLIENT) if "@" in text else ""
    for quoted, plain in _MENTION.findall(said):
        name = quoted or plain.rstrip(_BEHIND_A_MENTION)
        ranged = _LINES.fullmatch(name)
        path = ranged[1] if ranged else name
        if _is_path(path):
            lines = _lines(ranged[2], ranged[3] or ranged[2]) if ranged else (None, None)
            yield NamedFile(path.rstrip("/\\"), *lines)


def _is_path(text: str) -> bool:
    parts = re.split(r"[\\/]", text)
    name = parts[-1]
    if "://" in text or "@" in parts[0] or not any(parts):
        return False
    if not name:
        return True
    stem, _, ending = name.rpartition(".")
    has_ending = bool(stem) and ending.lower() in _ENDINGS
    return has_ending or name in _NAMES or bool(_HIDDEN_FILE.fullmatch(name) or _ROOT.fullmatch(parts[0]))


def _lines(start: str, end: str) -> tuple[int | None, int | None]:
    first, last = int(start), int(end)
    return (first, last) if 0 < first <= last else (None, None)
