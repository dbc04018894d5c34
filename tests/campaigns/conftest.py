import pytest

from warex.campaigns.config.campaign import (
    CampaignConfig,
    load_campaign,
)


@pytest.fixture
def demo() -> CampaignConfig:
    return load_campaign("demo")


TASK = "calendar-friday-evening"


OF_COMMAND = {
    "benchmark": {"name": "command", "options": {"command": "no-such-one", "tasks": [TASK]}},
    "tasks": {"all": True},
}
