"""Tokens that files and descriptors hold."""

import os
from pathlib import Path

import pytest
from pydantic import SecretStr

from turnwire.config.settings import ConfigurationError, Settings
from turnwire.config.token_sources import with_tokens

TOKEN = "a-token-of-some-length+&#"


def file(folder: Path, content: bytes = f"{TOKEN}\n".encode(), mode: int = 0o600) -> Path:
    path = folder / "token"
    path.write_bytes(content)
    path.chmod(mode)
    return path


def pipe(content: str) -> int:
    reading, writing = os.pipe()
    os.write(writing, content.encode())
    os.close(writing)
    return reading


@pytest.mark.parametrize("mode", [0o600, 0o400])
def test_a_file_of_ones_own_gives_the_token(mode: int, tmp_path: Path) -> None:
    settings = with_tokens(Settings(token_file=file(tmp_path, mode=mode)))
    assert settings.token is not None
    assert settings.token.get_secret_value() == TOKEN
    assert settings.view_token is None


def test_a_link_is_followed_since_it_is_the_file_that_counts(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(file(tmp_path))
    assert with_tokens(Settings(view_token_file=tmp_path / "link")).view_token == SecretStr(TOKEN)


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o644])
def test_a_file_that_others_can_read_or_write_is_refused(mode: int, tmp_path: Path) -> None:
    path = file(tmp_path, mode=mode)
    with pytest.raises(
        ConfigurationError, match=f"token_file: .*others.*{mode:o}.*chmod 600 {path}"
    ) as refused:
        with_tokens(Settings(token_file=path))
    assert TOKEN not in str(refused.value)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\n",
        b"two words-of-a-token",
        b"one-line-of-a-token\nanother",
        b"\x00" * 20,
        b"x" * 5000,
        "a\u202eb".encode(),
    ],
    ids=["empty", "blank", "words", "lines", "binary", "long", "bidi"],
)
def test_what_is_no_token_is_refused_and_not_repeated(content: bytes, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"token_file: .*does not hold a token"):
        with_tokens(Settings(token_file=file(tmp_path, content)))


@pytest.mark.parametrize("kind", ["missing", "folder", "pipe"])
def test_what_is_no_file_is_refused(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "token"
    if kind == "folder":
        path.mkdir(mode=0o700)
    elif kind == "pipe":
        os.mkfifo(path, 0o600)
    with pytest.raises(ConfigurationError, match=r"token_file: .* is not used"):
        with_tokens(Settings(token_file=path))


def test_a_descriptor_gives_the_token_and_is_closed() -> None:
    number = pipe(f"{TOKEN}\n")
    assert with_tokens(Settings(token_fd=number)).token == SecretStr(TOKEN)
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(number)


def test_a_descriptor_that_is_not_open_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="view_token_fd: descriptor 987 cannot be read"):
        with_tokens(Settings(view_token_fd=987))


def test_one_token_is_configured_in_one_way(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="token and token_file set one token twice"):
        with_tokens(Settings(token=SecretStr(TOKEN), token_file=file(tmp_path)))
