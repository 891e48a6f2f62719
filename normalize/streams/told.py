"""Lines of turnwire's own that no agent gets: what is said to an agent that takes no JSON, and what turnwire concludes."""

PROMPT = "turnwire/prompt"
"""Member with the prompt's text; `id` beside it is the prompt's uuid."""
INTERRUPT = "turnwire/interrupt"
"""Member of a line that stands for the signal which breaks the turn off."""
IDLE = "turnwire/idle"
"""Method of a line which says that an agent has been idle for a while and has not said that its turn is over."""
