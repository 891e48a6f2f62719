// Drives an agent by the official TypeScript client: prompts, a permission, a form, cancelling, loading. argv: the folder to
// work in, then the agent's command. Prints what was seen as one line of JSON.
import { spawn } from "node:child_process";
import { Readable, Writable } from "node:stream";
import { client, methods, ndJsonStream, PROTOCOL_VERSION } from "@agentclientprotocol/sdk";

const [cwd, program, ...argv] = process.argv.slice(2);
const agent = spawn(program, argv, { stdio: ["pipe", "pipe", "inherit"] });
const seen = { updates: [], permissions: [], forms: [], replies: [], takenBack: 0 };

const editor = client({ name: "drive" })
  .onNotification(methods.client.session.update, ({ params }) => {
    seen.updates.push(params);
  })
  .onRequest(methods.client.session.requestPermission, ({ params, signal }) => {
    seen.permissions.push(params);
    if (params.toolCall.rawInput?.command === "wait") {
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

let cancel = () => {};
await editor.connectWith(ndJsonStream(Writable.toWeb(agent.stdin), Readable.toWeb(agent.stdout)), async (context) => {
  seen.hello = await context.request(methods.agent.initialize, {
    protocolVersion: PROTOCOL_VERSION,
    clientCapabilities: { elicitation: { form: {} } },
  });
  const { sessionId, modes, configOptions } = await context.request(methods.agent.session.new, { cwd, mcpServers: [] });
  seen.modes = modes.availableModes.map((mode) => mode.id);
  seen.options = configOptions.map((option) => option.id);
  cancel = () => context.notify(methods.agent.session.cancel, { sessionId });
  for (const text of ["change it", "ask me", "wait"]) {
    const reply = await context.request(methods.agent.session.prompt, { sessionId, prompt: [{ type: "text", text }] });
    seen.replies.push(reply.stopReason);
  }
  await context.request(methods.agent.session.setMode, { sessionId, modeId: "plan" });
  const changed = await context.request(methods.agent.session.setConfigOption, { sessionId, configId: "mode", value: "default" });
  seen.mode = changed.configOptions[0].currentValue;
  seen.live = seen.updates.splice(0);
  await context.request(methods.agent.session.load, { sessionId, cwd, mcpServers: [] });
  seen.past = seen.updates.splice(0);
  const { sessions } = await context.request(methods.agent.session.list, {});
  seen.listed = sessions.map((session) => session.sessionId === sessionId);
});
agent.stdin.end();
seen.exit = await new Promise((resolve) => agent.on("exit", resolve));
console.log(JSON.stringify(seen));
process.exit(0);
