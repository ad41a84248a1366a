"""Texts of which one copy serves all who name them: ids that records refer to, models, folders."""


class SharedTexts:
    """Remembers texts until it is cleared.

    >>> texts = SharedTexts()
    >>> texts.of("".join(["a", "b"])) is texts.of("".join(["a", "b"]))
    True
    """

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}

    def of(self, text: str) -> str:
        """Return the copy of a text that was met first."""
        return self._texts.setdefault(text, text)

    def clear(self) -> None:
        """Forget all texts; who names them keeps them."""
        self._texts.clear()
