"""Options that every test folder shares."""

import fcntl
import gc
import os
import signal
from collections.abc import Generator, Iterator

import pytest
from hypothesis import HealthCheck, settings

import cases

# How fast examples are made and run says something of the machine, not of the code: other tests run beside, and in a fresh
# clone the table of Unicode's characters is made on the way. Tests inherit this and set only what they mean differently.
# The examples are the same in every run: nobody's change fails for what it has nothing to do with. TURNWIRE_EXPLORE=1 looks for new ones.
settings.register_profile(
    "turnwire",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize="TURNWIRE_EXPLORE" not in os.environ,
)
settings.load_profile("turnwire")

# Whoever runs the tests in the background, or by nohup, has these ignored; the processes that tests start would inherit it.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-goldens",
        action="store_true",
        help="write the goldens anew instead of comparing with them",
    )
    parser.addoption(
        "--case",
        default="",
        metavar="TEXT",
        help="of tests that go over many cases, run those cases alone whose name contains TEXT",
    )
    parser.addoption(
        "--in-sandbox",
        action="store_true",
        help="run real agents of the end-to-end tests in the sandbox `network`, with their scripted API allowed",
    )


def pytest_configure(config: pytest.Config) -> None:
    gc.disable()
    if config.getoption("--in-sandbox"):
        os.environ["TURNWIRE_TESTS_IN_SANDBOX"] = "1"
    cases.only = config.getoption("--case")


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    """What is collected stays until the end: no look for garbage, neither while it grows nor when tests ask for one, has to go through it."""
    gc.collect()
    gc.freeze()
    gc.enable()


_failing: set[str] = set()
"""Tests whose failure is being told."""


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_exception_interact(node: pytest.Item | pytest.Collector) -> Generator[None]:
    """Let the time of a test that has failed run on: what waits for ever at its end is ended as well, not only what does so before."""
    _failing.add(node.nodeid)
    try:
        return (yield)
    finally:
        _failing.discard(node.nodeid)


@pytest.hookimpl(tryfirst=True)
def pytest_timeout_cancel_timer(item: pytest.Item) -> bool | None:
    return True if item.nodeid in _failing else None


@pytest.fixture(scope="session")
def update_goldens(request: pytest.FixtureRequest) -> bool:
    """Whether goldens are to be written instead of compared."""
    return bool(request.config.getoption("--update-goldens"))


@pytest.fixture
def default_ports(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Turnwire's default ports to oneself: tests in other workers wait for them as well."""
    base = tmp_path_factory.getbasetemp()
    folder = base.parent if base.name.startswith("popen-") else base
    with (folder / "default-ports.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
