"""Options that every test folder shares."""

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-goldens",
        action="store_true",
        help="write the goldens anew instead of comparing with them",
    )


@pytest.fixture(scope="session")
def update_goldens(request: pytest.FixtureRequest) -> bool:
    """Whether goldens are to be written instead of compared."""
    return bool(request.config.getoption("--update-goldens"))
