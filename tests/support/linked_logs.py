"""Random logs that copy from each other, for the importer in `tests/plugin/src/aix_notes/yarns.py`."""

import tomllib
from collections.abc import Mapping
from pathlib import Path

from hypothesis import strategies as st

from tests.support.plugin_env import PLUGIN

Yarns = Mapping[str, str]
"""Contents by name."""


def install_here(folder: Path) -> list[str]:
    """Register the importers of the plugin for whoever has these folders on the path, workers included."""
    project = tomllib.loads((PLUGIN / "pyproject.toml").read_text())["project"]
    about = folder / "aix_notes-0.3.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n")
    points = project["entry-points"]["aix.importers"]
    lines = [f"{name} = {value}\n" for name, value in points.items()]
    (about / "entry_points.txt").write_text("[aix.importers]\n" + "".join(lines))
    return [str(folder), str(PLUGIN / "src")]


def yarn(*lines: str) -> str:
    return "".join(f"{line}\n" for line in ("yarn", *lines))


@st.composite
def yarns(draw: st.DrawFn) -> Yarns:
    """Draw up to five logs; each may begin with a copy of another one's history, and name records of any."""
    logs: dict[str, list[tuple[str, str, str]]] = {}
    for name in draw(st.permutations("pqrst"))[: draw(st.integers(2, 5))]:
        lines: list[tuple[str, str, str]] = []
        renamed: dict[str, str] = {}
        if draw(st.booleans()) and logs:
            source = logs[draw(st.sampled_from(sorted(logs)))]
            for record, parent, text in source[: draw(st.integers(0, len(source)))]:
                own = f"{name}{record}" if draw(st.booleans()) else record
                renamed[record] = own
                copied = text.partition(" =")[0] + f" ={record}" if own != record else text
                lines.append((own, renamed.get(parent, parent), copied))
        for number in range(draw(st.integers(0, 3))):
            everyone = [record for log in (*logs.values(), lines) for record, *_ in log]
            after_own = lines[-1][0] if lines else "-"
            parent = draw(st.sampled_from(everyone)) if everyone and draw(st.integers(0, 3)) == 0 else after_own
            lines.append((f"{name}{number}", parent, f"text of {name}{number}"))
        logs[name] = lines
    return {f"{name}.yarn": yarn(*(" ".join(line) for line in lines)) for name, lines in logs.items()}
