"""How many secrets `turnwire redact` misses, and how often it takes something else for one.

    python bench/redaction.py [FOLDER ...]

The kinds and the places of tests/recordings/test_redact_kinds.py: each kind in each place, as a copy of a recording would have it; then formats
that the rules were not written with (bench/published_formats.py), bare, quoted, in a file, in pieces and escaped. False alarms are
counted over the recordings of fixtures/, those of TURNWIRE_CORPUS and TURNWIRE_ACP_CORPUS, and the text files of the given folders; of these it
names what was replaced most often.
"""

import argparse
import importlib.util
import json
import os
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), *map(str, ROOT.glob("tests/support/**/"))]

from bench.published_formats import PUBLISHED  # noqa: E402
from turnwire.recordings.redaction.redact import redact_file  # noqa: E402
from turnwire.recordings.redaction.redaction import Redaction  # noqa: E402
from turnwire.recordings.redaction.secret_kinds import NAMES  # noqa: E402

PERSONAL = {rule.kind for rule in NAMES}
FORMS = ("plain", "JSON", "command", "text in pieces", "escaped")


def tables() -> ModuleType:
    """Import the test that has the kinds and the places."""
    path = ROOT / "tests" / "recordings" / "test_redact_kinds.py"
    spec = importlib.util.spec_from_file_location("test_redact_kinds", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def missed(known: ModuleType, folder: Path) -> tuple[int, Counter[str], list[str]]:
    """Return how many secrets were tried, and how many were left, by the place they stood in and by name."""
    tried, left, names = 0, Counter[str](), []
    source, target = folder / "in", folder / "out"
    for kind in known.KINDS:
        around, secret, parts = known.drawn(kind)
        places = dict(known.ANYWHERE) | ({} if "\n" in secret else known.AS_A_PASSWORD)
        for place, context in places.items():
            made = context(around.format(secret), secret)
            rows = made if isinstance(made, str) else "".join(json.dumps(line) + "\n" for line in made)
            source.write_text(rows)
            target.unlink(missing_ok=True)
            redact_file(source, target, Redaction(b"key"), lambda _: None)
            tried += 1
            found = known.seen(target.read_bytes())
            if any(part in found for piece in parts for part in piece.split("\n")):
                left[place] += 1
                names.append(f"{kind} ({place})")
    return tried, left, names


def lines_of(folder: Path) -> Iterator[str]:
    """The lines of all text files below a folder."""
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.is_symlink():
            try:
                yield from path.read_text().splitlines()
            except (UnicodeDecodeError, OSError):
                continue


def replaced(redaction: Redaction) -> int:
    """Return how much was replaced that names no person."""
    return sum(number for kind, number in redaction.counts.items() if kind not in PERSONAL)


def show(known: ModuleType, folder: Path) -> None:
    """Print how many are missed."""
    tried, left, names = missed(known, folder)
    share = 100 * sum(left.values()) / tried
    print(f"{len(known.KINDS)} kinds, {tried} times: {sum(left.values())} missed ({share:.1f} %) {names}")


def main() -> None:
    """Print both figures."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folders", nargs="*", type=Path)
    given = parser.parse_args()
    with TemporaryDirectory() as folder:
        known: Any = tables()  # the tables are set below
        show(known, Path(folder))
        known.SAYING_THEMSELVES.update(PUBLISHED)
        known.KINDS[:] = PUBLISHED
        known.ANYWHERE = {place: known.ANYWHERE[place] for place in FORMS}
        known.AS_A_PASSWORD = {}
        show(known, Path(folder))
    corpora = [os.environ[name] for name in ("TURNWIRE_CORPUS", "TURNWIRE_ACP_CORPUS") if name in os.environ]
    for folder in (ROOT / "fixtures", *map(Path, corpora), *given.folders):
        redaction, size, count, alarms = Redaction(b"key"), 0, 0, 0
        for line in lines_of(folder):
            size += len(line)
            count += 1
            before = replaced(redaction)
            redaction.apply(line)
            alarms += replaced(redaction) > before
        told = ", ".join(f"{kind} {number}" for kind, number in Counter(redaction.counts).most_common(12))
        print(
            f"{folder.name}: {count:,} lines, {size / 1e6:.1f} MB: {told or 'nothing replaced'}; "
            f"{alarms} lines with a secret, {alarms / max(count, 1) * 1e5:.1f} of 100,000"
        )


if __name__ == "__main__":
    main()
