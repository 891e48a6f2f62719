// A page on AG-UI's own client that leads a conversation: says something, allows and answers what is asked, tells what it saw.
// argv: the URL of the session's runs, the token, what to say.
import { HttpAgent } from "@ag-ui/client";

const [url, token, said] = process.argv.slice(2);
const complaints = [];
for (const level of ["warn", "error"]) {
  console[level] = (...words) => complaints.push(words.map(String).join(" "));
}
const agent = new HttpAgent({ url, headers: { Authorization: `Bearer ${token}` } });
const told = { results: [], asked: [], ended: [] };
const watch = {
  onToolCallResultEvent: ({ event }) => {
    const { status, normalized } = event.metadata?.turnwire ?? {};
    told.results.push([event.toolCallId, status, normalized?.shell_exec?.output?.exit_code ?? null]);
  },
  onRunFinishedEvent: ({ event }) => {
    told.ended.push(event.outcome?.type ?? "none");
    told.asked.push(...(event.outcome?.interrupts ?? []).map(({ id }) => id));
  },
  onRunErrorEvent: ({ event }) => told.ended.push(event.code),
};

/** The first choice, of a permission as of each question. */
function answered({ id, reason, metadata }) {
  const { turnwire } = metadata;
  const payload =
    reason === "permission"
      ? { option_id: turnwire.permission_options.find(({ kind }) => kind === "allow_once").option_id }
      : { answers: Object.fromEntries(turnwire.questions.map(({ question, options }) => [question, options[0].label])) };
  return { interruptId: id, status: "resolved", payload };
}

agent.addMessage({ id: "said-1", role: "user", content: said });
await agent.runAgent({}, watch);
while (agent.pendingInterrupts.length > 0) await agent.runAgent({ resume: agent.pendingInterrupts.map(answered) }, watch);
process.stdout.write(JSON.stringify({ told: [told], messages: agent.messages, state: agent.state, complaints }));
