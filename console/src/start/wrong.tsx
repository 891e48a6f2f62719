/** What is wrong with a new session, in words of the page, and at which field. */
import { CommandFailed } from "turnwire-client";
import { whyNot } from "../state/console_state.js";
import { visibleCode } from "../text/visible.js";

export interface Wrong {
  /** The field of the command; undefined where none is named. */
  readonly field: string | undefined;
  readonly text: string;
}

/** By the field and the code of the refusal; the hub's own words, which are for programs, are told of all others. */
const WORDS: Record<string, Record<string, string>> = {
  workspace: {
    not_allowed:
      "Sessions may not work in this folder. “Browse folders” lists the folders that are allowed. Whoever runs turnwire can add it, by the setting frontend_workspaces.",
    no_worker: "No machine that runs now may work in this folder. Choose another folder or machine.",
  },
  agent: { not_allowed: "This agent is not set up here. Choose another.", no_worker: "No machine that runs now has this agent." },
  worker: { no_worker: "No machine of this name or label runs now. Choose another." },
  permission_mode: {
    not_allowed:
      "This mode lets the agent act without asking, which is not allowed here. Choose another. Whoever runs turnwire can allow it, by the setting frontend_policy.",
  },
  policy: {
    not_allowed:
      "This policy asks less than is allowed here. Choose a stricter one. Whoever runs turnwire can allow it, by the setting frontend_policy.",
  },
};

export function wrongOf(error: unknown): Wrong {
  if (!(error instanceof CommandFailed)) return { field: undefined, text: whyNot(error) };
  // A part of a field is told at it: `worktree.branch`.
  const field = error.field?.split(".")[0];
  const words = field === undefined ? undefined : WORDS[field]?.[error.code];
  return { field, text: words ?? visibleCode(whyNot(error)) };
}

/** Says what is wrong at a field, where it is that one. */
export function WrongAt({ wrong, field }: { wrong: Wrong | undefined; field: string | undefined }) {
  if (wrong === undefined || wrong.field !== field) return null;
  return (
    <p class="wrong" role="alert" id={WRONG}>
      {wrong.text}
    </p>
  );
}

const WRONG = "wrong-in-new-session";

/** Attributes of the field that is wrong, by which it is found, marked and told of to who does not see it. */
export const marked = (wrong: Wrong | undefined, field: string) =>
  wrong?.field === field ? { "aria-invalid": true, "aria-describedby": WRONG } : {};
