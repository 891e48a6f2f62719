"""The core of the Claude family: its messages in, neutral events out."""
