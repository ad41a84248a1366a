"""A session as people read it: turn by turn, as text, Markdown or JSON, whatever its size."""
