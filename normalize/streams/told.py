"""Lines of turnwire's own in the place of what an agent is told that takes no JSON: its prompt, and that it is stopped."""

PROMPT = "turnwire/prompt"
"""Member with the prompt's text; `id` beside it is the prompt's uuid."""
INTERRUPT = "turnwire/interrupt"
"""Member of a line that stands for the signal which breaks the turn off."""
