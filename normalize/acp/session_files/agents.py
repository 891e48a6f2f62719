"""The agents whose files are read."""

from collections.abc import Mapping

from turnwire.normalize.acp.session_files.codex import CodexFiles
from turnwire.normalize.acp.session_files.files import KeptFiles
from turnwire.normalize.acp.session_files.gemini import GeminiFiles
from turnwire.normalize.acp.session_files.qwen import QwenFiles

RECORDS: Mapping[str, KeptFiles] = {
    files.agent: files for files in (CodexFiles(), GeminiFiles(), QwenFiles())
}
"""By the agent's name."""
