/** The models that agents have named here, so that a new session offers those of its agent; kept in this browser. */
import type { SessionSummary } from "turnwire-client";
import { inBrowser } from "./kept.js";

/** Agent, id and name. */
type Known = readonly [agent: string, id: string, name: string];

const MOST = 200;
const isKnown = (value: unknown): value is Known =>
  Array.isArray(value) && value.length === 3 && value.every((part) => typeof part === "string");

/** Keep what a running agent lists. */
export function rememberModels(agent: string | undefined, models: ReadonlyArray<{ id: string; name?: string | undefined }>): void {
  if (agent === undefined || models.length === 0) return;
  const others = inBrowser.list("models", isKnown).filter(([of]) => of !== agent);
  inBrowser.setList("models", [...others, ...models.map(({ id, name }) => [agent, id, name ?? id])].slice(-MOST));
}

/** Ids and names of an agent's models: those it has listed, and those its sessions use. */
export function modelsOf(sessions: readonly SessionSummary[], agent: string | undefined): Array<readonly [id: string, name: string]> {
  const listed = inBrowser.list("models", isKnown).flatMap(([of, id, name]) => (of === agent ? [[id, name] as const] : []));
  const used = sessions.flatMap((one) => (one.agent === agent && one.model !== undefined ? [[one.model, one.model] as const] : []));
  return [...new Map([...used, ...listed])];
}
