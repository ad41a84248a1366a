"""List prices of models: where they come from, and which of them a request is priced with."""
