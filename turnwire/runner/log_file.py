"""The runner's log file: counts of dropped lines, and defects of turnwire."""

import logging
from collections import Counter

log = logging.getLogger(__name__)


class RunnerLogFile:
    """Counts, and logs a line each time a count has doubled. So a caller that sends garbage cannot fill the disk."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()

    def count(self, what: str) -> None:
        """Count one occurrence."""
        self._counts[what] += 1
        number = self._counts[what]
        if number & (number - 1) == 0:
            log.warning("a line of the caller was ignored", extra={"reason": what, "so_far": number})

    def failed(self, run_id: str, error: Exception) -> None:
        """Log a defect of turnwire."""
        log.error("a run failed because of an error in turnwire", exc_info=error, extra={"run": run_id})

    def close(self) -> None:
        """Write the counts."""
        log.info("the runner ends", extra={"dropped": dict(self._counts)})
