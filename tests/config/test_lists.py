"""A list of names in the environment: with commas, or as JSON."""

import pytest

from turnwire.config.hub_settings import hub_config
from turnwire.config.settings import ConfigurationError, load

TWO = ("https://one.example", "https://two.example:8443")


@pytest.mark.parametrize(
    "written",
    [
        "https://one.example,https://two.example:8443",
        " https://one.example , https://two.example:8443,",
        '["https://one.example", "https://two.example:8443"]',
        ' [ "https://one.example",\n"https://two.example:8443" ] ',
    ],
)
def test_a_list_may_stand_with_commas_or_as_json(written: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TURNWIRE_ALLOWED_ORIGINS", written)
    assert hub_config(load({}, None)).allowed_origins == TWO


@pytest.mark.parametrize("written", ["[https://one.example]", '["https://one.example"', "[1]", "[" * 10_000])
def test_a_list_that_is_no_json_is_refused_by_its_setting(
    written: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TURNWIRE_ALLOWED_ORIGINS", written)
    with pytest.raises(ConfigurationError, match="allowed_origins"):
        load({}, None)
