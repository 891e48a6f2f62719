// Drives an agent by the official TypeScript client of ACP 2: prompts, a permission, a form, cancelling, resuming with the past.
// argv: the folder to work in, then the agent's command. Prints what was seen as one line of JSON.
import { spawn } from "node:child_process";
import { Readable, Writable } from "node:stream";
import { client, methods, ndJsonStream, PROTOCOL_VERSION } from "@agentclientprotocol/sdk/experimental/v2";

const [cwd, program, ...argv] = process.argv.slice(2);
const agent = spawn(program, argv, { stdio: ["pipe", "pipe", "inherit"] });
const seen = { updates: [], permissions: [], forms: [], replies: [], stops: [], errors: [], takenBack: 0 };
let ended = () => {};
let cancel = () => {};

const editor = client({ name: "drive2" })
  .onNotification(methods.client.session.update, ({ params }) => {
    seen.updates.push(params.update);
    if (params.update.sessionUpdate === "state_update" && params.update.stopReason) ended(params.update);
  })
  .onRequest(methods.client.session.requestPermission, ({ params, signal }) => {
    seen.permissions.push(params);
    if (params.subject?.toolCall.rawInput?.command === "wait") {
      // nobody answers: the turn is cancelled, and with it the request
      return new Promise((resolve) => {
        signal.addEventListener("abort", () => {
          seen.takenBack += 1;
          resolve({ outcome: { outcome: "cancelled" } });
        });
        cancel();
      });
    }
    return { outcome: { outcome: "selected", optionId: params.options[0].optionId } };
  })
  .onRequest(methods.client.elicitation.create, ({ params }) => {
    seen.forms.push(params);
    return { action: "accept", content: { answer1: "Blue" } };
  });

await editor.connectWith(ndJsonStream(Writable.toWeb(agent.stdin), Readable.toWeb(agent.stdout)), async (context) => {
  seen.hello = await context.request(methods.agent.initialize, {
    protocolVersion: PROTOCOL_VERSION,
    info: { name: "drive2", version: "1" },
    capabilities: { elicitation: { form: {} } },
  });
  const { sessionId, configOptions } = await context.request(methods.agent.session.new, { cwd, mcpServers: [] });
  seen.options = configOptions.map((option) => option.configId);
  seen.modes = configOptions[0].options.map((option) => option.value);
  cancel = () => context.notify(methods.agent.session.cancel, { sessionId });
  for (const text of ["change it", "ask me", "fail", "wait"]) {
    const idle = new Promise((resolve) => (ended = resolve));
    const reply = await context.request(methods.agent.session.prompt, { sessionId, prompt: [{ type: "text", text }] });
    seen.replies.push(reply.messageId);
    const update = await idle;
    seen.stops.push(update.stopReason);
    if (update.error) seen.errors.push(update.error.message);
  }
  const changed = await context.request(methods.agent.session.setConfigOption, {
    sessionId,
    configId: "mode",
    type: "id",
    value: "plan",
  });
  seen.mode = changed.configOptions[0].currentValue;
  seen.live = seen.updates.splice(0);
  await context.request(methods.agent.session.resume, { sessionId, cwd, mcpServers: [] });
  seen.silent = seen.updates.splice(0);
  await context.request(methods.agent.session.resume, { sessionId, cwd, mcpServers: [], replayFrom: { type: "start" } });
  seen.past = seen.updates.splice(0);
  const { sessions } = await context.request(methods.agent.session.list, {});
  seen.listed = sessions.map((session) => session.sessionId === sessionId);
  await context.request(methods.agent.session.close, { sessionId });
});
agent.stdin.end();
seen.exit = await new Promise((resolve) => agent.on("exit", resolve));
console.log(JSON.stringify(seen));
process.exit(0);
