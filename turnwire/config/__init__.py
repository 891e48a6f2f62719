"""The configuration: settings, trust, rules, agents, and the places of state and journal."""
