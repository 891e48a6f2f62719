"""The core of agents that write JSON objects of their own. A wire is only a reader, which says what each line means."""
