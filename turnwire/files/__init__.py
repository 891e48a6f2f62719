"""Files on the disk of a machine that has other users."""
