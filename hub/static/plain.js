// A plain page: sessions, events as they come, a prompt, answers to permission requests. No build step.
const at = (id) => document.getElementById(id);
const cursors = new Map();
let epoch = "", socket = null, shown = null, count = 0;
let token = new URLSearchParams(location.hash.slice(1)).get("token");
history.replaceState(null, "", location.pathname);

function send(command) {
  socket.send(JSON.stringify({ id: String(++count), ...command }));
}

function button(text, act) {
  const made = document.createElement("button");
  made.type = "button";
  made.textContent = text;
  made.addEventListener("click", act);
  return made;
}

function list(sessions) {
  at("sessions").replaceChildren(...sessions.map((s) => {
    const made = button(`${s.title ?? s.session} (${s.state})`, () => show(s.session));
    made.setAttribute("aria-pressed", String(s.session === shown));
    return made;
  }));
  if (shown === null && sessions.length > 0) show(sessions[0].session);
}

function show(session) {
  if (shown !== null) send({ type: "unsubscribe", session: shown });
  shown = session;
  at("events").replaceChildren();
  at("pending").replaceChildren();
  cursors.delete(session);
  subscribe();
}

function subscribe() {
  const after = cursors.get(shown) ?? 0;
  send({ type: "subscribe", session: shown, after, ...(after ? { epoch } : {}) });
}

function take({ session, seq, event }) {
  if (session !== shown) return;
  cursors.set(session, seq);
  const line = document.createElement("li");
  line.textContent = `${seq} ${event.type} ${event.text ?? JSON.stringify(event)}`;
  at("events").append(line);
  if (event.type === "permission_request") ask(event);
  if (event.type === "permission_resolved" || event.type === "permission_cancelled") {
    document.querySelector(`[data-pending="${CSS.escape(event.pending_id)}"]`)?.remove();
  }
}

function ask(event) {
  const box = document.createElement("article");
  box.dataset.pending = event.pending_id;
  const title = document.createElement("p");
  title.textContent = event.permission_title;
  box.append(title, ...event.permission_options.map((option) => button(option.name, () => send({
    type: "permission.respond", session: shown, pending_id: event.pending_id, option_id: option.option_id,
  }))));
  at("pending").append(box);
}

const handlers = {
  welcome(frame) {
    if (token) fetch("/login", { method: "POST", headers: { Authorization: `Bearer ${token}` } });
    epoch = frame.epoch;
    at("login").hidden = true;
    at("state").textContent = `Connected, role ${frame.role}.`;
    list(frame.sessions);
    if (shown !== null) subscribe();
  },
  sessions(frame) { list(frame.sessions); },
  event: take,
  events(frame) { frame.events.forEach(take); },
  gap(frame) { epoch = frame.epoch; take({ session: frame.session, seq: frame.to, event: { type: "gap", ...frame } }); },
  reply(frame) { if (!frame.ok) at("state").textContent = frame.error.message; },
};

function connect() {
  socket = new WebSocket(`${location.origin.replace("http", "ws")}/ws`, ["turnwire.v1"]);
  // Without a token in the address, the cookie of an earlier login may do.
  if (token) socket.addEventListener("open", () => send({ type: "hello", token }));
  socket.addEventListener("message", (message) => {
    const frame = JSON.parse(message.data);
    handlers[frame.type]?.(frame);
  });
  socket.addEventListener("close", (closed) => {
    const refused = closed.code === 4401 || closed.code === 4408;
    at("login").hidden = !refused;
    at("state").textContent = refused ? "An access token is needed: it is in the address the sidecar printed." : "Connecting…";
    if (!refused) setTimeout(connect, 1000);
  });
}

at("login").addEventListener("submit", (submitted) => {
  submitted.preventDefault();
  token = new FormData(submitted.target).get("token");
  connect();
});
at("prompt").addEventListener("submit", (submitted) => {
  submitted.preventDefault();
  send({ type: "prompt", session: shown, text: new FormData(submitted.target).get("text") });
  submitted.target.reset();
});
at("interrupt").addEventListener("click", () => send({ type: "interrupt", session: shown }));
connect();
