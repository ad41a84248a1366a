"""HTML that stands alone: escaped text, and a policy under which nothing but AIX's own script runs."""

import base64
import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence

from aix.output.text import escape_unsafe, to_cell, to_json

BASE_STYLE = """
:root {
  color-scheme: light dark; --text: #1c1e21; --faint: #5b6068; --page: #fff; --box: #f5f6f8; --line: #d5d9df;
  --link: #0b57d0;
}
@media (prefers-color-scheme: dark) {
  :root {
    --text: #e6e7ea; --faint: #a5abb5; --page: #16181c; --box: #20242a; --line: #3a404a; --link: #9cc4ff;
  }
}
* { box-sizing: border-box; }
[hidden] { display: none !important; }
body {
  font: 16px/1.5 system-ui, sans-serif; color: var(--text); background: var(--page); max-width: 72rem;
  margin: 0 auto; padding: 1.5rem 1rem 4rem; overflow-wrap: anywhere;
}
h1 { margin: 0; font-size: 1.7rem; line-height: 1.25; }
h2 { margin: 2.5rem 0 .5rem; font-size: 1.3rem; }
p { margin: .4rem 0; }
a { color: var(--link); }
summary, .faint { color: var(--faint); }
.scroll { overflow-x: auto; }
.number { text-align: right; white-space: nowrap; }
"""
"""The colours, type and measures that all pages share, light and dark."""
_RUN_IN_NAME = re.compile(r"[^a-z0-9]+")


def text(written: str) -> str:
    r"""Escape a text; characters that could act are shown as escapes.

    >>> print(text("<b> & \u202e"))
    &lt;b&gt; &amp; \u202e
    """
    from html import escape

    return escape(escape_unsafe(written))


def marked(written: str) -> str:
    """Escape a text, and set its quotations in backticks as code.

    >>> marked("run `aix audit` <now>")
    'run <code>aix audit</code> &lt;now&gt;'
    """
    parts = re.split("`([^`]+)`", written)
    return "".join(f"<code>{text(part)}</code>" if place % 2 else text(part) for place, part in enumerate(parts))


def table(names: Iterable[str], rows: Iterable[Sequence[object]], are_numbers: Sequence[bool]) -> Iterator[str]:
    """Give a table, its numbers flush right.

    >>> for part in table(["n"], [[1]], [True]):
    ...     print(part)
    <table><thead><tr><th scope="col" class="number">n</th></tr></thead><tbody>
    <tr><td class="number">1</td></tr>
    </tbody></table>
    """
    classes = [' class="number"' if is_number else "" for is_number in are_numbers]
    heads = [f'<th scope="col"{kind}>{text(name)}</th>' for name, kind in zip(names, classes, strict=True)]
    yield f"<table><thead><tr>{''.join(heads)}</tr></thead><tbody>"
    for row in rows:
        cells = [f"<td{kind}>{text(to_cell(value))}</td>" for value, kind in zip(row, classes, strict=True)]
        yield f"<tr>{''.join(cells)}</tr>"
    yield "</tbody></table>"


def slug(name: str) -> str:
    """Return a name for an element, and for links to it.

    >>> slug("Cost per day, by model")
    'cost-per-day-by-model'
    """
    return _RUN_IN_NAME.sub("-", name.lower()).strip("-")


def embedded_json(value: object) -> str:
    r"""Write a value as JSON that stands inside a script element, which no text of it can end.

    >>> print(embedded_json("</script>"))
    "\u003c/script>"
    """
    return to_json(value).replace("<", "\\u003c")


def source_hash(content: str) -> str:
    """Return a style sheet or script as a policy names it."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}'"


def policy(styles: Iterable[str], scripts: Iterable[str], style_hashes: Iterable[str] = ()) -> str:
    """Return the policy under which a browser runs these styles and scripts, and loads nothing.

    Further styles, which scripts put in, are named by their hashes.
    """
    return (
        f"default-src 'none'; style-src {' '.join([*map(source_hash, styles), *style_hashes])}; "
        f"script-src {' '.join(map(source_hash, scripts))}; base-uri 'none'; form-action 'none'"
    )


def head(title: str, content_policy: str, style: str) -> str:
    """Return the beginning of a page, up to its body."""
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{content_policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{text(title)}</title><style>{style}</style></head><body>"
    )
