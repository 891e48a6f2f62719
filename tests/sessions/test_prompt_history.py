"""What a retry says again is what the newest turn serves."""

from turnwire.hub.wire.frames import Attachment
from turnwire.normalize import events as ev
from turnwire.sessions.prompt_history import KNOWN, PromptHistory, SentPrompt

NOTE = Attachment(name="note", base64="")


def said(*prompts: str) -> PromptHistory:
    prompt_history = PromptHistory()
    for prompt in prompts:
        prompt_history.say(prompt, SentPrompt(prompt.upper(), [NOTE]))
    return prompt_history


def test_a_turn_serves_the_prompts_it_names_and_those_that_join_it() -> None:
    prompt_history = said("a", "b", "c")
    assert prompt_history.observe(ev.TurnStarted(origin="user", prompts=["a"]))
    assert prompt_history.text() == "A"
    assert prompt_history.observe(ev.Injected(message_count=1, prompts=["c"]))
    assert prompt_history.text() == "A\n\nC"
    assert prompt_history.attachments() == [NOTE, NOTE]
    assert prompt_history.observe(ev.TurnStarted(origin="queued", prompts=["b"]))
    assert (prompt_history.text(), prompt_history.attachments()) == ("B", [NOTE])


def test_a_turn_of_the_clis_own_and_a_prompt_taken_back_change_nothing() -> None:
    prompt_history = said("a", "b")
    prompt_history.observe(ev.TurnStarted(origin="user", prompts=["a"]))
    assert not prompt_history.observe(ev.TurnStarted(origin="background"))
    assert not prompt_history.observe(ev.Withdrawn(prompt="b"))
    assert not prompt_history.observe(ev.TurnStarted(origin="queued", prompts=["b"]))
    assert not prompt_history.observe(ev.Notice(kind="k", level="info", text=""))
    assert prompt_history.text() == "A"


def test_a_prompt_is_known_until_it_was_not_sent_after_all() -> None:
    prompt_history = said("a", "b", "c")
    prompt_history.observe(ev.TurnStarted(origin="user", prompts=["a"]))
    prompt_history.observe(ev.Withdrawn(prompt="b"))
    prompt_history.unsay("c")
    prompt_history.unsay("c")
    assert [prompt_history.knows(prompt) for prompt in "abcd"] == [True, True, False, False]
    for number in range(KNOWN):
        prompt_history.say(str(number), SentPrompt(""))
    assert not prompt_history.knows("a")
