"""Webhooks: events that somebody elsewhere is told of, signed as Standard Webhooks has it."""
