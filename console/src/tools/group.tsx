/** Calls of one sort, one after another, as one row: `Read 10 files`, `To-do list changed 3×`. */
import { cardOf } from "../model/cards.js";
import type { ToolRow } from "../model/rows.js";
import { Icon } from "../parts/icons.js";
import { Badge, Fold, type Tone } from "../parts/parts.js";
import { useOpened } from "../state/opened.js";
import { visibleCode } from "../text/visible.js";
import { ToolCard } from "./card.js";
import { groupHead } from "./group_head.js";
import type { RowPart } from "./row_part.js";
import { statusOf } from "./status.js";

/** What is said of several: what is worst first, and that all is done only where all is. */
const ORDER: readonly Tone[] = ["bad", "warn", "busy", "plain", "good"];

/** Fewer commands than these stand each by itself. */
const RUN = 3;

/** Commands stay as they are until all went well and something else has come. */
const isRun = (calls: readonly ToolRow[]) =>
  calls.length >= RUN && calls[0]?.over === true && calls.every((call) => statusOf(call).tone === "good" && call.request === undefined);

export function ToolGroup({ row, Nested }: { row: ToolRow; Nested: RowPart }) {
  const calls = [row, ...row.group];
  const failed = calls.filter(({ status }) => status === "error").length;
  const [open, toggle] = useOpened(row, failed > 0, "grouped");
  if (cardOf(row.payload)?.shares === "commands" && !isRun(calls))
    return (
      <div class="calls">
        {calls.map((call) => (
          <ToolCard key={call.key} row={call} Nested={Nested} />
        ))}
      </div>
    );
  const stages = calls.map(statusOf);
  const { tone, text } = ORDER.flatMap((one) => stages.find((stage) => stage.tone === one) ?? [])[0] ?? statusOf(row);
  const word = failed > 0 ? `${failed} failed` : text;
  const { icon, verb, names, facts } = groupHead(calls);
  return (
    <article class={`card tool ${tone}`} aria-label={verb}>
      <Fold
        open={open}
        onToggle={toggle}
        head={
          <>
            <Icon name={icon} />
            <span class="verb">{verb}</span>
            <span class={`subject ${icon === "list" ? "" : "mono"}`}>{visibleCode(names)}</span>
            {facts && (
              <span class="facts">
                <span>{facts}</span>
              </span>
            )}
            {tone !== "good" && <Badge tone={tone}>{word}</Badge>}
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
