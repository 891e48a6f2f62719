/** What would happen if a request were allowed: all of it, and how large it is. */
import { createRef } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { JsonValue, NormalizedPayload, PermissionRequest } from "turnwire-client";
import type { RequestRow } from "../model/rows.js";
import type { Cuts } from "../parts/cuts.js";
import { Code, Json } from "../parts/text.js";
import { useSource } from "../state/source.js";
import { counted, hunksOf } from "../text/diff.js";
import { bytes, plural } from "../text/format.js";
import { visibleCode } from "../text/visible.js";
import { ToolBody } from "../tools/bodies.js";
import { Commentable } from "../tools/lines.js";

/** Arguments that the command or the change above shows already. */
const SHOWN: Partial<Record<NormalizedPayload["kind"], ReadonlySet<string>>> = {
  shell_exec: new Set(["command", "description"]),
  modify_file: new Set([
    ...["file_path", "path", "notebook_path", "filePath", "absolute_path"],
    ...["content", "file_text", "new_source", "old_string", "new_string", "oldString", "newString", "edits", "patch", "diff"],
  ]),
  subagent_task: new Set(["prompt"]),
};

const payloadOf = (row: RequestRow, request: PermissionRequest) => request.normalized ?? row.tool?.payload;

/** The arguments that nothing else in the dialog shows. */
function otherArguments(payload: NormalizedPayload | undefined, request: PermissionRequest): Record<string, JsonValue> | undefined {
  const input = request.tool_input ?? request.action_details;
  if (!input) return undefined;
  const shown = payload && SHOWN[payload.kind];
  const others = Object.entries(input).filter(([name, value]) => value !== null && !shown?.has(name));
  return others.length > 0 ? Object.fromEntries(others) : undefined;
}

export function Proposal({ row, request }: { row: RequestRow; request: PermissionRequest }) {
  const payload = payloadOf(row, request);
  if (payload?.kind === "show_plan")
    return (
      <div>
        <Commentable text={payload.show_plan.plan ?? row.tool?.plan?.plan_content ?? ""} source="Your plan" />
      </div>
    );
  const others = otherArguments(payload, request);
  const label = payload && SHOWN[payload.kind] ? "Other arguments" : "Arguments";
  return (
    <>
      {payload?.kind === "shell_exec" && payload.shell_exec.command && (
        <Code text={payload.shell_exec.command} language="bash" label="Command to run" />
      )}
      {payload?.kind === "shell_exec" && payload.shell_exec.description && (
        <p class="quiet">{visibleCode(payload.shell_exec.description)}</p>
      )}
      {request.agent_title && request.agent_title !== request.permission_title && (
        <p class="quiet">The agent calls it “{visibleCode(request.agent_title)}”.</p>
      )}
      {(payload?.kind === "modify_file" || payload?.kind === "subagent_task") && <ToolBody payload={payload} />}
      {others ? <Json value={others} label={label} /> : payload && !SHOWN[payload.kind] && <ToolBody payload={payload} />}
    </>
  );
}

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
  if (payload?.kind === "show_plan") return payload.show_plan.plan ? measured(payload.show_plan.plan) : undefined;
  if (payload?.kind === "modify_file") {
    const hunks = payload.modify_file.mutations.flatMap((mutation) => hunksOf(mutation) ?? []);
    const { added, removed } = counted(hunks);
    return hunks.length > 0 ? `${plural(added, "line")} added, ${removed} removed` : undefined;
  }
  const input: JsonValue | undefined = request.tool_input ?? request.action_details;
  return input ? bytes(JSON.stringify(input).length) : undefined;
}

/**
 * Whether the end of what is decided has been in view, with nothing cut. `content` is what is shown: another one has not been seen.
 * `hidden` is true once it is known that it has not.
 */
export function useSeen(cuts: Cuts, content: string) {
  useSource(cuts.changed);
  const end = useMemo(() => createRef<HTMLDivElement>(), []);
  const seenOf = useRef<string | undefined>(undefined);
  const [known, setKnown] = useState(false);
  const [, render] = useState(0);
  const whole = cuts.count === 0;
  useEffect(() => {
    const node = end.current;
    if (!node || !whole || seenOf.current === content) return;
    const observer = new IntersectionObserver((entries) => {
      setKnown(true);
      if (!entries.some((entry) => entry.isIntersecting)) return;
      seenOf.current = content;
      observer.disconnect();
      render((n) => n + 1);
    });
    observer.observe(node);
    return () => observer.disconnect();
  }, [content, whole]);
  const seen = seenOf.current === content;
  return { end, seen, hidden: !seen && (known || !whole) };
}
