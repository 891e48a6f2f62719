"""Recordings played again: to standard output, to the console, or to an OTLP endpoint."""
