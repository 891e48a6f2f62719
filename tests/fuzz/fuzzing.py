"""Feeds a target: seeds first, then changed ones; what makes something new happen is changed further, what fails is kept."""

import random
import time
import traceback
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path

from tests.fuzz.mutation import Mutator
from tests.fuzz.targets import Target

KEPT = Path(__file__).parent / "kept"
"""What was found, and what grew: a folder a target, a file an input."""

LONGEST = 60_000
"""Bytes of an input, at most."""


@dataclass
class Finding:
    """An input that broke a promise."""

    data: bytes
    why: str


@dataclass
class Campaign:
    """What became of the inputs of one target."""

    target: str
    inputs: int = 0
    size: int = 0
    """Bytes of all of them."""
    seconds: float = 0.0
    slowest: tuple[float, bytes] = (0.0, b"")
    """Seconds of CPU a kilobyte, and the input that took them."""
    grown: list[bytes] = field(default_factory=list)
    """Inputs that made something new happen."""
    findings: list[Finding] = field(default_factory=list)
    """Inputs that failed, one for each place that raised."""


def kept(target: Target) -> list[Path]:
    """The files that are kept for a target."""
    return sorted((KEPT / target.name).glob("*"))


def fuzz(target: Target, seed: int, *, inputs: int | None = None, seconds: float | None = None) -> Campaign:
    """Feed a target with so many inputs, or for so long."""
    campaign = Campaign(target.name)
    source = random.Random(seed)
    mutator = Mutator(source)
    seeds = [*target.seeds(), *(path.read_bytes() for path in kept(target))]
    seen: set[Hashable] = set()
    places: set[str] = set()
    pool = list(seeds)
    began = time.process_time()
    for data in _inputs(seeds, pool, mutator, source):
        if (inputs is not None and campaign.inputs >= inputs) or (
            seconds is not None and time.process_time() - began >= seconds
        ):
            break
        if len(data) > LONGEST:
            continue
        campaign.inputs += 1
        campaign.size += len(data)
        start = time.process_time()
        try:
            features = target.run(data)
        except Exception as error:  # noqa: BLE001 - whatever should not have been raised
            place = place_of(error)
            if place not in places:
                places.add(place)
                campaign.findings.append(
                    Finding(smaller(target, data, place), "".join(traceback.format_exception(error)))
                )
            continue
        took = (time.process_time() - start) * 1024 / max(len(data), 1024)
        if took > campaign.slowest[0]:
            campaign.slowest = (took, data)
        if not features <= seen:
            seen |= features
            if campaign.inputs > len(seeds):
                campaign.grown.append(data)
                pool.append(data)
    campaign.seconds = time.process_time() - began
    return campaign


def _inputs(
    seeds: list[bytes], pool: list[bytes], mutator: Mutator, source: random.Random
) -> Iterator[bytes]:
    yield from seeds
    while True:
        yield mutator.mutate(source.choice(pool), source.choice(pool))


def smaller(target: Target, data: bytes, place: str) -> bytes:
    """Leave out lines, then halves of bytes, as long as it fails in the same place."""
    for separator in (b"\n", b""):
        parts = data.split(separator) if separator else [data[at : at + 1] for at in range(len(data))]
        size = max(len(parts) // 2, 1)
        tries = 0
        while size and tries < 400:
            for start in range(0, len(parts), size):
                fewer = parts[:start] + parts[start + size :]
                tries += 1
                if fails(target, separator.join(fewer)) == place:
                    parts = fewer
                    break
            else:
                size //= 2
        data = separator.join(parts)
    return data


def fails(target: Target, data: bytes) -> str | None:
    """Return the place where an input fails, if it does."""
    try:
        target.run(data)
    except Exception as error:  # noqa: BLE001 - as above
        return place_of(error)
    return None


def place_of(error: Exception) -> str:
    """What was raised, and where."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__} {last.filename}:{last.lineno}"


def keep(campaign: Campaign, *, grown: int) -> None:
    """Write down what failed, and the smallest of what grew."""
    folder = KEPT / campaign.target
    chosen = [(f"found-{digest(finding.data)}", finding.data) for finding in campaign.findings]
    chosen += [(f"grown-{digest(data)}", data) for data in sorted(campaign.grown, key=len)[:grown]]
    for name, data in chosen:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)


def digest(data: bytes) -> str:
    """A short name of an input."""
    return blake2b(data, digest_size=6).hexdigest()
