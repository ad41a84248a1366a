"""The contract for exporters; it knows nothing of the ledger or the command line.

from aix.exporting import ConversationRows, Exporter
"""

from aix.exporting.contract import ConversationRows, Exporter, Row

__all__ = ["ConversationRows", "Exporter", "Row"]
