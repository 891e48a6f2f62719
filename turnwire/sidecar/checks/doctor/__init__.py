"""`turnwire doctor`: what is ready, what is not, and what to do about it."""

from collections.abc import Sequence
from pathlib import Path

import typer
from msgspec.structs import asdict

from turnwire.config.settings import Settings
from turnwire.protocol.visible import ordered, to_json
from turnwire.sidecar.checks.doctor.checks import examine
from turnwire.sidecar.checks.doctor.finding import Finding

MARKS = {"ok": "[green]ok  [/]", "note": "[yellow]note[/]", "broken": "[red]FAIL[/]"}


async def run(
    settings: Settings, recording: Path | None, *, as_json: bool, family: str | None = None
) -> None:
    """Look at everything, print it, and exit with 1 when something is broken; raises RecordingError."""
    findings = await examine(settings, recording, family)
    if as_json:
        print(to_json([asdict(finding) for finding in findings], indent=2))  # noqa: T201 - the command's output
    else:
        show(findings)
    if any(finding.status == "broken" for finding in findings):
        raise typer.Exit(1)


def show(findings: Sequence[Finding]) -> None:
    """Print a line for each finding, and one for its remedy."""
    from rich.console import Console  # noqa: PLC0415 - where something is drawn
    from rich.markup import escape  # noqa: PLC0415 - as above

    console = Console(highlight=False, soft_wrap=True)
    for finding in findings:
        console.print(f"{MARKS[finding.status]} {escape(ordered(f'{finding.what}: {finding.found}'))}")
        if finding.remedy:
            console.print(f"     -> {escape(ordered(finding.remedy))}")
