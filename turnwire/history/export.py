"""A conversation as a document: Markdown, or one HTML page without scripts and without anything from elsewhere.

All that is not ours is text: escaped in HTML, and in Markdown inside of fences that are longer than any in it. What an agent
wrote is Markdown itself; in a Markdown export it stays as it is, but that it can begin no HTML. In both, colours of a
terminal are left out, and what hides, reorders text or commands a terminal is spelt out; right-to-left words of code are isolated.
"""

import html
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from turnwire.history.conversation_text import ConversationPart, body_of
from turnwire.protocol.visible import RIGHT_TO_LEFT, ordered, ordered_prose, visible

_FENCE = re.compile(r"^\s{0,3}(`{3,}(?=[^`\n]*$)|~{3,})", re.MULTILINE)
_TICKS = re.compile(r"`+")
_COLOURS = re.compile(r"\x1b\[[0-9;:]{0,64}m")

Clean = Callable[[str], str]
"""What each text goes through, such as redaction."""


@dataclass(frozen=True, slots=True)
class ExportHeading:
    """What is said of the conversation on top."""

    title: str
    facts: Sequence[tuple[str, str]]
    """Names and values, such as the folder and the model."""


def as_markdown(heading: ExportHeading, parts: Sequence[ConversationPart], clean: Clean) -> str:
    """Return the conversation in Markdown (CommonMark)."""
    clean, prose = _spelling(clean, ordered), _spelling(clean, ordered_prose)
    out = [f"# {_line(clean(heading.title))}", ""]
    out += [f"- {name}: {_line(clean(value))}" for name, value in heading.facts]
    for part in parts:
        text = prose(part.text)
        match part.kind:
            case "prompt":
                out += ["", f"## {'Task' if part.nested else 'Prompt'}", "", _quoted(text)]
            case "text":
                out += ["", _quoted(text) if part.nested else _harmless(text)]
            case "reasoning":
                if text.strip():
                    out += ["", "*Thinking*", "", _quoted(text)]
            case "tool":
                out += ["", f"**{_line(clean(part.title))}**{_status(part)}"]
                for kind, content in body_of(part):
                    out += ["", _fenced(clean(content), "diff" if kind == "diff" else "")]
            case "note":
                out += ["", _quoted(clean(part.text))]
            case "end":
                out += ["", f"*{_line(clean(part.text))}*"] if text else []
    return "\n".join(out) + "\n"


def _spelling(clean: Clean, spell: Clean) -> Clean:
    return lambda text: spell(_COLOURS.sub("", clean(text)))


def _line(text: str) -> str:
    """Return text that can stand in a line of Markdown and mean itself."""
    flat = " ".join(text.split())
    return re.sub(r"([\\`*_\[\]<>#&|~!])", r"\\\1", flat)


def _harmless(text: str) -> str:
    """Return Markdown that can begin no HTML; what is inside of code is left as it is."""
    parts: list[str] = []
    fence: str | None = None
    is_sure = True
    for line in text.split("\n"):
        opened = _FENCE.match(line)
        is_sure = is_sure or not line.strip() or opened is not None
        if fence is not None:
            parts.append(line)
            if opened and opened[1].startswith(fence) and not line.strip(" `~"):
                fence = None
        elif opened:
            fence = opened[1]
            parts.append(line)
        else:
            escaped, is_sure = _prose(line, is_sure=is_sure)
            parts.append(escaped)
    if fence is not None:
        parts.append(fence)
    return "\n".join(parts)


def _prose(line: str, *, is_sure: bool) -> tuple[str, bool]:
    """Return a line of prose that can begin no HTML, and whether code is sure behind it.

    Backticks without others on their line may be a span that ends on a later line, or none. So nothing behind them counts as code up
    to the end of the paragraph.
    """
    done, at = list[str](), 0
    for ticks in _TICKS.finditer(line) if is_sure else ():
        slashes = len(line[: ticks.start()]) - len(line[: ticks.start()].rstrip("\\"))
        if ticks.start() < at:
            continue
        closed = next((end for end in _TICKS.finditer(line, ticks.end()) if end[0] == ticks[0]), None)
        if closed is None or slashes % 2:
            is_sure = False
            break
        done += [line[at : ticks.start()].replace("<", "&lt;"), line[ticks.start() : closed.end()]]
        at = closed.end()
    return "".join([*done, line[at:].replace("<", "&lt;")]), is_sure


def _quoted(text: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in _fenced(text, "").split("\n"))


def _fenced(text: str, language: str) -> str:
    longest = max((len(ticks) for ticks in _TICKS.findall(text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def _status(part: ConversationPart) -> str:
    return "" if part.status in ("complete", "") else f" ({part.status})"


_STYLE = """
:root { color-scheme: light dark; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 56rem; margin: 2rem auto; padding: 0 1rem; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; padding: .6rem .8rem; border: 1px solid #8884; border-radius: 6px; }
.text, .prompt, .note { white-space: pre-wrap; overflow-wrap: anywhere; }
.prompt { border-left: 4px solid #36c; padding-left: .8rem; margin: 1.6rem 0 .8rem; font-weight: 600; }
.nested { margin-left: 1.6rem; }
.note, .end, .reasoning, dl { color: #777; }
.end { font-size: 85%; border-bottom: 1px solid #8884; padding-bottom: .6rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0 1rem; } dd { margin: 0; overflow-wrap: anywhere; }
summary { cursor: pointer; } .failed summary { color: #b00; }
.add { background: #2a22; } .del { background: #f002; } .add, .del { display: block; }
"""


def as_html(heading: ExportHeading, parts: Sequence[ConversationPart], clean: Clean) -> str:
    """Return the conversation as one page of HTML; its policy lets it load and run nothing."""
    clean, prose = _spelling(clean, visible), _spelling(clean, ordered_prose)
    out = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8">',
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">",
        '<meta name="viewport" content="width=device-width"><meta name="referrer" content="no-referrer">',
        f"<title>{_text(clean(heading.title))}</title><style>{_STYLE}</style></head><body>",
        f"<h1>{_text(clean(heading.title))}</h1><dl>",
        *(f"<dt>{_text(name)}</dt><dd>{_text(clean(value))}</dd>" for name, value in heading.facts),
        "</dl>",
    ]
    for part in parts:
        text = _text(prose(part.text))
        nested = " nested" if part.nested else ""
        match part.kind:
            case "prompt" | "text" | "note" | "end":
                if text:
                    out.append(f'<div class="{part.kind}{nested}">{text}</div>')
            case "reasoning":
                if text.strip():
                    out.append(
                        f'<details class="reasoning{nested}"><summary>Thinking</summary><div class="text">{text}</div></details>'
                    )
            case "tool":
                failed = "" if part.status in ("complete", "running", "") else " failed"
                blocks = "".join(_block(kind, clean(content)) for kind, content in body_of(part))
                title = _code(clean(part.title)) + _text(_status(part))
                out.append(
                    f'<details class="tool{nested}{failed}"><summary>{title}</summary>{blocks}</details>'
                )
    out.append("</body></html>")
    return "\n".join(out) + "\n"


def _text(text: str) -> str:
    return html.escape(text)


def _code(text: str) -> str:
    """Return code whose words from right to left move nothing around them."""
    return re.sub(RIGHT_TO_LEFT, r"<bdi>\g<0></bdi>", _text(text))


def _block(kind: str, text: str) -> str:
    if kind != "diff":
        return f"<pre>{_code(text)}</pre>"
    lines = []
    for line in text.split("\n"):
        of = "add" if line.startswith("+") else "del" if line.startswith("-") else ""
        lines.append(f'<span class="{of}">{_code(line)}</span>' if of else f"{_code(line)}\n")
    return f"<pre>{''.join(lines)}</pre>"
