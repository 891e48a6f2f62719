/**
 * The page's own words for what agents and the hub name otherwise. A request is allowed or denied. A permission mode says when the agent
 * asks, a policy says who answers. A word that is not known here is shown as it came.
 */
import type { PermissionOption, RateLimit } from "turnwire-client";
import { known, moment } from "./format.js";

/** A name of the wire, as `rate_limit`, as people read it. */
export const spaced = (word: string) => word.replaceAll("_", " ");

/** One sentence each, for those who choose. */
export const ABOUT_MODE = "The permission mode says when the agent asks.";
export const ABOUT_POLICY = "The policy says who answers when it asks.";

const POLICIES: Record<string, string> = {
  autonomous: "Approve everything",
  supervised: "Ask me",
  plan: "Plan only",
  cli: "As the agent is configured",
};

export const policyName = (policy: string) => known(POLICIES, policy) ?? policy;

/** Who answered a request: `by` is what a frontend calls itself, or a rule or policy of turnwire; `self` is this browser. */
export function answerer(by: string, self: string): string {
  if (by === self) return "you";
  if (by.startsWith("console-")) return "another browser";
  if (by === "notification") return "a notification";
  const [, kind, name = ""] = /^(policy|rule):(.+)$/.exec(by) ?? [];
  if (kind === "policy") return `the policy “${policyName(name)}”`;
  return kind === "rule" ? `rule ${name}` : by;
}

/** The name of an answer. Agents also say “reject” and “decline”. */
export const optionName = ({ name, kind }: PermissionOption) =>
  kind.startsWith("reject") ? name.replace(/^(?:reject|decline)\b/i, "Deny") : name;

const WINDOWS: Record<string, string> = {
  five_hour: "five hours",
  seven_day: "seven days",
  seven_day_opus: "seven days of Opus",
  seven_day_sonnet: "seven days of Sonnet",
  overage: "extra usage",
};

/** Which limit it is, and what of it; a message says it with the name of the wire. */
export const limitText = (message: string) =>
  message.replace(/\b[a-z]+(?:_[a-z]+)+\b/g, (word) => known(WINDOWS, word) ?? spaced(word)).replace(/\.?$/, ".");

/** Seconds since 1970 that can be when a limit ends: some agents send 0, and some milliseconds. */
const isTime = (seconds: number) => seconds > 1_000_000_000 && seconds < 10_000_000_000;

/** When a limit ends, in words; empty where the agent sent no such time. */
export function resetText({ resets_at: at }: RateLimit): string {
  return at === undefined || !isTime(at) ? "" : moment(at * 1000);
}
