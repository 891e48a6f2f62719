// Plays scenarios through the TypeScript SDK: the first argument is the folder of its package, the second names a file of jobs.
// It prints what their callers saw.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname } from "node:path";
import { pathToFileURL } from "node:url";

const [, , modules, file] = process.argv;
const load = (name) => import(pathToFileURL(createRequire(`${modules}/x.js`).resolve(name)));
const { createSdkMcpServer, query, tool } = await load("@anthropic-ai/claude-agent-sdk");
const { z } = await load("zod");

class TimeoutError extends Error {}

const DEADLINE_MS = 60_000;
const RENAMED = { add_dirs: "additionalDirectories", continue_conversation: "continue" };
const camel = (name) => RENAMED[name] ?? name.replace(/_(.)/g, (_, letter) => letter.toUpperCase());
const said = (error) => `${error?.constructor?.name}: ${error?.message ?? error}`;

function options(scenario, cli, env, calls, stderr) {
  const made = {
    pathToClaudeCodeExecutable: cli,
    cwd: dirname(cli),
    stderr: (text) => stderr.push(text),
  };
  for (const [name, value] of Object.entries(scenario.options)) made[camel(name)] = value;
  made.env = { ...env, ...scenario.options.env };
  if (scenario.tool !== null) {
    made.canUseTool = async (name, input, { suggestions }) => {
      const told = scenario.tool;
      calls.push(`${name} ${JSON.stringify(input)} ${JSON.stringify(suggestions)}`);
      if (told.raises) throw new Error(told.raises);
      if (told.behavior === "deny") return { behavior: "deny", message: told.message, interrupt: told.interrupt ?? false };
      const answer = { behavior: "allow", updatedInput: told.updated_input ?? input };
      return told.remember ? { ...answer, updatedPermissions: suggestions } : answer;
    };
  }
  if (scenario.mcp) {
    const add = tool("add", "Add two numbers", { a: z.number(), b: z.number() }, async ({ a, b }) => ({
      content: [{ type: "text", text: String(a + b) }],
    }));
    const fail = tool("fail", "Fail", {}, async () => {
      throw new Error("broken");
    });
    made.mcpServers = { sums: createSdkMcpServer({ name: "sums", tools: [add, fail] }) };
  }
  for (const [event, output] of Object.entries(scenario.hooks)) {
    const hook = async (input, id) => {
      calls.push(`${JSON.stringify(input)} ${id}`);
      if (typeof output === "string") throw new Error(output);
      return output;
    };
    made.hooks = { ...made.hooks, [event]: [{ hooks: [hook] }] };
  }
  return made;
}

const prompt = (content) => ({
  type: "user",
  message: { role: "user", content },
  parent_tool_use_id: null,
  session_id: "",
});

async function* streamed(contents) {
  for (const content of contents) yield prompt(content);
}

/** Prompts that are said one by one, until `close`. */
function spoken() {
  const said = [];
  let wake = () => {};
  let closed = false;
  return {
    say: (content) => (said.push(prompt(content)), wake()),
    close: () => ((closed = true), wake()),
    async *[Symbol.asyncIterator]() {
      while (true) {
        while (said.length) yield said.shift();
        if (closed) return;
        await new Promise((resolve) => (wake = resolve));
      }
    },
  };
}

function asked(running, kind, value) {
  if (kind === "info") return running.initializationResult();
  if (kind === "servers") return running.mcpServerStatus();
  if (kind === "rewind") return running.rewindFiles(value);
  if (kind === "interrupt") return running.interrupt();
  return running[camel(kind)](value ?? undefined);
}

async function session(scenario, made, seen) {
  const input = spoken();
  const running = query({ prompt: input, options: made });
  const take = async () => {
    const { done, value } = await running.next();
    if (done) throw new Error("the messages have ended");
    seen.push(JSON.stringify(value));
    return value;
  };
  try {
    for (const [kind, value] of scenario.actions) {
      if (kind === "say") input.say(value);
      else if (kind === "take") for (let number = 0; number < value; number++) await take();
      else if (kind === "result") while ((await take()).type !== "result");
      else {
        const answer = await asked(running, kind, value).then(JSON.stringify, said);
        seen.push(`${kind}: ${answer}`);
      }
    }
  } finally {
    input.close();
    running.close();
  }
}

async function played({ scenario, cli, env }) {
  const [seen, calls, stderr] = [[], [], []];
  const made = options(scenario, cli, env, calls, stderr);
  const run = async () => {
    if (scenario.actions.length) return session(scenario, made, seen);
    const given = typeof scenario.prompt === "string" ? scenario.prompt : streamed(scenario.prompt);
    for await (const message of query({ prompt: given, options: made })) seen.push(JSON.stringify(message));
  };
  let error = "";
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new TimeoutError("the scenario did not end")), DEADLINE_MS);
  });
  try {
    await Promise.race([run(), late]);
  } catch (failed) {
    error = said(failed);
  }
  clearTimeout(timer);
  return { messages: seen, calls, stderr: [stderr.join("")], error };
}

const work = JSON.parse(readFileSync(file, "utf8"));
const told = new Array(work.jobs.length);
let next = 0;
const worker = async () => {
  while (next < work.jobs.length) {
    const number = next++;
    told[number] = await played(work.jobs[number]);
  }
};
process.on("unhandledRejection", (reason) => process.stderr.write(`${said(reason)}\n`));
await Promise.all(Array.from({ length: work.at_once }, worker));
process.stdout.write(JSON.stringify(told), () => process.exit(0));
