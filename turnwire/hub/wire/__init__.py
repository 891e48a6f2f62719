"""What frontends and hub say to each other: frames, commands and codes."""
