"""What was configured: settings, trust, rules, agents, and where state and journal are kept."""
