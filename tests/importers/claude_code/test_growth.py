"""The rows of a ledger do not depend on when and in which order transcripts were imported.

An import takes a while whatever it reads, so that many cases share each one. They have nothing in common.
"""

import os
import random
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.importers.claude_code.outlines import SITUATIONS
from tests.importers.claude_code.trees import Tree, import_here, tree_of, write_tree
from tests.support.row_batches import facts

pytestmark = pytest.mark.faults

EXAMPLES = settings(
    max_examples=int(os.environ.get("AIX_PROPERTY_EXAMPLES", "1")),
    deadline=None,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.explicit, Phase.reuse, Phase.generate],  # an example takes seconds: to shrink one would take minutes
)
CHANCES = st.integers(0, 2**32).map(random.Random)
"""Also the simplest of them does something."""
SEVERAL_FILES = [name for name in SITUATIONS if sum(path.endswith(".jsonl") for path in tree_of(name)) > 1]
BYTE_BY_BYTE = ["custom_command", "truncated_last_line"]
"""Cases of one file each."""


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """The rows of a ledger of all cases, imported at once from the place where `logs` puts them."""
    folder = tmp_path_factory.mktemp("whole")
    write_tree(logs(folder), tree_of(*SITUATIONS))
    import_here(folder / "ledger", logs(folder))
    return anywhere(folder)


def logs(folder: Path) -> Path:
    return folder / "logs"


def anywhere(folder: Path) -> dict[str, list[str]]:
    """Return what the ledger in a folder holds, without saying where the folder is."""
    return {
        table: sorted(row.replace(str(folder), "") for row in rows) for table, rows in facts(folder / "ledger").items()
    }


def cut(tree: Tree, percent: int) -> dict[str, bytes]:
    return {name: content[: len(content) * percent // 100] for name, content in tree.items()}


def test_transcripts_imported_while_they_were_written_are_those_imported_when_they_were_whole(
    whole: dict[str, list[str]], tmp_path: Path
) -> None:
    tree = tree_of(*SITUATIONS)
    for percent in (20, 50, 80, 100):
        write_tree(logs(tmp_path), cut(tree, percent))
        import_here(tmp_path / "ledger", logs(tmp_path))
    assert anywhere(tmp_path) == whole


def test_a_transcript_may_be_cut_at_any_byte(tmp_path: Path) -> None:
    beginnings, wholes = {}, {}
    for name in BYTE_BY_BYTE:
        [(path, content)] = tree_of(name).items()
        stem = Path(path).name[:8].encode()
        for number, end in enumerate(range(0, len(content), 7)):
            # Copies of the case that share no id.
            renamed = content.replace(stem, b"%08x" % (BYTE_BY_BYTE.index(name) << 20 | number))
            copy = f"{name}/{number}/{Path(path).name.replace(stem.decode(), f'{number:08x}')}"
            beginnings[copy], wholes[copy] = renamed[:end], renamed
    for ledger, trees in (("grown", (beginnings, wholes)), ("ledger", (wholes,))):
        for tree in trees:
            write_tree(logs(tmp_path), tree)
            import_here(tmp_path / ledger, logs(tmp_path))
    assert facts(tmp_path / "grown") == facts(tmp_path / "ledger")


@pytest.fixture(scope="module")
def several(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """The rows of a ledger of all cases of several files, imported at once."""
    folder = tmp_path_factory.mktemp("several")
    write_tree(logs(folder), tree_of(*SEVERAL_FILES))
    import_here(folder / "ledger", logs(folder))
    return anywhere(folder)


@EXAMPLES
@given(chance=CHANCES)
def test_the_order_in_which_files_are_imported_does_not_show(
    several: dict[str, list[str]], tmp_path_factory: pytest.TempPathFactory, chance: random.Random
) -> None:
    folder = tmp_path_factory.mktemp("orders")
    write_tree(logs(folder), tree_of(*SEVERAL_FILES))
    orders = [[path for path in tree_of(name) if path.endswith(".jsonl")] for name in SEVERAL_FILES]
    for order in orders:
        chance.shuffle(order)
    for number in range(max(map(len, orders))):
        # One file of each case: those of different cases do not matter to each other.
        paths = [logs(folder) / order[number] for order in orders if number < len(order)]
        import_here(folder / "ledger", *paths)
    assert anywhere(folder) == several


@EXAMPLES
@given(chance=CHANCES)
def test_files_that_grow_at_different_times_give_the_same(
    several: dict[str, list[str]], tmp_path_factory: pytest.TempPathFactory, chance: random.Random
) -> None:
    folder = tmp_path_factory.mktemp("grown")
    tree = tree_of(*SEVERAL_FILES)
    beginnings = {name: content[: chance.randint(0, len(content))] for name, content in tree.items()}
    some = {name: content for name, content in beginnings.items() if chance.random() < 0.7}
    for written in (some, tree):
        write_tree(logs(folder), written)
        import_here(folder / "ledger", logs(folder))
    assert anywhere(folder) == several
