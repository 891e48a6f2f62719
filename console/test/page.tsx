/** A page of the console without a browser: a hub that remembers what is sent, a session, and how tests find what is drawn. */
import { render } from "preact";
import type { AgentEvent, Client, CommandInput, EventFrame, SessionSummary, Welcome } from "turnwire-client";
import { vi } from "vitest";
import type { ConsoleState } from "../src/state/console_state.js";
import { LiveContext, PageContext } from "../src/state/context.js";
import { LiveSession } from "../src/state/live.js";
import { Source } from "../src/state/source.js";

export const SESSION: SessionSummary = {
  session: "s",
  title: "Mend the door",
  state: "idle",
  last_seq: 1,
  pending: 0,
  agent: "demo",
  workspace: "/srv/red",
};

/** Takes everything off the page and out of what is stored, after a test. */
export function clear(): void {
  render(null, document.body);
  document.body.innerHTML = "";
  location.hash = "";
  localStorage.clear();
  sessionStorage.clear();
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
}

export class Page {
  readonly sent: CommandInput[] = [];
  answer: (command: CommandInput) => unknown = () => null;
  readonly hub = {
    changed: new Source(),
    switched: new Source(),
    toasted: new Source(),
    state: "open",
    mayControl: true,
    mayCreate: true,
    sessions: [SESSION],
    summary: SESSION as SessionSummary | undefined,
    current: undefined as LiveSession | undefined,
    welcome: {
      version: "1",
      agents: [{ agent: "demo", title: "Demo", capabilities: ["images"], permission_modes: ["default", "bypassPermissions"] }],
    } as unknown as Welcome,
    newer: undefined as string | undefined,
    run: async (command: CommandInput) => {
      this.sent.push(command);
      return this.answer(command);
    },
    toast: vi.fn(),
    select: vi.fn(),
    client: { command: async (command: CommandInput) => this.answer(command) },
  };
  private tell: (events: EventFrame[]) => void = () => undefined;
  readonly live: LiveSession;
  private seq = 0;

  constructor() {
    const client = {
      follow: (_: string, on: { onEvents: (events: EventFrame[]) => void; onCaughtUp: () => void }) => {
        this.tell = on.onEvents;
        queueMicrotask(on.onCaughtUp);
        return { close: () => undefined, closed: false };
      },
    } as unknown as Client;
    this.live = new LiveSession(client, "s", () => SESSION);
    this.hub.current = this.live;
  }

  happens(...events: AgentEvent[]): void {
    this.tell(events.map((event) => ({ type: "event", session: "s", seq: ++this.seq, ts: "2026-01-01T00:00:00Z", event })));
    this.live.changed.emit();
    this.live.grown.emit();
  }

  show(view: preact.ComponentChild): void {
    const page = { hub: this.hub as unknown as ConsoleState, inspect: () => undefined, show: () => undefined };
    render(
      <PageContext.Provider value={page}>
        <LiveContext.Provider value={this.live}>{view}</LiveContext.Provider>
      </PageContext.Provider>,
      document.body,
    );
  }
}

export const nameOf = (node: Element) => (node.getAttribute("aria-label") ?? node.textContent ?? "").trim();
export const buttons = () => [...document.querySelectorAll("button")].map(nameOf);
export function button(name: string): HTMLButtonElement {
  const found = [...document.querySelectorAll("button")].find((node) => nameOf(node) === name);
  if (!found) throw new Error(`no button ${name} among ${buttons().join(", ")}`);
  return found;
}
export function press(node: Element, key: string, more: KeyboardEventInit & { keyCode?: number } = {}): void {
  const event = new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true, ...more });
  if (more.keyCode !== undefined) Object.defineProperty(event, "keyCode", { value: more.keyCode });
  node.dispatchEvent(event);
}
export function write(field: HTMLTextAreaElement | HTMLInputElement, text: string): void {
  field.value = text;
  field.dispatchEvent(new Event("input", { bubbles: true }));
}
