"""Parts that several importers share: JSON, lines, times, patterns, rows on their way out."""
