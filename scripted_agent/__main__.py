"""Run the scripted agent: `python -m scripted_agent SCRIPT [options of a CLI]`."""

import sys

from scripted_agent.command import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
