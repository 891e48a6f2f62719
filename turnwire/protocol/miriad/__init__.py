"""The wire of the miriad family (spec 1): a subset of Claude's, with system messages of its own."""
