/** What `<turnwire-session>` shows of a log: each row drawn by the views that it uses, and read from the document. */
import { type ComponentChild, render } from "preact";
import type { AgentEvent, AgentPlan, Client, EventFrame } from "turnwire-client";
import type { RequestRow, Row, ToolRow } from "../../../console/src/model/rows.js";
import { standsAlone } from "../../../console/src/request/alone.js";
import { RequestDock } from "../../../console/src/request/dock.js";
import type { ConsoleState } from "../../../console/src/state/console_state.js";
import { LiveContext, type Page, PageContext } from "../../../console/src/state/context.js";
import { LiveSession } from "../../../console/src/state/live.js";
import { Source } from "../../../console/src/state/source.js";
import { NestedRow, RowView } from "../../../console/src/view/row.js";

interface Call {
  readonly id: string;
  /** The colour of its card: good, bad, busy, warn or plain. */
  readonly tone: string;
  /** The word on it; a call that is done has none. */
  readonly word: string;
  readonly exit: number | null;
}

export interface Shown {
  /** The agent's texts, without those of subagents and those that are marked as taken back. */
  readonly texts: string[];
  readonly calls: Call[];
  /** Requests that wait in the dock, or whose outcome is told. */
  readonly asked: string[];
  /** The plan that is shown last: its entries as drawn, or its words. */
  readonly plan: string[];
  /** Rows that could not be drawn, and texts that are drawn with words missing. */
  readonly wrong: string[];
}

const summary = { session: "s", title: "t", state: "idle", last_seq: 1, pending: 0, agent: "demo", workspace: "/workspace" };
const hub = {
  changed: new Source(),
  switched: new Source(),
  toasted: new Source(),
  state: "open",
  mayControl: true,
  mayCreate: true,
  sessions: [summary],
  summary,
  welcome: { version: "1", agents: [] },
};
const page: Page = { hub: hub as unknown as ConsoleState, inspect: () => undefined, show: () => undefined };

function played(events: readonly AgentEvent[]): LiveSession {
  let tell: (frames: EventFrame[]) => void = () => undefined;
  let caughtUp: () => void = () => undefined;
  const client = {
    follow: (_: string, on: { onEvents: typeof tell; onCaughtUp: typeof caughtUp }) => {
      [tell, caughtUp] = [on.onEvents, on.onCaughtUp];
      return { close: () => undefined, closed: false };
    },
  } as unknown as Client;
  const live = new LiveSession(client, "s", () => undefined);
  tell(events.map((event, i) => ({ type: "event", session: "s", seq: i + 1, ts: new Date(i).toISOString(), event })));
  caughtUp();
  return live;
}

const letters = (text: string) => text.replaceAll(/\s/g, "");

/** Words of a text in Markdown that are drawn as they are: not those of links, tags, list marks, and languages of code. */
function words(text: string): string[] {
  const plain = text
    .replaceAll(/^\s*(```|~~~).*$/gm, " ")
    .replaceAll(/^\s*(\d+\.|- \[.\])/gm, " ")
    .replaceAll(/\]\([^)]*\)/g, " ")
    .replaceAll(/<[^>]*>/g, " ");
  return plain.match(/[\p{L}\p{N}]+/gu) ?? [];
}

function lacking(text: string, place: Element): string[] {
  const drawn = letters(place.textContent ?? "");
  return words(text).filter((word) => !drawn.includes(word));
}

/** Draw a session's log, and return what is told of it. */
export function shown(events: readonly AgentEvent[]): Shown {
  const live = played(events);
  const { conversation } = live;
  const wrong: string[] = [];

  function drawn(view: ComponentChild): HTMLElement {
    const place = document.createElement("div");
    document.body.replaceChildren(place);
    render(
      <PageContext.Provider value={page}>
        <LiveContext.Provider value={live}>{view}</LiveContext.Provider>
      </PageContext.Provider>,
      place,
    );
    for (const broken of place.querySelectorAll(".broken")) wrong.push(broken.textContent ?? "");
    return place;
  }
  const gone = (place: Element) => render(null, place);

  const texts: string[] = [];
  const calls: Call[] = [];
  const asked: string[] = [];
  let plan = { seq: 0, lines: [] as string[] };

  function planned({ plan_content: text, items }: AgentPlan, seq: number, place: Element): void {
    const missing = lacking(text, place);
    if (missing.length > 0) wrong.push(`the plan of event ${seq} lacks ${missing}`);
    const entries = [...place.querySelectorAll(".todos li")].map((entry) => (entry.textContent ?? "").trim());
    if (seq > plan.seq) plan = { seq, lines: items ? entries : [text] };
  }

  function one(row: Row): void {
    row.view.open = true;
    // By itself: the card of a group that is closed draws none of those it holds.
    const alone = row.kind === "tool" ? { ...row, leader: undefined, group: [], children: [] } : row;
    const place = drawn(row.parent || row.kind === "tool" ? <NestedRow row={alone} /> : <RowView row={alone} />);
    if (row.kind === "tool") tool(row, place);
    else if (row.kind === "plan") planned(row.plan, row.seq, place);
    else if (row.kind === "request" && standsAlone(row) && place.querySelector(".request-over")) asked.push(row.request.pending_id);
    else if (row.kind === "text" && !row.parent && row.text !== "" && !place.querySelector(".withdrawn")) {
      // The row of an error says it in its place.
      const where = row.told ? drawnError(row.text) : place.querySelector("article.answer");
      const missing = where ? lacking(row.text, where) : ["all of it"];
      if (missing.length === 0) texts.push(row.text);
      else wrong.push(`the text of event ${row.seq} lacks ${missing}`);
    }
    gone(place);
  }

  function drawnError(text: string): Element | undefined {
    const told = conversation.rows.find(
      (row) => row.kind === "fact" && row.event.type === "error" && row.event.error.trim() === text.trim(),
    );
    return told && drawn(<RowView row={told} />);
  }

  function tool(row: ToolRow, place: Element): void {
    const card = place.querySelector("article.card.tool");
    if (!card) return;
    const code = [...card.querySelectorAll(".fold-head .facts span")].flatMap(
      (fact) => /^exit (-?\d+)$/.exec(fact.textContent ?? "")?.[1] ?? [],
    )[0];
    calls.push({
      id: row.id,
      tone: card.className.split(/\s+/).find((name) => ["good", "bad", "busy", "warn", "plain"].includes(name)) ?? "",
      word: card.querySelector(".fold-head .badge")?.textContent ?? "",
      exit: code === undefined ? null : Number(code),
    });
    const { request } = row;
    if (request && !standsAlone(request) && place.querySelector(".request-over")) asked.push(request.request.pending_id);
    if (row.plan) planned(row.plan, conversation.log.find(({ event }) => event === row.plan)?.seq ?? row.seq, card);
    for (const child of row.children) one(child);
  }

  for (const row of conversation.rows) one(row);

  const dock = drawn(<RequestDock />);
  const waiting: RequestRow[] = [...conversation.pending.values()];
  if (waiting.length > 0 && dock.querySelector(".request-form")) asked.push(...waiting.map((row) => row.request.pending_id));
  gone(dock);
  live.close();
  return { texts, calls, asked, plan: plan.lines, wrong };
}
