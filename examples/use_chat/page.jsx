// A chat with a coding agent on the AI SDK. The URL's fragment has the session and the token, as the one that turnwire prints.
import { useChat } from "@ai-sdk/react";
import { DefaultChatTransport, lastAssistantMessageIsCompleteWithApprovalResponses } from "ai";
import { createElement as h, useEffect, useState } from "react";
import { createRoot } from "react-dom/client";

const given = new URLSearchParams(location.hash.slice(1));
const session = given.get("session");
const headers = { Authorization: `Bearer ${given.get("token")}` };
const send = (path, body) => fetch(`/ai/${session}/${path}`, { method: "POST", headers, body: JSON.stringify(body ?? {}) });

function Part({ part, answer }) {
  if (part.type === "text") return h("p", null, part.text);
  if (part.type === "reasoning") return h("details", null, h("summary", null, "Thinking"), part.text);
  if (part.type === "dynamic-tool")
    return h("div", { className: "call" }, h("code", null, part.title ?? part.toolName), ` ${part.state} `,
      part.state === "approval-requested" && [true, false].map((approved) =>
        h("button", { key: approved, onClick: () => answer({ id: part.approval.id, approved }) }, approved ? "Allow" : "Deny")));
  if (part.type === "data-question")
    return h("fieldset", null, ...(part.data.questions ?? []).map((one) =>
      h("div", { key: one.question }, one.question, ...one.options.map(({ label }) =>
        h("button", { key: label, onClick: () => send("answer", { id: part.id, answers: { [one.question]: label } }) }, label)))));
  if (part.type === "data-todo") return h("ul", null, ...part.data.items.map((item) => h("li", { key: item.description }, item.description)));
  return null;
}

function Chat({ messages: earlier }) {
  const [text, setText] = useState("");
  const { messages, sendMessage, addToolApprovalResponse, status, error } = useChat({
    id: session,
    messages: earlier,
    resume: true,
    transport: new DefaultChatTransport({ api: "/ai", headers }),
    sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
  });
  return h("div", null,
    ...messages.map((message) => h("section", { key: message.id, className: message.role },
      ...message.parts.map((part, at) => h(Part, { key: at, part, answer: addToolApprovalResponse })))),
    h("p", { id: "status" }, error ? error.message : status),
    h("form", { onSubmit: (event) => { event.preventDefault(); sendMessage({ text }); setText(""); } },
      h("input", { "aria-label": "Prompt", value: text, onChange: (event) => setText(event.target.value) })),
    h("button", { onClick: () => send("stop") }, "Stop"));
}

function Page() {
  const [messages, setMessages] = useState(null);
  useEffect(() => void fetch(`/ai/${session}/messages`, { headers }).then((answer) => answer.json()).then(setMessages), []);
  return messages && h(Chat, { messages });
}

createRoot(document.getElementById("root")).render(h(Page));
