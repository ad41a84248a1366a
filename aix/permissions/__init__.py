"""What calls were allowed to do, and what they did: rules, targets and risks."""

from aix.permissions.contract import Call, Decision, Dialect, Judge, Rule, Verdict
from aix.permissions.homes import home_of

__all__ = ["Call", "Decision", "Dialect", "Judge", "Rule", "Verdict", "home_of"]
