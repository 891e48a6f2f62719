"""npm, pip and git through the proxy of a sandbox, against stand-ins on loopback that the operator has listed."""

import hashlib
import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from sandboxes import Places

from turnwire.adapter.sandbox.settings import SandboxSettings

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="bubblewrap is Linux's"),
]

BY_PROXY = "export NO_PROXY= no_proxy=;"
"""Programs speak to loopback without a proxy otherwise."""


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def served(folder: Path) -> Iterator[int]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture
def web(tmp_path: Path) -> Path:
    folder = tmp_path / "web"
    folder.mkdir()
    return folder


async def test_git_clones(web: Path, tmp_path: Path, place: Places) -> None:
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org", "-C", str(tmp_path / "origin")]
    subprocess.run(["git", "init", "-q", "-b", "main", tmp_path / "origin"], check=True)
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "the first"], check=True)
    subprocess.run(["git", "clone", "-q", "--bare", tmp_path / "origin", web / "one.git"], check=True)
    subprocess.run(["git", "-C", web / "one.git", "update-server-info"], check=True)
    with served(web) as port:
        async with place(SandboxSettings(level="network", hosts=(f"127.0.0.1:{port}",))) as here:
            ran = await here.run(
                f"{BY_PROXY} git clone -q http://127.0.0.1:{port}/one.git && git -C one log --format=%s"
            )
            refused = await here.run(f"{BY_PROXY} git clone -q http://127.0.0.1:1/one.git two")
    assert ran.output == "the first\n", ran.errors
    assert refused.exit.code != 0
    assert [denied.target for denied in here.told] == ["127.0.0.1:1"]


async def test_pip_installs(web: Path, tmp_path: Path, place: Places) -> None:
    name = "standin-1.0-py3-none-any.whl"
    (web / "simple" / "standin").mkdir(parents=True)
    (web / "simple" / "standin" / "index.html").write_text(f'<a href="{name}">{name}</a>')
    with zipfile.ZipFile(web / "simple" / "standin" / name, "w") as wheel:
        wheel.writestr("standin.py", "WORD = 'installed'\n")
        wheel.writestr(
            "standin-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: standin\nVersion: 1.0\n"
        )
        wheel.writestr(
            "standin-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        wheel.writestr("standin-1.0.dist-info/RECORD", "")
    python = os.path.realpath(sys.executable)
    with served(web) as port:
        async with place(SandboxSettings(level="network", hosts=(f"127.0.0.1:{port}",))) as here:
            ran = await here.run(
                f"{BY_PROXY} {python} -m pip install -q --no-input --disable-pip-version-check --index-url "
                f"http://127.0.0.1:{port}/simple --target got standin && {python} -c \"import sys; sys.path[:0] = ['got']; "
                'import standin; print(standin.WORD)"'
            )
    assert ran.output == "installed\n", ran.errors


@pytest.mark.node
async def test_npm_installs(web: Path, place: Places) -> None:
    if shutil.which("npm", path="/usr/local/bin:/usr/bin:/bin") is None:
        pytest.fail("npm is not in /usr/local/bin or /usr/bin")
    about = json.dumps({"name": "standin", "version": "1.0.0", "main": "index.js"}).encode()
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for path, content in (
            ("package/package.json", about),
            ("package/index.js", b"module.exports = 'installed'\n"),
        ):
            entry = tarfile.TarInfo(path)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    (web / "standin.tgz").write_bytes(packed.getvalue())
    with served(web) as port:
        dist = {
            "tarball": f"http://127.0.0.1:{port}/standin.tgz",
            "shasum": hashlib.sha1(packed.getvalue()).hexdigest(),
        }
        version = {**json.loads(about), "dist": dist}
        told = {"name": "standin", "dist-tags": {"latest": "1.0.0"}, "versions": {"1.0.0": version}}
        (web / "standin").write_text(json.dumps(told))
        async with place(SandboxSettings(level="network", hosts=(f"127.0.0.1:{port}",))) as here:
            ran = await here.run(
                f"{BY_PROXY} npm install --silent --no-audit --no-fund --registry http://127.0.0.1:{port} standin "
                "&& node -p \"require('standin')\""
            )
    assert ran.output == "installed\n", ran.errors
