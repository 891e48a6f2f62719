/** Calls of one sort, one after another, as one row: `Read 10 files`, `To-do list changed 3×`. */
import { useState } from "preact/hooks";
import type { ToolRow } from "../model/rows.js";
import { Icon } from "../parts/icons.js";
import { Badge, Fold } from "../parts/parts.js";
import { visibleCode } from "../text/visible.js";
import { groupHead } from "./group_head.js";
import type { RowPart } from "./row_part.js";

export function ToolGroup({ row, Nested }: { row: ToolRow; Nested: RowPart }) {
  const [, render] = useState(0);
  const calls = [row, ...row.group];
  const failed = calls.filter(({ status }) => status === "error").length;
  const asked = calls.some(({ request }) => request !== undefined && !request.resolved && !request.cancelled);
  const running = calls.some(({ status }) => status === "running");
  const unknown = calls.find(({ status }) => !["running", "complete", "error"].includes(status));
  const open = row.view.grouped ?? failed > 0;
  const { icon, verb, names } = groupHead(calls);
  const tone = failed > 0 ? "bad" : asked || unknown ? "warn" : running ? "busy" : "good";
  const word = failed > 0 ? `${failed} failed` : asked ? "waits for you" : unknown ? unknown.status : running ? "running" : "done";
  return (
    <article class={`card tool ${tone}`} aria-label={verb}>
      <Fold
        open={open}
        onToggle={() => {
          row.view.grouped = !open;
          render((n) => n + 1);
        }}
        head={
          <>
            <Icon name={icon} />
            <span class="verb">{verb}</span>
            <span class={`subject ${icon === "list" ? "" : "mono"}`}>{visibleCode(names)}</span>
            <Badge tone={tone}>{visibleCode(word)}</Badge>
          </>
        }
      >
        <div class="card-body">
          {calls.map((call) => (
            <Nested key={call.key} row={call} />
          ))}
        </div>
      </Fold>
    </article>
  );
}
