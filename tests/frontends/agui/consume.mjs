// Lets AG-UI's own clients, the current one and the one that CopilotKit has, consume recorded runs with their own verification.
// argv: a file of {name, client, runs: [{resume, body}]}, one a line. Prints what each client made of each, one a line.
import { createInterface } from "node:readline";
import { createReadStream } from "node:fs";
import { HttpAgent as Agent0 } from "ag-ui-client-0";
import { HttpAgent as Agent1 } from "@ag-ui/client";

const AGENTS = { "0.0.59": Agent0, "1.0.0": Agent1 };
const complaints = [];
for (const level of ["warn", "error"]) {
  console[level] = (...words) => complaints.push(words.map(String).join(" "));
}

for await (const line of createInterface({ input: createReadStream(process.argv[2]) })) {
  const { name, client, runs } = JSON.parse(line);
  let body = "";
  globalThis.fetch = async () =>
    new Response(body, { headers: { "content-type": "text/event-stream" } });
  const agent = new AGENTS[client]({ url: "http://127.0.0.1/agui/s1", threadId: "t1" });
  complaints.length = 0;
  const told = [];
  for (const run of runs) {
    body = run.body;
    const outcomes = { results: [], ended: [], asked: [], custom: 0 };
    try {
      await agent.runAgent(run.resume.length > 0 ? { resume: run.resume } : {}, {
        onToolCallResultEvent: ({ event }) => {
          const { status, normalized } = event.metadata?.turnwire ?? {};
          outcomes.results.push([event.toolCallId, status, normalized?.shell_exec?.output?.exit_code ?? null]);
        },
        onRunFinishedEvent: ({ event }) => {
          outcomes.ended.push(event.outcome?.type ?? "none");
          outcomes.asked.push(...(event.outcome?.interrupts ?? []).map(({ id }) => id));
        },
        onRunErrorEvent: ({ event }) => {
          outcomes.ended.push(event.code);
        },
        onCustomEvent: () => {
          outcomes.custom += 1;
        },
      });
    } catch (error) {
      complaints.push(`run rejected: ${error}`);
    }
    told.push({ ...outcomes, ids: agent.messages.map((message) => message.id) });
  }
  process.stdout.write(
    `${JSON.stringify({ name, client, told, messages: agent.messages, state: agent.state, complaints })}\n`,
  );
}
