"""The CLI as a process: started, read, written to, ended, and never left behind."""
