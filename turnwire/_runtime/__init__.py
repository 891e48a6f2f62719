"""What every shell needs of the system: private files, tasks that have an owner, and this turnwire's version."""
