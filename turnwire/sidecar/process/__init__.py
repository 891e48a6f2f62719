"""What this process is as a process: its logs, signals, tasks and figures."""
