"""The agents whose files are read."""

from collections.abc import Mapping

from normalize.acp.kept.codex import CodexFiles
from normalize.acp.kept.files import KeptFiles
from normalize.acp.kept.gemini import GeminiFiles
from normalize.acp.kept.qwen import QwenFiles

RECORDS: Mapping[str, KeptFiles] = {
    files.agent: files for files in (CodexFiles(), GeminiFiles(), QwenFiles())
}
"""By the agent's name."""
