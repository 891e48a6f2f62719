"""Webhooks: send events to other servers, signed as Standard Webhooks requires."""
