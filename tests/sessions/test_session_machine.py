"""The states of a live session: what an input makes of a state, and what is to be done."""

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from cases import for_each
from turnwire.normalize.events import ProcessStatus
from turnwire.sessions import machine as m

NEW = m.SessionState()
END = ProcessStatus(state="exited", exit_code=1)

RUNS: list[tuple[list[m.Input], m.SessionState, list[m.Effect]]] = [
    ([m.Starting()], replace(NEW, process="starting"), []),
    ([m.Starting(), m.Cleared()], NEW, ["announce"]),
    ([m.Starting(), m.Started(), m.Introduced()], replace(NEW, process="running", core_is_new=False), []),
    ([m.Started(), m.Exited(END)], replace(NEW, process="exited", exit=END), []),
    (
        [m.Started(), m.Exited(END), m.Stopped()],
        replace(NEW, process="stopped", exit=END, was_stopped=True),
        [],
    ),
    ([m.Started(), m.Exited(None)], replace(NEW, process="running"), []),
    ([m.Started(), m.Exited(END), m.Started()], replace(NEW, process="running"), []),
    (
        [m.Started(), m.Stopped(), m.Exited(END)],
        replace(NEW, process="stopped", exit=END, was_stopped=True),
        [],
    ),
    ([m.Started(), m.Stopped(), m.Cleared()], replace(NEW, was_stopped=True), ["announce"]),
    ([m.Stopped()], replace(NEW, was_stopped=True), []),
    ([m.Stopped(), m.Starting()], replace(NEW, process="starting"), []),
    ([m.Failed("why")], replace(NEW, failure="why"), []),
    ([m.Failed("why"), m.Starting()], replace(NEW, process="starting"), []),
    ([m.BatchRead(), m.BatchJournaled()], NEW, []),
    ([m.BatchRead(), m.JournalFull()], replace(NEW, reading="paused"), ["log_pause", "announce"]),
    (
        [m.BatchRead(), m.JournalFull(), m.JournalFull()],
        replace(NEW, reading="paused"),
        ["log_pause", "announce"],
    ),
    (
        [m.BatchRead(), m.JournalFull(), m.BatchJournaled()],
        NEW,
        ["log_pause", "announce", "log_resume", "announce"],
    ),
    ([m.JournalFull()], NEW, []),
    ([m.JournalRefuses()], NEW, []),
    ([m.Started(), m.JournalRefuses()], replace(NEW, process="stopped", was_stopped=True), ["stop_agent"]),
    (
        [m.Started(), m.JournalRefuses(), m.JournalRefuses()],
        replace(NEW, process="stopped", was_stopped=True),
        ["stop_agent"],
    ),
    ([m.Introduced(), m.CoreMade()], NEW, []),
    ([m.ImportBegins()], replace(NEW, conversation="importing"), []),
    ([m.ImportBegins(), m.ImportEnds(succeeded=False)], NEW, []),
    ([m.ImportBegins(), m.ImportEnds(succeeded=True)], replace(NEW, conversation="theirs"), []),
    ([m.ImportEnds(succeeded=True), m.OpenElsewhere(is_open=False)], replace(NEW, conversation="theirs"), []),
    (
        [m.ImportEnds(succeeded=True), m.OpenElsewhere(is_open=True), m.OpenElsewhere(is_open=True)],
        replace(NEW, conversation="open_elsewhere"),
        ["announce"],
    ),
    ([m.OpenElsewhere(is_open=True)], NEW, []),
    ([m.ImportEnds(succeeded=True), m.TakenOver()], NEW, []),
]


def run(inputs: list[m.Input]) -> tuple[m.SessionState, list[m.Effect]]:
    state, effects = NEW, []
    for one in inputs:
        state, more = m.step(state, one)
        effects += more
    return state, effects


@for_each("inputs, state, effects", RUNS)
def test_inputs_lead_to_a_state(
    inputs: list[m.Input], state: m.SessionState, effects: list[m.Effect]
) -> None:
    assert run(inputs) == (state, effects)


ANY: st.SearchStrategy[m.Input] = st.one_of(
    *(st.builds(one) for one in (
        m.Starting, m.Started, m.Introduced, m.Stopped, m.Cleared, m.BatchRead, m.BatchJournaled,
        m.JournalFull, m.JournalRefuses, m.CoreMade, m.ImportBegins, m.TakenOver,
    )),
    st.builds(m.Exited, st.sampled_from([END, None])),
    st.builds(m.Failed, st.just("why")),
    st.builds(m.ImportEnds, st.booleans()),
    st.builds(m.OpenElsewhere, st.booleans()),
)  # fmt: skip


@given(st.lists(ANY, max_size=12))
def test_an_agent_is_stopped_once_and_takes_no_commands_then(inputs: list[m.Input]) -> None:
    state = NEW
    for one in inputs:
        before, (state, effects) = state, m.step(state, one)
        if "stop_agent" in effects:
            assert before.process in {"running", "exited"}
            assert not state.has_agent
        assert not (state.has_agent and state.is_clearing)
        assert state.has_agent == (state.process == "running")
