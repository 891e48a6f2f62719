// A person with a web page of AG-UI: says something, allows what is asked, reads what comes. argv: URL, token.
import { HttpAgent as Agent0 } from "ag-ui-client-0";
import { HttpAgent as Agent1 } from "@ag-ui/client";

const [url, token] = process.argv.slice(2);
const complaints = [];
for (const level of ["warn", "error"]) {
  console[level] = (...words) => complaints.push(words.map(String).join(" "));
}

for (const Agent of [Agent1, Agent0]) {
  const agent = new Agent({ url, headers: { Authorization: `Bearer ${token}` } });
  const interrupts = [];
  agent.addMessage({ id: `said-${agent.threadId}`, role: "user", content: "ls -l" });
  await agent.runAgent();
  while (agent.pendingInterrupts.length > 0) {
    interrupts.push(...agent.pendingInterrupts.map((each) => each.reason));
    const resume = agent.pendingInterrupts.map((each) => ({
      interruptId: each.id,
      status: "resolved",
      payload: { option_id: each.responseSchema.properties.option_id.oneOf[0].const },
    }));
    await agent.runAgent({ resume });
  }
  const late = new Agent({ url, threadId: agent.threadId, headers: { Authorization: `Bearer ${token}` } });
  await late.runAgent();
  process.stdout.write(
    `${JSON.stringify({
      interrupts,
      complaints: complaints.splice(0),
      messages: agent.messages.map(({ role, content }) => ({ role, content })),
      late: late.messages.map(({ role, content }) => ({ role, content })),
      session: agent.state.turnwire.session,
    })}\n`,
  );
}
