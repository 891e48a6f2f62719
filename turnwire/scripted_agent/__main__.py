"""Run the scripted agent: `python -m turnwire.scripted_agent SCRIPT [options of a CLI]`."""

import sys

from turnwire.scripted_agent.command import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
