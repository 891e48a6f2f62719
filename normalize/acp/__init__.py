"""The core of the ACP family: its messages in, neutral events out."""
