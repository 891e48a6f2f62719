"""Inputs made wrong: a mutator, targets with properties that hold for whatever comes, and what was found with them.

`python -m tests.fuzz` runs all targets for as long as wanted; docs/reliability.md has its figures.
"""
