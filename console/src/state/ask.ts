/** Asks the hub, and again whenever the question or the connection is another one. */
import { useEffect, useState } from "preact/hooks";
import type { CommandInput, JsonValue } from "turnwire-client";
import { usePage } from "../view/context.js";
import { useSource } from "./source.js";

export interface Asked {
  readonly answer: JsonValue | undefined;
  readonly error: string | undefined;
  readonly again: () => void;
}

/** The answer to this very command; while it is asked for again, the one before. Nothing is asked without a command. */
export function useAnswer(command: CommandInput | undefined): Asked {
  const { hub } = usePage();
  useSource(hub.changed);
  const [state, set] = useState<{ key: string; answer?: JsonValue; error?: string }>({ key: "" });
  const [round, ask] = useState(0);
  const key = JSON.stringify(command);
  const open = hub.state === "open";
  useEffect(() => {
    if (!open || !command) return;
    let wanted = true;
    hub.client.command(command).then(
      (answer) => wanted && set({ key, answer }),
      (error: unknown) => wanted && set({ key, error: error instanceof Error ? error.message : String(error) }),
    );
    return () => {
      wanted = false;
    };
  }, [key, open, round]);
  return {
    answer: state.key === key ? state.answer : undefined,
    error: state.key === key ? state.error : undefined,
    again: () => ask(round + 1),
  };
}

export type Members = Record<string, JsonValue | undefined>;

export function members(value: JsonValue | undefined): Members {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value : {};
}
