"""What a retry says again is what the newest turn serves."""

from hub.frames import Attachment
from normalize import events as ev
from sidecar.sayings import Saying, Sayings

NOTE = Attachment(name="note", base64="")


def said(*prompts: str) -> Sayings:
    sayings = Sayings()
    for prompt in prompts:
        sayings.say(prompt, Saying(prompt.upper(), [NOTE]))
    return sayings


def test_a_turn_serves_the_prompts_it_names_and_those_that_join_it() -> None:
    sayings = said("a", "b", "c")
    assert sayings.observe(ev.TurnStarted(origin="user", prompts=["a"]))
    assert sayings.text() == "A"
    assert sayings.observe(ev.Injected(message_count=1, prompts=["c"]))
    assert sayings.text() == "A\n\nC"
    assert sayings.attachments() == [NOTE, NOTE]
    assert sayings.observe(ev.TurnStarted(origin="queued", prompts=["b"]))
    assert (sayings.text(), sayings.attachments()) == ("B", [NOTE])


def test_a_turn_of_the_clis_own_and_a_prompt_taken_back_change_nothing() -> None:
    sayings = said("a", "b")
    sayings.observe(ev.TurnStarted(origin="user", prompts=["a"]))
    assert not sayings.observe(ev.TurnStarted(origin="background"))
    assert not sayings.observe(ev.Withdrawn(prompt="b"))
    assert not sayings.observe(ev.TurnStarted(origin="queued", prompts=["b"]))
    assert not sayings.observe(ev.Notice(kind="k", level="info", text=""))
    assert sayings.text() == "A"
