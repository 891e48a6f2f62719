"""`python -m sidecar` is `turnwire`."""

from sidecar.cli import main

main()
