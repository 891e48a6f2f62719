/** Calls of one sort, one after another, as one row: `Read 10 files`, `To-do list changed 3×`. */
import { useState } from "preact/hooks";
import type { ToolRow } from "../model/rows.js";
import { Icon } from "../parts/icons.js";
import { Badge, Fold, type Tone } from "../parts/parts.js";
import { visibleCode } from "../text/visible.js";
import { groupHead } from "./group_head.js";
import type { RowPart } from "./row_part.js";
import { statusOf } from "./status.js";

/** What is said of several: what is worst first, and that all is done only where all is. */
const ORDER: readonly Tone[] = ["bad", "warn", "busy", "plain", "good"];

export function ToolGroup({ row, Nested }: { row: ToolRow; Nested: RowPart }) {
  const [, render] = useState(0);
  const calls = [row, ...row.group];
  const failed = calls.filter(({ status }) => status === "error").length;
  const stages = calls.map(statusOf);
  const { tone, text } = ORDER.flatMap((one) => stages.find((stage) => stage.tone === one) ?? [])[0] ?? statusOf(row);
  const word = failed > 0 ? `${failed} failed` : text;
  const open = row.view.grouped ?? failed > 0;
  const { icon, verb, names } = groupHead(calls);
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
            <Badge tone={tone}>{word}</Badge>
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
