/** What would happen if a request were allowed: all of it, and how large it is. */
import { createRef, type RefObject } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { JsonValue, NormalizedPayload, PermissionRequest } from "turnwire-client";
import { cardOf, pathOf } from "../model/cards.js";
import type { RequestRow } from "../model/rows.js";
import type { Cuts } from "../parts/cuts.js";
import { useHome } from "../parts/path.js";
import { Code, Json } from "../parts/text.js";
import { useSource } from "../state/source.js";
import { counted, hunksOf } from "../text/diff.js";
import { bytes, count, plural } from "../text/format.js";
import { orderedCode, visibleCode } from "../text/visible.js";
import { Todos, ToolBody } from "../tools/bodies.js";
import { Commentable } from "../tools/lines.js";
import { isEndInSight, isShort, LOOK_MS } from "./sight.js";

export const payloadOf = (row: RequestRow, request: PermissionRequest) => request.normalized ?? row.tool?.payload;

/** The plan that is shown: the request's text, or else the call's entries or text. */
const planOf = (row: RequestRow, { show_plan }: Extract<NormalizedPayload, { kind: "show_plan" }>) =>
  show_plan.plan || row.tool?.plan?.items || row.tool?.plan?.plan_content || "";

/** All that is not a list or an object, however deep. */
function leaves(value: unknown): unknown[] {
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(leaves) : [value];
}

/** The arguments that nothing else in the dialog shows: told by what they say, as an agent may tell one thing twice and differently. */
function otherArguments(
  payload: NormalizedPayload | undefined,
  request: PermissionRequest,
  home: string,
): Record<string, JsonValue> | undefined {
  const input = request.tool_input ?? {};
  const isNew = (shown: unknown[]) => {
    const texts = new Set(shown.filter((one) => typeof one === "string"));
    return ([, value]: [string, JsonValue]) => !leaves(value).every((leaf) => leaf === null || texts.has(leaf as string));
  };
  const shown = (payload && cardOf(payload)?.shows?.(payload, home)) ?? [];
  const others = Object.fromEntries([
    ...Object.entries(request.action_details ?? {}).filter(isNew([...shown, ...leaves(input)])),
    ...Object.entries(input).filter(isNew(shown)),
  ]);
  return Object.keys(others).length > 0 ? others : undefined;
}

/** Characters of a path that the head shows whole at any width; all of a longer one stands below. */
const WHOLE_PATH = 30;

/** Characters of a subject that stand in the head; all of a longer one stands below. */
export const SUBJECT = 120;

/** What stands in the head of a text: its beginning, marked as such. */
export const shortened = (text: string) =>
  text.length > SUBJECT ? `${text.slice(0, SUBJECT)} … (${count(text.length)} characters)` : text;

export function Proposal({ row, request }: { row: RequestRow; request: PermissionRequest }) {
  const payload = payloadOf(row, request);
  const home = useHome();
  if (payload?.kind === "show_plan") {
    const plan = planOf(row, payload);
    return <div>{typeof plan === "string" ? <Commentable text={plan} source="Your plan" /> : <Todos items={plan} />}</div>;
  }
  const viewed = cardOf(payload)?.shows !== undefined;
  const path = viewed ? (pathOf(payload) ?? "") : "";
  const others = otherArguments(payload, request, home);
  const { permission_title: title, blocked_path: blocked } = request;
  // In a short window the head shows less still: what is told nowhere else stands here.
  const isCut = title.length > (others || payload ? SUBJECT : WHOLE_PATH);
  return (
    <>
      {isCut && payload?.kind !== "shell_exec" && <Code text={title} label="What the agent calls it" />}
      {blocked !== undefined && blocked.length > SUBJECT && <Code text={blocked} label="The path it concerns" />}
      {payload?.kind === "shell_exec" && payload.shell_exec.command && (
        <Code text={payload.shell_exec.command} language="bash" label="Command to run" />
      )}
      {payload?.kind === "shell_exec" && payload.shell_exec.description && (
        <p class="quiet">{visibleCode(payload.shell_exec.description)}</p>
      )}
      {request.agent_title && request.agent_title !== request.permission_title && (
        <p class="quiet">The agent calls it “{visibleCode(request.agent_title)}”.</p>
      )}
      {path.length > WHOLE_PATH && (
        <p class="quiet">
          <code>{orderedCode(path)}</code>
        </p>
      )}
      {payload && viewed && payload.kind !== "shell_exec" && <ToolBody payload={payload} />}
      {others && <Json value={others} label={viewed ? "Other arguments" : "Arguments"} />}
      {!others && payload && !viewed && <Json value={payload} label="Arguments" />}
      {!others && !payload && <p class="quiet">The agent says nothing more about it.</p>}
    </>
  );
}

/** What no content is. */
const UNSEEN = Symbol("unseen");

/** Characters of one line that are told no size. */
const SHORT = 120;

const measured = (text: string) => {
  if (text.length <= SHORT && !text.includes("\n")) return undefined;
  const lines = text.replace(/\n$/, "").split("\n").length;
  return `${plural(lines, "line")}, ${bytes(new TextEncoder().encode(text).length)}`;
};

/** How large what is allowed is, in words: `61 lines, 2.0 kB`. */
export function sizeOf(row: RequestRow, request: PermissionRequest): string | undefined {
  const payload = payloadOf(row, request);
  if (payload?.kind === "shell_exec") return payload.shell_exec.command ? measured(payload.shell_exec.command) : undefined;
  if (payload?.kind === "show_plan") {
    const plan = planOf(row, payload);
    return typeof plan === "string" ? measured(plan) : plural(plan.length, "item");
  }
  if (payload?.kind === "modify_file") {
    const hunks = payload.modify_file.mutations.flatMap((mutation) => hunksOf(mutation) ?? []);
    const { added, removed } = counted(hunks);
    return hunks.length > 0 ? `${plural(added, "line")} added, ${removed} removed` : undefined;
  }
  const input: JsonValue | undefined = request.tool_input ?? request.action_details;
  return input ? bytes(JSON.stringify(input).length) : undefined;
}

/**
 * Whether the end of what is decided has been in view, with nothing cut, or all of it is so little that it needs no scrolling in a window
 * of usual size. `content` is what is shown: another one has not been seen. What has a field to edit it is seen at the end of that field.
 * `hidden` is true once it is known that it has not.
 */
export function useSeen(cuts: Cuts, content: unknown, field?: RefObject<HTMLTextAreaElement | null>) {
  useSource(cuts.changed);
  const end = useMemo(() => createRef<HTMLDivElement>(), []);
  const seenOf = useRef<unknown>(UNSEEN);
  const [known, setKnown] = useState(false);
  const [, render] = useState(0);
  const whole = cuts.count === 0;
  const seen = seenOf.current === content;
  useEffect(() => {
    if (!whole || seen) return;
    function look(): void {
      setKnown(true);
      const edited = field?.current ?? null;
      if (cuts.count > 0 || !(isShort(end.current, edited) || isEndInSight(end.current, edited))) return;
      seenOf.current = content;
      render((n) => n + 1);
    }
    // At once: the next step of the dialog may move its end out of sight before the timer is heard, on a busy machine.
    look();
    const timer = setInterval(look, LOOK_MS);
    return () => clearInterval(timer);
  }, [content, whole, seen]);
  return { end, seen, hidden: !seen && (known || !whole) };
}
