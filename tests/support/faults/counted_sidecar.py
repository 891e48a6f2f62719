"""turnwire that tells what it holds: `counted_sidecar.py FILE PYTHON -m turnwire …`, put before a command as its prefix.

At each SIGUSR1 it writes into FILE, as JSON, the bytes of memory it has, its descriptors, its threads, its asyncio tasks, the objects
that the garbage collector knows, and the seconds of CPU it has used. It is asked from within, since others may not look into it.
"""

import asyncio
import gc
import json
import resource
import signal
import sys
import threading
import time
from pathlib import Path
from types import FrameType

from turnwire.sidecar.cli import main


def held() -> dict[str, float]:
    """What this process holds now."""
    gc.collect()
    try:
        tasks = len(asyncio.all_tasks())
    except RuntimeError:
        tasks = 0
    return {
        "rss": int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize(),
        "descriptors": len(list(Path("/proc/self/fd").iterdir())),
        "threads": threading.active_count(),
        "tasks": tasks,
        "objects": len(gc.get_objects()),
        "cpu_s": time.process_time(),
    }


def tell_to(file: Path) -> None:
    """Tell it into a file at each SIGUSR1."""

    def tell(_number: int, _frame: FrameType | None) -> None:
        made = file.with_suffix(".new")
        made.write_text(json.dumps(held()))
        made.replace(file)

    signal.signal(signal.SIGUSR1, tell)


if __name__ == "__main__":
    _, told, _python, _m, _sidecar, *arguments = sys.argv
    sys.argv = ["turnwire", *arguments]
    tell_to(Path(told))
    main()
