"""Small conversations in a few words, for tests about what follows from rows."""

from tests.support.sample_conversation import Row


def turn(turn_id: str, parent: str | None = None, started_at: int = 1, **values: object) -> Row:
    return {"id": turn_id, "parent_turn_id": parent, "started_at": started_at, **values}


def context(turn_id: str, **values: object) -> Row:
    return {"turn_id": turn_id, "origin": "test", "turn_key": turn_id, **values}


def message(message_id: str, turn_id: str, role: str, created_at: int = 1, **values: object) -> Row:
    return {
        "id": message_id,
        "turn_id": turn_id,
        "role": role,
        "sequence": 0,
        "created_at": created_at,
        "source": None if role == "assistant" else "human",
        **values,
    }


def call(call_id: str, turn_id: str, status: str = "completed", **values: object) -> Row:
    return {
        "id": call_id,
        "turn_id": turn_id,
        "tool_name": "Edit",
        "params_json": "{}",
        "result_json": "1" if status == "completed" else None,
        "error": "no" if status == "failed" else None,
        "status": status,
        "started_at": 1,
        "sequence": 0,
        **values,
    }


def session(label: str, head: str, updated_at: int = 9, **values: object) -> Row:
    return {"label": label, "thread_id": head, "persona_id": "p", "created_at": 1, "updated_at": updated_at, **values}


def request(request_id: str, turn_id: str | None, requested_at: int = 1, **values: object) -> Row:
    return {"id": request_id, "turn_id": turn_id, "requested_at": requested_at, **values}
