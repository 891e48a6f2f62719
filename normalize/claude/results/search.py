"""Results of searching files: names, lines, counts. "Nothing found" is no file and no match, not a file of that name."""

import re

from msgspec.structs import replace

from turnwire.normalize.claude.results import grep_lines
from turnwire.normalize.claude.results.answer import ToolAnswer
from turnwire.normalize.model import JsonObject
from turnwire.normalize.payloads.fields import flag, text, texts, whole
from turnwire.normalize.payloads.files import CodeSearch, SearchOutput

_NOTHING = re.compile(r"\A(?:No files found|No matches found|No entries at this offset|No content found)\b")
_HEADING = re.compile(r"\AFound \d+ (?:total )?files?\b[^\n]*(?:\n|\Z)")
_TOTAL = re.compile(r"Found (\d{1,15}) total occurrences? across \d{1,15} files?\.(.*)\Z")
_CUT = re.compile(
    r"\(Results are truncated.*\)\Z|\(Showing .*\)\Z|\[Showing results with pagination = .*\]\Z"
)
_COUNT = re.compile(r"(.+):(\d{1,15})\Z", re.DOTALL)
_ONLY_COUNT = re.compile(r"\d{1,15}\Z")
_ENTRY = re.compile(r"( *)- (.*)\Z")


def search(body: CodeSearch, answer: ToolAnswer) -> CodeSearch:
    """Return a search with its matches."""
    if answer.reason is not None:
        return body
    listed, note = _last_line(answer.text, _CUT)
    result = answer.fields
    cut = note is not None or flag(result, "truncated") is True or "appliedLimit" in result
    mode = text(result, "mode") or body.mode
    if mode == "content":
        output = _lines(body, text(result, "content"), listed)
    elif mode == "count":
        output = _counts(body, result, listed)
    else:
        output = _files(body, result, listed)
    total, found = whole(result, "totalFiles", "totalMatches"), output.file_count or 0
    more = mode != "content" and total is not None and total > found
    return replace(body, output=replace(output, truncated=cut or more or output.truncated is True))


def _last_line(said: str, wanted: re.Pattern[str]) -> tuple[str, re.Match[str] | None]:
    """Return the text without its last line, and the match, if the last line matches."""
    text_before, _, last = said.rstrip().rpartition("\n")
    found = wanted.match(last)
    return (said, None) if found is None else (text_before.rstrip("\n"), found)


def _lines(body: CodeSearch, content: str | None, listed: str) -> SearchOutput:
    if content is None:
        content = "" if _NOTHING.match(listed) else listed
    around = bool(body.before or body.after)
    content = content.removesuffix("\n")
    matches = grep_lines.parse(content, path=body.path, numbers=body.line_numbers, context=around)
    files = list(dict.fromkeys(match.file for match in matches if match.file is not None))
    hits = sum(match.context is None for match in matches)
    return SearchOutput(files=files, file_count=len(files), match_count=hits, matches=matches)


def _counts(body: CodeSearch, result: JsonObject, listed: str) -> SearchOutput:
    listed, total = _last_line(listed, _TOTAL)
    content = text(result, "content")
    if content is None:
        content = "" if _NOTHING.match(listed) else listed
    counts: dict[str, int] = {}
    for line in content.split("\n"):
        if found := _COUNT.match(line):
            counts[found[1]] = int(found[2])
        elif body.path and _ONLY_COUNT.match(line):
            # A search of one file names it nowhere, and the CLI's own totals miss it.
            counts[body.path] = int(line)
    known = whole(result, "numMatches") or (int(total[1]) if total else 0) or sum(counts.values())
    cut = True if total and "pagination" in total[2] else None
    return SearchOutput(
        files=list(counts), file_count=len(counts), match_count=known, counts=counts, truncated=cut
    )


def _files(body: CodeSearch, result: JsonObject, listed: str) -> SearchOutput:
    files = texts(result, "filenames")
    if files is None:
        if body.pattern is None and listed.lstrip().startswith("- "):
            files = _tree(listed)
        elif _NOTHING.match(listed):
            files = []
        else:
            files = [line for line in _HEADING.sub("", listed).split("\n") if line]
    return SearchOutput(files=files, file_count=len(files))


def _tree(listed: str) -> list[str]:
    """Read the indented list of LS; folders end with a slash and are listed too."""
    above: list[tuple[int, str]] = []
    files: list[str] = []
    for line in listed.split("\n"):
        entry = _ENTRY.match(line)
        if entry is None:
            break
        depth, name = len(entry[1]), entry[2]
        while above and above[-1][0] >= depth:
            above.pop()
        path = (above[-1][1] if above else "") + name
        if above:
            files.append(path)
        if name.endswith("/"):
            above.append((depth, path))
    return files
