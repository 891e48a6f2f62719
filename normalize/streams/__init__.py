"""The core of agents that write JSON of their own: a wire is only a reader, which says what each line tells."""
