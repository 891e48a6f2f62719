/** What every part of the page may need: the hub, the session on screen, and how to open the inspector. */
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { ConsoleState } from "./console_state.js";
import type { LiveSession } from "./live.js";

/** The tabs of the inspector. */
export type Tab = "changes" | "files" | "shell" | "worktree" | "turn" | "events" | "session";

export interface Page {
  readonly hub: ConsoleState;
  /** Show an event in the inspector. */
  readonly inspect: (seq: number) => void;
  /** Open the inspector on one of its tabs. */
  readonly show: (tab: Tab) => void;
}

export const PageContext = createContext<Page | undefined>(undefined);
export const LiveContext = createContext<LiveSession | undefined>(undefined);

export function usePage(): Page {
  const page = useContext(PageContext);
  if (!page) throw new Error("this component stands outside of the page");
  return page;
}

export function useLive(): LiveSession {
  const live = useContext(LiveContext);
  if (!live) throw new Error("this component stands outside of a session");
  return live;
}
