"""A small ledger whose costs anyone can compute: of model-x, a million tokens of input cost $1, of output $10."""

from pathlib import Path

from aix.derived.derived_data import renew
from aix.merge.tagging import Entity, add_tag
from aix.prices.table import PriceTable
from tests.support.conversations import context, message, request, session, turn
from tests.support.row_batches import deliver

MARCH_1, MARCH_2, APRIL_1 = 1_772_359_200_000, 1_772_445_600_000, 1_775_037_600_000
"""At 10 o'clock UTC, in 2026."""
MILLION = 1_000_000


def make_priced_ledger(ledger: Path) -> Path:
    """Make the ledger: `main` cost $3, likely $3.50, its subagent `helper` $2, and for `other` no price is known."""
    turns = {"m-1": (None, MARCH_1), "m-2": ("m-1", MARCH_2), "h-1": (None, MARCH_2), "o-1": (None, APRIL_1)}
    deliver(
        ledger,
        {
            "turns": [
                turn(turn_id, parent, started_at, workspace_path="/web/site" if turn_id != "o-1" else "/srv/site")
                for turn_id, (parent, started_at) in turns.items()
            ],
            "turn_context": [context(turn_id, git_branch="main") for turn_id in turns],
            "messages": [
                message(f"{turn_id}-q", turn_id, "user", at, content="?") for turn_id, (_, at) in turns.items()
            ],
            "requests": [
                _request("r-1", "m-1", MARCH_1, output_tokens=100_000, is_usage_final=True),
                _request("r-2", "m-2", MARCH_2, output_tokens=0, is_usage_final=False, estimated_output_tokens=50_000),
                _request("r-3", "h-1", MARCH_2, input_tokens=2 * MILLION, is_usage_final=True),
                _request("r-4", "o-1", APRIL_1, input_tokens=5_000, model="mystery", reported_cost_usd=7),
            ],
            "sessions": [
                session("log:main", "m-2", MARCH_2, origin="log"),
                session("log:helper", "h-1", MARCH_2, is_subagent=1, parent_session_label="log:main", origin="log"),
                session("log:other", "o-1", APRIL_1, origin="log"),
            ],
            "session_context": [{"label": "log:main", "title": "Build the site"}],
            "session_turns": [
                {"session_label": label, "turn_id": turn_id}
                for label, turn_id in (
                    ("log:main", "m-1"),
                    ("log:main", "m-2"),
                    ("log:helper", "h-1"),
                    ("log:other", "o-1"),
                )
            ],
        },
    )
    prices = ledger.with_name("prices.csv")
    prices.write_text("model,input,output,source,source_version\nmodel-x,1,10,own list,7\n")
    renew(ledger, PriceTable(prices))
    add_tag(ledger, "billing", [Entity("sessions", "log:main")], MARCH_2)
    return ledger


def _request(request_id: str, turn_id: str, at: int, **values: object) -> dict[str, object]:
    return request(request_id, turn_id, at, **{"model": "model-x", "input_tokens": MILLION, **values})
