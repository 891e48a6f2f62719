"""What stands in a workspace: read for people, from git where it is a repository. Nothing that a workspace names is run."""
