"""Names of the conversations in a database, as sources and as keys of its tables."""

from urllib.parse import quote, unquote

COMPOSER, INLINE, CHAT, LEFTOVERS = "composer", "inline", "chat", "leftovers"
SETTINGS, STORE, TRACKING, DATABASE = "settings", "store", "tracking", "database"
COMPOSER_PREFIX = "composerData:"
BUBBLE_PREFIX = "bubbleId:"
CONTEXT_PREFIX = "messageRequestContext:"
CHATS_ITEM = "workbench.panel.aichat.view.aichat.chatdata"
COMPOSERS_ITEM = "composer.composerData"
HEADERS_ITEM = "composer.composerHeaders"
SETTINGS_ITEM = "src.vs.platform.reactivestorage.browser.reactiveStorageServiceImpl.persistentStorage.applicationUser"
_PLAIN = "-_.~:@ "


def end_of(prefix: str) -> str:
    """Return the first key behind all that begin so.

    >>> end_of("bubbleId:")
    'bubbleId;'
    """
    return prefix[:-1] + chr(ord(prefix[-1]) + 1)


def source_key(kind: str, session_id: str = "") -> str:
    r"""Return the key of a source; old ids hold line ends.

    >>> source_key("composer", "task-call_1\nfc_2"), parse_key("composer:task-call_1%0Afc_2")
    ('composer:task-call_1%0Afc_2', ('composer', 'task-call_1\nfc_2'))
    """
    return f"{kind}:{quote(session_id, safe=_PLAIN, errors='surrogatepass')}"


def parse_key(key: str) -> tuple[str, str]:
    """Return the kind of a source and the id of its conversation."""
    kind, _, session_id = key.partition(":")
    return kind, unquote(session_id, errors="surrogatepass")
