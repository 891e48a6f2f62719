"""`python -m turnwire` is `turnwire`."""

from turnwire.sidecar.cli import main

main()
