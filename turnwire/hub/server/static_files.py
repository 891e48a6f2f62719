"""The console's files, read at the start and compressed on first use. A request names one of them and never a path on the disk."""

import gzip
import hashlib
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path, PurePosixPath

from msgspec import Struct

from turnwire.hub.server.http import HttpAnswer

FOLDER = Path(__file__).parents[1] / "static"
IMMUTABLE = "/assets/"
"""Files under it have a hash of their content in their name."""


_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".webmanifest": "application/manifest+json",
}
"""Suffixes of the console's files. Python's own table takes some milliseconds, and differs between machines."""


class StaticFile(Struct, frozen=True, dict=True):
    """A file with its headers."""

    content: bytes
    content_type: str
    tag: str
    caching: str

    @cached_property
    def compressed(self) -> bytes | None:
        """The file compressed with gzip, if that is smaller; otherwise None."""
        small = gzip.compress(self.content, mtime=0)
        return small if len(small) < len(self.content) else None

    def answer(self, if_none_match: str | None, accept_encoding: str | None = None) -> HttpAnswer:
        """Return the file, compressed if the browser accepts that, or the answer that its copy is current."""
        body, tag = self.content, self.tag
        headers = {"Cache-Control": self.caching}
        if self.compressed is not None:
            headers["Vary"] = "Accept-Encoding"
            if takes_gzip(accept_encoding):
                body, tag = self.compressed, f'{self.tag[:-1]}-gzip"'
                headers["Content-Encoding"] = "gzip"
        headers["ETag"] = tag
        if if_none_match == tag:
            headers.pop("Content-Encoding", None)
            return HttpAnswer(304, b"", self.content_type, headers)
        return HttpAnswer(200, body, self.content_type, headers)


def takes_gzip(accept_encoding: str | None) -> bool:
    """Tell whether an Accept-Encoding header allows gzip (RFC 9110, 12.5.3)."""
    weights: dict[str, float] = {}
    for part in (accept_encoding or "").lower().split(","):
        name, _, parameters = part.partition(";")
        key, _, value = parameters.partition("=")
        try:
            weights[name.strip()] = float(value) if key.strip() == "q" else 1.0
        except ValueError:
            weights[name.strip()] = 0.0
    return weights.get("gzip", weights.get("*", 0.0)) > 0


def load(folder: Path | None = None) -> Mapping[str, StaticFile]:
    """Read all files below a folder, by their path as a request has it; `/` is index.html."""
    root = folder or FOLDER
    files: dict[str, StaticFile] = {}
    for path in sorted(root.rglob("*")):
        if path.is_file():
            name = "/" + path.relative_to(root).as_posix()
            files[name] = _static_file(name, path.read_bytes())
    if "/index.html" in files:
        files["/"] = files["/index.html"]
    return files


def _static_file(name: str, content: bytes) -> StaticFile:
    kind = _TYPES.get(PurePosixPath(name).suffix, "application/octet-stream")
    caching = "public, max-age=31536000, immutable" if name.startswith(IMMUTABLE) else "no-cache"
    return StaticFile(content, kind, f'"{hashlib.sha256(content).hexdigest()[:32]}"', caching)
