"""The commands that read recordings: filters over them, and playing them again."""
