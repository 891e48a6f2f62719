"""What came of each check, as lines for a person and as JSON."""

from collections.abc import Sequence
from typing import Literal, TypeAlias, get_args

import msgspec

from turnwire.normalize.vocabulary import Act, Asked, FolderKind
from turnwire.protocol.visible import escaped

Verdict = Literal["held", "broken", "does not ask", "not supported", "not tested", "not tried"]


Trials: TypeAlias = dict[FolderKind, dict[Act, Asked]]
"""Kind of folder -> act -> whether the agent asked first."""


class Finding(msgspec.Struct, frozen=True):
    """What came of one check."""

    check: str
    """Its name."""
    verdict: Verdict
    """`not supported`: it does not do this, and breaks nothing by it. `not tried`: an earlier check has failed. `does
    not ask`: it acts without asking for permission, or says that it would. `not tested`: it did nothing that shows an
    answer.
    """
    detail: str = ""
    """What was seen."""
    seconds: float = 0.0
    """How long it took."""
    asked: Trials | None = None
    """Kind of folder -> act -> whether the agent asked before it did that, in the one check that tries it."""


class PromiseBroken(Exception):
    """What was promised did not happen; the message says what did."""


class NotSupported(Exception):
    """What is tried does not do this, and breaks nothing by it."""


class AsksNobody(PromiseBroken):
    """The agent acts without asking for permission."""


class NotTested(NotSupported):
    """Nothing happened from which an answer could be read."""


def line_of(finding: Finding) -> str:
    """Return a finding as one line."""
    said = f": {finding.detail}" if finding.detail else ""
    return f"{finding.verdict:13} {finding.check}{said} ({finding.seconds:.1f} s)"


def as_json(findings: Sequence[Finding]) -> str:
    """Return all findings as a JSON array."""
    return escaped(msgspec.json.format(msgspec.json.encode(findings), indent=2).decode())


def summary(findings: Sequence[Finding]) -> str:
    """Return the closing line."""
    count = {
        verdict: sum(finding.verdict == verdict for finding in findings) for verdict in get_args(Verdict)
    }
    return ", ".join(
        f"{number} {verdict}" for verdict, number in count.items() if number or verdict == "held"
    )
