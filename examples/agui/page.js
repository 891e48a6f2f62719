// A page on AG-UI's own client, with what a CopilotKit chat shows: messages, tool calls, a shared state, questions that wait.
// The token and the session come in the fragment, which browsers send to nobody: #token=…&session=…
import { HttpAgent } from "@ag-ui/client";

const given = new URLSearchParams(location.hash.slice(1));
const session = encodeURIComponent(given.get("session"));
const headers = { Authorization: `Bearer ${given.get("token")}` };
const agent = new HttpAgent({ url: `/agui/${session}`, headers });
const at = (id) => document.getElementById(id);

/** Make an element; text is text, whatever is in it. */
function element(tag, text, className = "") {
  const made = document.createElement(tag);
  made.textContent = text;
  made.className = className;
  return made;
}

function call(one, results) {
  const result = results.get(one.id);
  const box = element("div", "", result?.error ? "call failed" : "call");
  const details = element("details", one.function.arguments);
  details.prepend(element("summary", one.metadata?.turnwire?.title ?? one.function.name));
  box.append(details);
  if (result?.content) box.append(result.content);
  return box;
}

function show({ messages, state }) {
  const results = new Map(messages.filter((each) => each.role === "tool").map((each) => [each.toolCallId, each]));
  const shown = messages.flatMap((each) => {
    if (each.role === "tool") return [];
    const texts = each.content ? [element("p", each.content, each.role)] : [];
    return [...texts, ...(each.toolCalls ?? []).map((one) => call(one, results))];
  });
  at("messages").replaceChildren(...shown);
  at("messages").scrollTop = at("messages").scrollHeight;
  const ours = state?.turnwire ?? {};
  at("session").textContent = [ours.session, ours.info?.model].filter(Boolean).join(", ");
  at("cost").textContent = ours.cost?.total_usd === undefined ? "" : `$${ours.cost.total_usd.toFixed(4)}`;
  at("todos").replaceChildren(...(ours.todos ?? []).map((each) => element("li", `${each.description} (${each.status})`)));
}

/** Show what waits, and wait for a click on an option. */
function answerOf(interrupt) {
  const options = interrupt.responseSchema.properties?.option_id?.oneOf ?? [];
  return new Promise((resolve) => {
    const entry = (rest) => {
      at("asks").replaceChildren();
      resolve({ interruptId: interrupt.id, ...rest });
    };
    const buttons = options.map(({ const: option, title }) => {
      const button = element("button", title);
      button.onclick = () => entry({ status: "resolved", payload: { option_id: option } });
      return button;
    });
    const cancel = element("button", "Not now");
    cancel.onclick = () => entry({ status: "cancelled" });
    at("asks").replaceChildren(element("p", interrupt.message ?? interrupt.reason), ...buttons, cancel);
  });
}

/** Run, and run again with the answers as long as the agent asks. */
async function run() {
  at("error").textContent = "";
  let resume;
  do {
    try {
      await agent.runAgent(resume && { resume });
    } catch (error) {
      at("error").textContent = String(error);
      return;
    }
    resume = [];
    for (const interrupt of agent.pendingInterrupts) resume.push(await answerOf(interrupt));
  } while (resume.length > 0);
}

agent.subscribe({
  onMessagesChanged: show,
  onStateChanged: show,
  onRunErrorEvent: ({ event }) => {
    at("error").textContent = event.message;
  },
});
document.querySelector("form").onsubmit = (event) => {
  event.preventDefault();
  const field = event.target.elements.said;
  if (!field.value || agent.isRunning) return;
  agent.addMessage({ id: crypto.randomUUID(), role: "user", content: field.value });
  field.value = "";
  void run();
};
at("stop").onclick = () => fetch(`/agui/${session}/interrupt`, { method: "POST", headers });
// A first run without a message shows what was, and goes on with what is under way.
void run();
