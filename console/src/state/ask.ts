/** Asks the hub, and again whenever the question or the connection is another one. */
import { useEffect, useState } from "preact/hooks";
import type { CommandInput, JsonValue, ResultOf } from "turnwire-client";
import { whyNot } from "./console_state.js";
import { usePage } from "./context.js";
import { useSource } from "./source.js";

export interface Asked<Answer = JsonValue> {
  readonly answer: Answer | undefined;
  readonly error: string | undefined;
  readonly again: () => void;
}

/**
 * The answer to this very command; while it is asked for again, the one before. Nothing is asked without a command.
 *
 * `follow` says what is asked next, whose answer takes the place of this one; undefined for nothing. The same question once more
 * means that nothing has changed. Where what is asked next is refused, the answer stays as it is.
 */
export function useAnswer(command: CommandInput | undefined, follow?: (answer: JsonValue) => CommandInput | undefined): Asked {
  const { hub } = usePage();
  useSource(hub.changed);
  const [state, set] = useState<{ key: string; answer?: JsonValue; error?: string }>({ key: "" });
  const [round, ask] = useState(0);
  const key = JSON.stringify(command);
  const open = hub.state === "open";
  useEffect(() => {
    if (!open || !command) return;
    let wanted = true;
    const send = (asked: CommandInput, isFirst: boolean): void => {
      (hub.client.command(asked) as Promise<unknown> as Promise<JsonValue>).then(
        (answer) => {
          if (!wanted) return;
          const following = follow?.(answer);
          if (isFirst || JSON.stringify(following) !== JSON.stringify(asked)) set({ key, answer });
          if (following) send(following, false);
        },
        (error: unknown) => {
          if (wanted && isFirst) set({ key, error: whyNot(error) });
        },
      );
    };
    send(command, true);
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

/** The same, as the hub's own type of it. */
export function useResult<Command extends CommandInput>(command: Command | undefined): Asked<ResultOf<Command["type"]>> {
  return useAnswer(command) as Asked<unknown> as Asked<ResultOf<Command["type"]>>;
}

export type Members = Record<string, JsonValue | undefined>;

export function members(value: JsonValue | undefined): Members {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value : {};
}
