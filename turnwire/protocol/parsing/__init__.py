"""JSON that strict parsers refuse, or that is deeper than is good."""
