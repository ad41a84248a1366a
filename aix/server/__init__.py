"""The server for agents: tools that answer questions about a ledger, and the protocol that they are called by."""
