"""The printed URL as a picture for a phone: of an address that the phone reaches, or of none."""

from pathlib import Path
from urllib.parse import urlsplit

import pytest

from preloaded import ran
from turnwire.sidecar.serving.qr import NoCode, drawn, own_address, reachable
from turnwire_process import environment

URL = "http://127.0.0.1:8790/#session=s&token=t"


def test_the_picture_shows_an_address_that_others_reach() -> None:
    proxy = reachable(URL, "127.0.0.1", "https://agents.example/turnwire/")
    assert proxy == "https://agents.example/turnwire/#session=s&token=t"
    assert reachable(URL, "0.0.0.0", None, lambda: "10.0.0.7") == "http://10.0.0.7:8790/#session=s&token=t"
    assert reachable(URL, "::", None, lambda: "fd00::7") == "http://[fd00::7]:8790/#session=s&token=t"
    assert reachable(URL, "10.0.0.5", None) == "http://10.0.0.5:8790/#session=s&token=t"
    for alone in ("127.0.0.1", "::1", "localhost"):
        with pytest.raises(NoCode, match="public_url"):
            reachable(URL, alone, None)


def test_the_picture_is_drawn_with_half_blocks() -> None:
    lines = drawn("http://10.0.0.7:8790/#token=" + "t" * 43).splitlines()
    assert 15 < len(lines) < 30
    assert len({len(line) for line in lines}) == 1
    assert set("".join(lines)) == set(" ▄▀█")


def test_a_run_that_no_phone_reaches_says_so_before_it_starts_anything(tmp_path: Path) -> None:
    done = ran(["run", "--agent", "demo", "--qr"], cwd=tmp_path, env=environment(tmp_path / "home"))
    assert (done.returncode, done.stdout) == (1, b"")
    assert b"public_url" in done.stderr
    options = ["--agent", "nothing", "--qr"]
    env = environment(tmp_path / "home", TURNWIRE_PUBLIC_URL="https://agents.example")
    assert b"public_url" not in ran(["run", *options], cwd=tmp_path, env=env).stderr


def test_a_name_is_shown_as_it_is_and_an_address_of_any_as_this_machine_s_own() -> None:
    assert reachable(URL, "agents.example", None) == "http://agents.example:8790/#session=s&token=t"
    try:
        own = own_address()
    except NoCode as error:
        assert "public_url" in str(error)  # noqa: PT017 - what a machine without a network says
    else:
        assert urlsplit(reachable(URL, "0.0.0.0", None)).hostname == own
