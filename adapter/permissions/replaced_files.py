"""Look at the files that a request would replace, so that a person sees what goes.

An agent that writes a whole file does not say what was there before. The core does no I/O, so the disk is read here, when a
person is asked. The text of a secret, of turnwire's own state, and of what is no short text file is not shown: then the
request says in words that a file is replaced. A recording has none of this.
"""

import os
import stat
from pathlib import Path
from typing import Literal

from msgspec.structs import replace

from turnwire.adapter.permissions.calls import ToolCall
from turnwire.adapter.permissions.policies import PermissionSettings
from turnwire.adapter.permissions.protected import is_own, is_secret, touched
from turnwire.adapter.permissions.real_paths import real_paths
from turnwire.normalize.events import PermissionRequest
from turnwire.normalize.payloads import ModifyFilePayload, diff
from turnwire.normalize.payloads.files import Mutation

LARGEST = 256 * 1024
"""Bytes of a file that are shown."""


def with_replaced_files(request: PermissionRequest, settings: PermissionSettings) -> PermissionRequest:
    """Return a request with the text of each file that it would replace."""
    payload = request.normalized
    if not isinstance(payload, ModifyFilePayload):
        return request
    body = payload.modify_file
    mutations: list[Mutation] = []
    notes: list[str] = []
    for mutation in body.mutations:
        path = mutation.file_path or body.file_path
        if mutation.type != "create" or mutation.content is None or mutation.old_content is not None:
            mutations.append(mutation)
            continue
        match _text_of(path, settings):
            case None:
                mutations.append(mutation)
            case ("text", old):
                change = diff.of_files(path, old, mutation.content)
                if not change:
                    notes.append(f"The file {path} holds this text already.")
                mutations.append(replace(mutation, type="overwrite", old_content=old, diff=change))
            case ("unseen", why):
                notes.append(f"This replaces the file {path}, {why}.")
                mutations.append(replace(mutation, type="overwrite", diff=None))
    if mutations == body.mutations:
        return request
    reason = " ".join(filter(None, [request.reason, *notes])) or None
    return replace(
        request,
        normalized=ModifyFilePayload(modify_file=replace(body, mutations=mutations)),
        reason=reason,
    )


def _text_of(path: str, settings: PermissionSettings) -> tuple[Literal["text", "unseen"], str] | None:
    """Return the text of a file, or why it is not shown; None where there is no file."""
    place = Path(settings.workspace, path)
    try:
        facts = place.stat()
        if not stat.S_ISREG(facts.st_mode):  # to open a device may do something
            return ("unseen", "which is no regular file")
        if _is_protected(str(place), settings):
            return ("unseen", "whose text may be a secret and is not shown")
        if facts.st_size > LARGEST:
            return ("unseen", f"whose {facts.st_size:,} bytes are too many to be shown")
        with os.fdopen(os.open(place, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            content = file.read(LARGEST + 1)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError) as error:
        return ("unseen", f"which cannot be read ({getattr(error, 'strerror', None) or error})")
    if b"\0" in content:
        return ("unseen", "which is no text")
    # as the agent reads it
    return ("text", content.decode(errors="replace").replace("\r\n", "\n"))


def _is_protected(path: str, settings: PermissionSettings) -> bool:
    protected = settings.protected
    if protected is None:
        return False
    home = "" if settings.places is None else settings.places.home
    named = touched(ToolCall("Write", {"file_path": path}, "edit"), settings.workspace, home)
    real = real_paths({one.path for one in named})
    return (
        is_secret(protected, named, real) is not None
        or is_own(protected, named, real, settings.workspace) == "yes"
    )
