"""Claude's own session files: a tree of records becomes the inputs that its stdout would have been.

Lines of the file are translated into lines of the wire, so that the same core reads both. `records` classifies a
record. `survey` reads a whole file: its `tree` of records with the last branch, its `answers` with their cost,
the `subagents` with the calls that started them. `reader` makes the inputs of a branch. `open_turn` adds the end of
a turn, which the file does not contain. `files` is the entry point.
"""
