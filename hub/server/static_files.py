"""The console's files, read once at the start: a request names one of them and never a path on the disk."""

import hashlib
import mimetypes
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from hub.server.http import Answer

FOLDER = Path(__file__).parents[1] / "static"
IMMUTABLE = "/assets/"
"""Files under it have a hash of their content in their name."""


@dataclass(frozen=True, slots=True)
class StaticFile:
    """A file and what is said about it."""

    content: bytes
    content_type: str
    tag: str
    caching: str

    def answer(self, if_none_match: str | None) -> Answer:
        """Return the file, or that the browser has it already."""
        headers = {"ETag": self.tag, "Cache-Control": self.caching}
        if if_none_match == self.tag:
            return Answer(304, b"", self.content_type, headers)
        return Answer(200, self.content, self.content_type, headers)


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
    kind, _ = mimetypes.guess_type(name)
    kind = kind or "application/octet-stream"
    if kind.startswith("text/") or kind in {"application/javascript", "application/json"}:
        kind += "; charset=utf-8"
    caching = "public, max-age=31536000, immutable" if name.startswith(IMMUTABLE) else "no-cache"
    return StaticFile(content, kind, f'"{hashlib.sha256(content).hexdigest()[:32]}"', caching)
