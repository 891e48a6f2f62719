"""Run the command line: `python -m sidecar`, the same as the console script `turnwire`."""

from sidecar.cli import main

if __name__ == "__main__":
    main()
