"""Parse JSON that strict parsers refuse, and limit its depth."""
