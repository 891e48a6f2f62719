/** What the card of a call is, by the kind of its payload: whether it stands open, and with which calls beside it it shares a row. Pure. */
import type { NormalizedPayload } from "turnwire-client";
import { known } from "../text/format.js";

export interface Card {
  /** Its body says more than its head, and is short enough to stand open. */
  readonly opens: boolean;
  /** Calls one after another that have this in common share a row. */
  readonly shares?: "looks" | "todos" | "commands";
}

const CARDS: Record<NormalizedPayload["kind"], Card> = {
  read_file: { opens: false, shares: "looks" },
  modify_file: { opens: true },
  shell_exec: { opens: true, shares: "commands" },
  code_search: { opens: false, shares: "looks" },
  http_request: { opens: false },
  subagent_task: { opens: false },
  create_task: { opens: false, shares: "todos" },
  manage_todos: { opens: true, shares: "todos" },
  show_plan: { opens: false },
  ask_user: { opens: false },
  mcp_tool: { opens: false },
  generic: { opens: false },
  misc: { opens: false },
};

/** Undefined without a payload, and of a kind that a newer hub has. */
export const cardOf = (payload: NormalizedPayload | undefined): Card | undefined => known(CARDS, payload?.kind);
