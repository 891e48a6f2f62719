"""This process: its logs, signals, tasks and metrics."""
