"""Extension tables for other ontologies: chats, graphs of events, programs; and what users add to any row."""

from aix.schema.columns import flag, hashed_key, ident, json, key, number, number_key, text, time, vector, word
from aix.schema.model import Join, Table, Unit

CHAT_USERS = Table(
    name="chat_users",
    description="People who take part in chats.",
    key=("id",),
    columns=(
        key("id", "The user."),
        text("name", "Display name.", unit=Unit.NAME),
        text("email", "Address."),
        text("image", "Address of a picture."),
        json("extra_json", "Fields that have no column."),
    ),
)

CHAT_AGENTS = Table(
    name="chat_agents",
    description="Agents that can take part in chats.",
    key=("id",),
    columns=(
        key("id", "The agent."),
        text("name", "Display name.", unit=Unit.NAME),
        text("description", "What it is for."),
        text("personality", "How it was told to behave."),
        json("tools", "Names of its tools.", unit=Unit.JSON_ARRAY),
        ident("created_by", "Its owner.", references="chat_users.id"),
        word("kind", "Who made it.", ("user_agent", "system_agent")),
        text("system_agent_kind", "Which system agent it is.", unit=Unit.NAME),
        text("avatar_url", "Address of a picture."),
        time("last_active_at", "When it last spoke.", join=Join.MAX),
        flag("is_public", "Whether anyone may use it, where the source says so.", join=Join.KNOWN),
        flag("is_private", "Whether only its owner may use it, where the source says so.", join=Join.KNOWN),
        json("extra_json", "Fields that have no column."),
    ),
)

CHAT_PARTICIPANTS = Table(
    name="chat_participants",
    description="Who takes part in which chat.",
    key=("id",),
    columns=(
        key("id", "The membership."),
        ident("conversation_id", "The chat.", nullable=False),
        word("kind", "Whether a person or an agent takes part.", ("user", "agent"), nullable=False),
        ident("user_id", "The person.", references="chat_users.id"),
        ident("agent_id", "The agent.", references="chat_agents.id"),
        time("added_at", "When the membership began.", join=Join.MIN),
        text("status", "What it was doing, in the source's word.", unit=Unit.NAME),
        flag("is_removed", "Whether the membership has ended."),
        json("extra_json", "Fields that have no column."),
    ),
)

CHAT_MENTIONS = Table(
    name="chat_mentions",
    description="People and agents named in a message as `@[Name](kind:ID)`.",
    key=("message_id", "idx"),
    columns=(
        key("message_id", "The message.", references="messages.id"),
        number_key("idx", "Place in the message, from 0."),
        text("name", "The name as written.", unit=Unit.NAME, join=Join.SET, nullable=False),
        text("kind", "What is mentioned, as written.", unit=Unit.NAME, join=Join.SET, nullable=False),
        ident("target_id", "Who is mentioned.", join=Join.SET, nullable=False),
        number("start_char", "Where the mention starts in the text.", unit=Unit.CHARACTERS, join=Join.SET),
        number("end_char", "Where it ends, not included.", unit=Unit.CHARACTERS, join=Join.SET),
        flag("is_resolved", "Whether the source knows the one mentioned.", join=Join.SET),
    ),
)

DAG_EVENTS = Table(
    name="dag_events",
    description="Events of an agent's graph, each payload as it came.",
    key=("event_id",),
    columns=(
        key("event_id", "The event: SHA-256 of its canonical JSON."),
        text("kind", "What happened.", unit=Unit.NAME, nullable=False),
        time("occurred_at", "When it happened.", join=Join.MIN),
        ident("agent_id", "The agent."),
        ident("run_id", "The run."),
        number("seq", "Place in the run.", unit=Unit.POSITION, join=Join.MIN),
        ident("correlation_id", "What ties it to other events."),
        flag("is_id_claimed", "Whether the id is only claimed and differs from the payload's hash."),
        text("payload_json", "The event, verbatim.", unit=Unit.JSON, nullable=False),
    ),
)

DAG_NODES = Table(
    name="dag_nodes",
    description="Nodes of an agent's graph.",
    key=("node_id",),
    columns=(
        key("node_id", "The node."),
        text("kind", "What it is.", unit=Unit.NAME, nullable=False),
        json("attrs_json", "Its attributes."),
        time("valid_from", "Since when it holds.", join=Join.MIN),
        time("valid_to", "Until when it holds; NULL while it does.", join=Join.MAX),
    ),
)

DAG_EDGES = Table(
    name="dag_edges",
    description="Typed relations between nodes and events.",
    key=("id",),
    columns=(
        hashed_key("id", "The edge."),
        text("type", "What the relation is.", unit=Unit.NAME, nullable=False),
        ident("src", "Where it starts.", nullable=False),
        ident("dst", "Where it leads.", nullable=False),
        json("attrs_json", "Its attributes."),
        time("valid_from", "Since when it holds.", join=Join.MIN),
        time("valid_to", "Until when it holds; NULL while it does.", join=Join.MAX),
    ),
)

PROGRAMS = Table(
    name="programs",
    description="Programs that session entries refer to: providers, models, sessions, agents, tasks, people.",
    key=("id",),
    columns=(
        key("id", "The program, as `@(id)` names it."),
        text("program_type", "What kind of program it is.", unit=Unit.NAME, nullable=False),
        text("lifecycle", "How far it came in its life, or the state it is in.", unit=Unit.NAME),
        json("config_json", "Its settings; credentials are never kept."),
    ),
)

TAGS = Table(
    name="tags",
    description="Tags that users give to anything in the ledger.",
    key=("entity_type", "entity_id", "tag"),
    columns=(
        key("entity_type", "The table of what is tagged.", unit=Unit.NAME),
        key("entity_id", "Its key there."),
        key("tag", "The tag.", unit=Unit.NAME),
        time("added_at", "When it was first given.", join=Join.MIN, nullable=False),
    ),
)

EMBEDDINGS = Table(
    name="embeddings",
    description="Vectors that stand for texts, for search by meaning.",
    key=("entity_type", "entity_id", "model"),
    columns=(
        key("entity_type", "The table of what the vector stands for.", unit=Unit.NAME),
        key("entity_id", "Its key there."),
        key("model", "What made the vector.", unit=Unit.NAME),
        number("dim", "How many numbers it has.", unit=Unit.COUNT, join=Join.KNOWN, nullable=False),
        vector("vec", "The vector."),
    ),
)

ONTOLOGY_TABLES = (
    CHAT_USERS,
    CHAT_AGENTS,
    CHAT_PARTICIPANTS,
    CHAT_MENTIONS,
    DAG_EVENTS,
    DAG_NODES,
    DAG_EDGES,
    PROGRAMS,
    TAGS,
    EMBEDDINGS,
)
