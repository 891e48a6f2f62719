"""The agents whose files are read."""

from collections.abc import Mapping

from turnwire.normalize.acp.kept.codex import CodexFiles
from turnwire.normalize.acp.kept.files import KeptFiles
from turnwire.normalize.acp.kept.gemini import GeminiFiles
from turnwire.normalize.acp.kept.qwen import QwenFiles

RECORDS: Mapping[str, KeptFiles] = {
    files.agent: files for files in (CodexFiles(), GeminiFiles(), QwenFiles())
}
"""By the agent's name."""
