"""Shared by all shells: private files, tasks with an owner, and turnwire's version."""
