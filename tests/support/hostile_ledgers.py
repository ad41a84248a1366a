"""Ledgers that a stranger or a bad disk has changed: each case changes one thing in a copy of a small ledger."""

import json
import os
import shutil
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from aix.store.manifest import manifest_path, manifest_paths

DEEP = b"[" * 100_000
OLD = 1_000_000_000
"""A time long before any grace period."""

Document = dict[str, Any]

_PLACES = "default_places.json"


@dataclass(frozen=True)
class Scene:
    """A copy of a ledger, beside files that nothing of it may touch."""

    ledger: Path
    victim: Path
    """A folder with files in it."""

    @property
    def manifest(self) -> Path:
        """The newest manifest."""
        return manifest_paths(self.ledger)[-1]

    @property
    def document(self) -> Document:
        """The content of the newest manifest."""
        content: Document = json.loads(self.manifest.read_bytes())
        return content

    def write(self, document: Document) -> None:
        """Replace the newest manifest."""
        self.manifest.write_text(json.dumps(document), "utf-8")

    def segment(self, table: str = "messages", number: int = 0) -> Path:
        """Return the path of a file of a table."""
        return self.ledger / str(self.document["tables"][table][number]["path"])

    def entry_file(self, kind: str) -> Path:
        """Return the path of the first index, or of the first file of fingerprints or ties."""
        files = self.document[kind]
        first = next(iter(files.values())) if isinstance(files, dict) else files[0]
        return self.ledger / str(first["path"])


Damage = Callable[[Scene], None]


@dataclass(frozen=True)
class Case:
    """A change, and the operations that must end as for a damaged ledger; the others may also be fine."""

    name: str
    damage: Damage
    refused: frozenset[str] = field(default_factory=frozenset)


def edited(change: Callable[[Document], object]) -> Damage:
    """Change the newest manifest."""

    def damage(scene: Scene) -> None:
        document = scene.document
        change(document)
        scene.write(document)

    return damage


def old_version_with(path: str) -> Damage:
    """Put a version before the others that names a path, and end it."""

    def damage(scene: Scene) -> None:
        named = path.replace("VICTIM", str(scene.victim))
        document = scene.document
        document["oldest"] = document["version"]
        scene.write(document)
        older = manifest_paths(scene.ledger)[0]
        ended: Document = json.loads(older.read_bytes())
        ended["tables"]["turns"] = [{"path": named, "rows": 1}]
        older.write_text(json.dumps(ended), "utf-8")

    return damage


def first_segment(**values: object) -> Damage:
    """Change what the newest manifest says of a segment."""
    return edited(lambda document: document["tables"]["messages"][0].update(values))


def first_index(**values: object) -> Damage:
    """Change what the newest manifest says of an index."""
    return edited(lambda document: next(iter(document["indexes"].values())).update(values))


def first_of(kind: str, **values: object) -> Damage:
    """Change what the newest manifest says of the first file of fingerprints or ties."""
    return edited(lambda document: document[kind][0].update(values))


def first_view(**values: object) -> Damage:
    """Change what the newest manifest says of a kept view."""
    return edited(lambda document: next(iter(document["views"].values()))[0].update(values))


def replaced(find: Callable[[Scene], Path], make: Callable[[Path, Scene], object]) -> Damage:
    """Put something else in the place of a file."""

    def damage(scene: Scene) -> None:
        path = find(scene)
        path.unlink()
        make(path, scene)

    return damage


def make_pipe(path: Path, _: Scene) -> None:
    os.mkfifo(path)


def make_folder(path: Path, _: Scene) -> None:
    path.mkdir()
    (path / "inside").write_text("x")


def make_socket(path: Path, _: Scene) -> None:
    with socket.socket(socket.AF_UNIX) as listener:
        here = Path.cwd()
        os.chdir(path.parent)  # the path of a socket has at most 108 bytes
        try:
            listener.bind(path.name)
        finally:
            os.chdir(here)


def make_link_out(path: Path, scene: Scene) -> None:
    path.symlink_to(scene.victim / "docs" / "thesis.txt")


def make_empty(path: Path, _: Scene) -> None:
    path.touch()


def filled(find: Callable[[Scene], Path], content: bytes | None = None) -> Damage:
    """Overwrite a file with other bytes: NULs, as many as it had, unless some are given."""

    def damage(scene: Scene) -> None:
        path = find(scene)
        path.write_bytes(bytes(path.stat().st_size) if content is None else content)

    return damage


def flipped(find: Callable[[Scene], Path]) -> Damage:
    """Change every byte of a file and keep its length."""

    def damage(scene: Scene) -> None:
        path = find(scene)
        path.write_bytes(bytes(byte ^ 0x55 for byte in path.read_bytes()))

    return damage


def linked_folder(name: str) -> Damage:
    """Put a link to the victim's folder in the place of a folder of the ledger, whose files move there."""

    def damage(scene: Scene) -> None:
        folder = scene.ledger / name
        if folder.exists():
            shutil.copytree(folder, scene.victim, dirs_exist_ok=True)
            shutil.rmtree(folder)
        folder.symlink_to(scene.victim)

    return damage


def link_in_staging(scene: Scene) -> None:
    (scene.ledger / "staging").mkdir(exist_ok=True)
    (scene.ledger / "staging" / "0123").symlink_to(scene.victim)
    (scene.ledger / "data" / "loop").symlink_to(scene.victim)
    (scene.ledger / ".x.part").symlink_to(scene.victim)


def pipes_around(scene: Scene) -> None:
    """Put named pipes where files and folders of other runs lie."""
    (scene.ledger / "staging").mkdir(exist_ok=True)
    for name in ("staging/0123", "data/left-behind.parquet", "status.json", "quiet.json", "touched.json", _PLACES):
        (scene.ledger / name).unlink(missing_ok=True)
        os.mkfifo(scene.ledger / name)
    for name in ("ledger.duckdb.json", "ledger.duckdb"):
        (scene.ledger / name).unlink(missing_ok=True)
        os.mkfifo(scene.ledger / name)


def with_notes(content: bytes) -> Damage:
    """Overwrite the notes beside the versions."""

    def damage(scene: Scene) -> None:
        for name in ("status.json", "quiet.json", "touched.json", _PLACES, "ledger.duckdb.json"):
            (scene.ledger / name).write_bytes(content)

    return damage


def folders_as_notes(scene: Scene) -> None:
    for name in ("status.json", "quiet.json", "touched.json", _PLACES, "ledger.duckdb.json", "ledger.duckdb"):
        (scene.ledger / name).unlink(missing_ok=True)
        (scene.ledger / name).mkdir()


def wrong_amounts(scene: Scene) -> None:
    """Say in the note of recent use what is no amount."""
    path = scene.ledger / "status.json"
    said: Document = json.loads(path.read_bytes())
    now = int(time.time() // 900)
    said["uses"] = [[now, 1, 0, 1, "1E+999999", "NaN"], [now + 1, 1, 0, 1, "1", "1"]]
    path.write_text(json.dumps(said), "utf-8")


def other_columns(table: str, number: int = 0) -> Damage:
    """Put a Parquet file of other columns in the place of a segment."""

    def damage(scene: Scene) -> None:
        path = scene.segment(table, number)
        pq.write_table(pa.table({"surprise": [1, 2, 3]}), path)
        document = scene.document
        document["tables"][table][number]["size_bytes"] = path.stat().st_size
        scene.write(document)

    return damage


def other_types(table: str, column: str) -> Damage:
    """Write a column of all segments of a table as a list of numbers."""

    def damage(scene: Scene) -> None:
        document = scene.document
        for segment in document["tables"][table]:
            path = scene.ledger / segment["path"]
            rows = pq.ParquetFile(path).read()
            wrong = pa.array([[1, 2]] * rows.num_rows)
            pq.write_table(rows.set_column(rows.schema.get_field_index(column), column, wrong), path)
            segment["size_bytes"] = path.stat().st_size
        scene.write(document)

    return damage


def view_of_other_columns(scene: Scene) -> None:
    document = scene.document
    for segments in document["views"].values():
        path = scene.ledger / segments[0]["path"]
        pq.write_table(pa.table({"surprise": [1, 2, 3]}), path)
        segments[0]["size_bytes"] = path.stat().st_size
    scene.write(document)


def damaged_pages(scene: Scene) -> None:
    """Overwrite the pages of all messages and leave the ends of the files alone."""
    for segment in scene.document["tables"]["messages"]:
        path = scene.ledger / segment["path"]
        content = bytearray(path.read_bytes())
        length = int.from_bytes(content[-8:-4], "little")
        content[4 : len(content) - length - 8] = bytes(len(content) - length - 12)
        path.write_bytes(content)


def renamed_group(document: Document) -> None:
    for segments in document["tables"].values():
        for segment in segments:
            if segment["group"] is not None:
                segment["group"] = "other"
                return


def twice_in_table(document: Document) -> None:
    document["tables"]["messages"].append(document["tables"]["messages"][0])


def same_file_in_two_tables(document: Document) -> None:
    document["tables"]["turns"][0]["path"] = document["tables"]["messages"][0]["path"]


def table_of_view(document: Document) -> None:
    document["views"]["messages"] = document["views"].popitem()[1]


def future_version(scene: Scene) -> None:
    """Give the newest version the last number for which there is a file name."""
    document = scene.document
    document["version"] = 9_999_999_999
    manifest_path(scene.ledger, 9_999_999_999).write_text(json.dumps(document), "utf-8")


def version_zero(scene: Scene) -> None:
    document = scene.document
    for path in manifest_paths(scene.ledger):
        path.unlink()
    document["version"] = 0
    manifest_path(scene.ledger, 0).write_text(json.dumps(document), "utf-8")


def not_text(scene: Scene) -> None:
    """Put names that are not UTF-8 beside those of the ledger."""
    for folder in ("data", "versions", "staging", "raw/3f", "."):
        (scene.ledger / folder).mkdir(exist_ok=True, parents=True)
        for name in (b"\xff\xfe", b".\xff.part"):
            path = Path(os.fsdecode(bytes(scene.ledger / folder) + b"/" + name))
            path.write_text("x")
            os.utime(path, (OLD, OLD))


def not_text_in_manifest(scene: Scene) -> None:
    scene.manifest.write_bytes(scene.manifest.read_bytes().replace(b'"data/messages-', b'"data/\xff\xfe-'))


def raw_pipe(scene: Scene) -> None:
    folder = scene.ledger / "raw" / "ab"
    folder.mkdir(parents=True)
    os.mkfifo(folder / f"{'ab' * 32}.zst")


def raw_of_victim(scene: Scene) -> None:
    """Put a link to the victim's folder in the place of a folder of copies; it holds a file of a copy's name."""
    (scene.ledger / "raw").mkdir(exist_ok=True)
    (scene.ledger / "raw" / "ab").symlink_to(scene.victim)


def damaged_sources(scene: Scene) -> None:
    """Overwrite what says which copies of sources are in use, where there is an old copy."""
    folder = scene.ledger / "raw" / "ab"
    folder.mkdir(parents=True)
    (folder / f"{'ab' * 32}.zst").write_text("x")
    os.utime(folder / f"{'ab' * 32}.zst", (OLD, OLD))
    scene.segment("import_sources").write_bytes(bytes(scene.segment("import_sources").stat().st_size))


def manifest(scene: Scene) -> Path:
    return scene.manifest


def messages(scene: Scene) -> Path:
    return scene.segment("messages")


def later_messages(scene: Scene) -> Path:
    return scene.segment("messages", len(scene.document["tables"]["messages"]) - 1)


def index(scene: Scene) -> Path:
    return scene.entry_file("indexes")


def fingerprints(scene: Scene) -> Path:
    return scene.entry_file("fingerprints")


def ties(scene: Scene) -> Path:
    return scene.entry_file("ties")


def view(scene: Scene) -> Path:
    return scene.ledger / str(next(iter(scene.document["views"].values()))[0]["path"])


EVERYTHING = frozenset({"overview", "cost", "sessions", "sql", "check", "forget", "vacuum", "export", "import", "join"})
"""Operations that cannot be done without the newest manifest."""
CHANGES = frozenset({"forget", "vacuum", "import"})
READS = frozenset({"sql messages", "check", "export", "export sessions", "join"})

MANIFEST_CASES = (
    Case("a path beside the ledger", first_segment(path="../victim/docs"), EVERYTHING),
    Case("a path above in the middle", first_segment(path="data/../../victim/docs/thesis.txt"), EVERYTHING),
    Case("an absolute path", first_segment(path="/etc/hostname"), EVERYTHING),
    Case("a path with a backslash", first_segment(path="data\\..\\x.parquet"), EVERYTHING),
    Case("a path with a drive", first_segment(path="C:/x.parquet"), EVERYTHING),
    Case("a path with a NUL", first_segment(path="data/x\0.parquet"), EVERYTHING),
    Case("a path with an empty part", first_segment(path="data//x.parquet"), EVERYTHING),
    Case("an empty path", first_segment(path=""), EVERYTHING),
    Case("the data folder itself", first_segment(path="data"), EVERYTHING),
    Case("a file of another folder", first_segment(path="versions/0000000001.json"), EVERYTHING),
    Case("a hidden file", first_segment(path="data/.x.parquet"), EVERYTHING),
    Case("a wildcard", first_segment(path="data/*.parquet"), EVERYTHING),
    Case("a quote", first_segment(path="data/x'], [1]) -- .parquet"), EVERYTHING),
    Case("a file of the ledger itself", first_segment(path="ledger.duckdb"), EVERYTHING),
    Case("a line feed at the end", first_segment(path="data/x.parquet\n"), EVERYTHING),
    Case("a very long name", first_segment(path=f"data/{'x' * 5_000}"), EVERYTHING),
    Case("a name that is not UTF-8", not_text_in_manifest, EVERYTHING),
    Case("a lone surrogate", first_segment(path="data/\ud800.parquet"), EVERYTHING),
    Case("an index beside the ledger", first_index(path="../victim/docs"), EVERYTHING),
    Case("fingerprints beside the ledger", first_of("fingerprints", path="../victim/docs"), EVERYTHING),
    Case("ties beside the ledger", first_of("ties", path="../victim/docs"), EVERYTHING),
    Case("a kept view beside the ledger", first_view(path="../victim/docs"), EVERYTHING),
    Case("an unknown table", edited(lambda d: d["tables"].update(surprise=d["tables"]["turns"])), EVERYTHING),
    Case("a missing index", edited(lambda d: d["indexes"].popitem()), EVERYTHING),
    Case("no indexes", edited(lambda d: d.pop("indexes")), EVERYTHING),
    Case(
        "an index too many", edited(lambda d: d["indexes"].update(x={"path": "data/x.bin", "entries": 1})), EVERYTHING
    ),
    Case("a changed group name", edited(renamed_group), EVERYTHING),
    Case("a segment twice", edited(twice_in_table), EVERYTHING),
    Case("a file of two tables", edited(same_file_in_two_tables), EVERYTHING),
    Case("a kept view with the name of a table", edited(table_of_view), EVERYTHING),
    Case("a kept view with the name of a path", edited(lambda d: d["views"].update({"../x": []})), EVERYTHING),
    Case("a negative number of rows", first_segment(rows=-1), EVERYTHING),
    Case("a huge number of rows", first_segment(rows=10**30), EVERYTHING),
    Case("a negative size", first_segment(size_bytes=-1), EVERYTHING),
    Case("a negative number of entries", first_index(entries=-1), EVERYTHING),
    Case("a checksum that is none", first_index(sha256="x"), EVERYTHING),
    Case("another version number", edited(lambda d: d.update(version=77)), EVERYTHING),
    Case("version 0", version_zero, EVERYTHING),
    Case("the last number of versions", future_version, EVERYTHING),
    Case("schema version 0", edited(lambda d: d.update(schema_version=0)), EVERYTHING),
    Case("schema version -1", edited(lambda d: d.update(schema_version=-1)), EVERYTHING),
    Case("a huge schema version", edited(lambda d: d.update(schema_version=10**300)), EVERYTHING),
    Case("a newer schema version", edited(lambda d: d.update(schema_version=99)), EVERYTHING),
    Case("an end that is yet to come", edited(lambda d: d.update(oldest=d["version"] + 1)), EVERYTHING),
    Case("a negative end", edited(lambda d: d.update(oldest=-1)), EVERYTHING),
    Case("100,000 brackets", filled(manifest, DEEP), EVERYTHING),
    Case("100,000 brackets in a key", filled(manifest, b'{"schema_version":4,"x":' + DEEP), EVERYTHING),
    Case("100,000 objects", filled(manifest, b'{"a":' * 100_000), EVERYTHING),
    Case("a manifest of NULs", filled(manifest), EVERYTHING),
    Case("an empty manifest", replaced(manifest, make_empty), EVERYTHING),
    Case("a named pipe as manifest", replaced(manifest, make_pipe), EVERYTHING),
    Case("a folder as manifest", replaced(manifest, make_folder), EVERYTHING),
    Case("a socket as manifest", replaced(manifest, make_socket), EVERYTHING),
    Case("a link as manifest", replaced(manifest, make_link_out), EVERYTHING),
    Case("a link as versions folder", linked_folder("versions"), EVERYTHING),
)

OLD_VERSION_CASES = (
    Case("an old version names a folder beside the ledger", old_version_with("../victim/docs"), CHANGES - {"import"}),
    Case("an old version names an absolute path", old_version_with("VICTIM/docs"), CHANGES - {"import"}),
    Case(
        "an old version names a file above", old_version_with("data/../../victim/docs/thesis.txt"), CHANGES - {"import"}
    ),
)

FILE_CASES = (
    Case("a link as data folder", linked_folder("data"), CHANGES),
    Case("a link as staging folder", linked_folder("staging"), CHANGES),
    Case("a link as folder of copies", linked_folder("raw"), frozenset({"vacuum", "forget"})),
    Case("a link among the copies", raw_of_victim, frozenset({"vacuum"})),
    Case("a named pipe among the copies", raw_pipe, frozenset({"vacuum"})),
    Case("copies whose sources cannot be read", damaged_sources, frozenset({"vacuum"})),
    Case("links out of staging and data", link_in_staging),
    Case("named pipes as notes and leftovers", pipes_around),
    Case("100,000 brackets in every note", with_notes(DEEP)),
    Case("notes of NULs", with_notes(bytes(1_000))),
    Case("folders as notes", folders_as_notes),
    Case("a note of wrong amounts", wrong_amounts),
    Case("names that are not UTF-8", not_text),
    Case("a segment that links out", replaced(messages, make_link_out), READS),
    Case("a named pipe as segment", replaced(messages, make_pipe), READS),
    Case("a folder as segment", replaced(messages, make_folder), READS),
    Case("a socket as segment", replaced(messages, make_socket), READS),
    Case("an empty segment", replaced(messages, make_empty), READS),
    Case("a missing segment", lambda scene: messages(scene).unlink(), READS),
    Case("a segment of NULs", filled(messages), READS),
    Case("a later segment of NULs", filled(later_messages), READS),
    Case("damaged pages", damaged_pages, READS),
    Case("a segment of another size", first_segment(size_bytes=5), READS),
    Case("a wrong number of rows", first_segment(rows=1_000_000), frozenset({"check"})),
    Case("a segment of other columns", other_columns("messages"), READS),
    Case("a segment of other types", other_types("messages", "created_at"), READS),
    Case("prices of other columns", other_columns("model_prices"), frozenset({"check"})),
    Case("a link out as index", replaced(index, make_link_out), frozenset({"import", "forget"})),
    Case("a named pipe as index", replaced(index, make_pipe), frozenset({"import", "forget"})),
    Case("a folder as index", replaced(index, make_folder), frozenset({"import", "forget"})),
    Case("an index of other bytes", flipped(index), frozenset({"import", "forget"})),
    Case("an index of NULs", filled(index), frozenset({"import", "forget"})),
    Case("a wrong number of entries", first_index(entries=10), frozenset({"import", "forget"})),
    Case("a huge number of entries", first_index(entries=10**15), frozenset({"import", "forget"})),
    Case("a link out as fingerprints", replaced(fingerprints, make_link_out), frozenset({"import", "sources"})),
    Case("a named pipe as fingerprints", replaced(fingerprints, make_pipe), frozenset({"import", "sources"})),
    Case("fingerprints of NULs", filled(fingerprints), frozenset({"import", "sources"})),
    Case("100,000 brackets in fingerprints", filled(fingerprints, DEEP), frozenset({"import", "sources"})),
    Case("a named pipe as ties", replaced(ties, make_pipe), frozenset({"import"})),
    Case("100,000 brackets in ties", filled(ties, b"\x91" * 100_000), frozenset({"import"})),
    Case("ties of other bytes", flipped(ties), frozenset({"import"})),
    Case("a link out as kept view", replaced(view, make_link_out), frozenset({"check"})),
    Case("a named pipe as kept view", replaced(view, make_pipe), frozenset({"check"})),
    Case("kept views of other columns", view_of_other_columns, frozenset({"check"})),
)
