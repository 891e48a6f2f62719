/** The options of a permission request that count once, whatever else the agent offers and in whatever order. */
import type { PermissionOption, PermissionRequest } from "./schema.js";

/** Return the id of the option that allows this call and no later one; throws if the agent offers none. */
export const allowOnce = (request: PermissionRequest): string => optionOf(request, "allow_once");

/** Return the id of the option that refuses this call, and no later one if the agent offers that; throws if it offers none. */
export const deny = (request: PermissionRequest): string => optionOf(request, "reject_once", "reject_always");

/** Return one text for an answer: the name of one that counts once, and what any other comes to. */
export const label = ({ kind, name, effect }: PermissionOption): string =>
  kind === "allow_once" || kind === "reject_once" ? name : (effect ?? name);

function optionOf(request: PermissionRequest, ...kinds: PermissionOption["kind"][]): string {
  const offered = request.permission_options;
  for (const kind of kinds) {
    const option = offered.find((one) => one.kind === kind);
    if (option) return option.option_id;
  }
  const known = offered.map((one) => `${one.option_id} (${one.kind})`).join(", ") || "none";
  throw new RangeError(
    `Request ${request.pending_id} has no option of the kind ${kinds.join(" or ")}. Choose among its options: ${known}.`,
  );
}
