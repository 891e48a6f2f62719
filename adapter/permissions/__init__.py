"""Who may do what: the state machine, its vocabulary, policies and rules, and what carries its effects out."""
