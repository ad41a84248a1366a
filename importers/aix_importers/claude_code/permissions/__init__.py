"""What Claude Code's permission rules decide, as its documentation has it."""

from aix_importers.claude_code.permissions.dialect import ClaudeCodeRules

__all__ = ["ClaudeCodeRules"]
