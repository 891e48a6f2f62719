"""Tasks that have an owner."""
