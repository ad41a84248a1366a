"""Rules on what calls may do, and the targets and risks of calls."""

from pathlib import Path

from aix.permissions.contract import Call, Decision, Dialect, Judge, Rule, Verdict
from aix.permissions.paths import home_of

__all__ = ["RISK_FILE", "Call", "Decision", "Dialect", "Judge", "Rule", "Verdict", "home_of"]

RISK_FILE = Path(__file__).with_name("risks.toml")
"""The rules on risks that AIX brings along."""
