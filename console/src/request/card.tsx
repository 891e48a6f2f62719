/** A request that waits for a human: a dialog while it waits, one line once it is over. */
import { useEffect, useRef } from "preact/hooks";
import type { RequestRow } from "../model/rows.js";
import { duration, time } from "../text/format.js";
import { visibleCode } from "../text/visible.js";
import { usePage } from "../view/context.js";
import { Icon } from "../view/icons.js";
import { Badge } from "../view/parts.js";
import { Json } from "../view/text.js";
import { PermissionForm } from "./permission.js";
import { ElicitationForm, QuestionForm } from "./question.js";

const CANCELLED = {
  cancelled: "withdrawn by the agent",
  interrupted: "the turn was stopped",
  process_exited: "the agent exited",
  timeout: "nobody answered in time",
  turn_ended: "the turn ended",
} as const;
const ACTIONS = {
  command: "May the agent run this command?",
  file_write: "May the agent change this file?",
  file_read: "May the agent read this?",
  network: "May the agent reach the network?",
  mcp_tool: "May the agent use this tool?",
  other: "May the agent do this?",
} as const;
const ANSWERS = { allow: "Allowed", deny: "Denied", ask: "Passed on to a human", answer: "Answered" } as const;

export function requestTitle(row: RequestRow): string {
  const { request } = row;
  if (request.type === "permission_request") return isPlan(row) ? "The agent’s plan waits for your approval" : ACTIONS[request.action_type];
  if (request.kind === "ask_user") return request.questions?.length === 1 ? "The agent has a question" : "The agent has questions";
  return request.mcp_server ? `${request.mcp_server} asks you` : "You are asked";
}

export function isPlan(row: RequestRow): boolean {
  return (
    row.request.type === "permission_request" && (row.request.tool_name === "ExitPlanMode" || row.request.normalized?.kind === "show_plan")
  );
}

function Over({ row }: { row: RequestRow }) {
  const { resolved, cancelled, request } = row;
  const title = request.type === "permission_request" ? request.permission_title : requestTitle(row);
  const payload = row.tool?.payload;
  const answers = request.type === "question_request" && payload?.kind === "ask_user" ? Object.entries(payload.ask_user.answers ?? {}) : [];
  const tone = resolved?.behavior === "deny" ? "bad" : resolved ? "good" : "plain";
  return (
    <div class={`request-over ${tone}`}>
      <div class="line">
        <Icon name={resolved?.behavior === "deny" ? "cross" : resolved ? "check" : "clock"} />
        <span class="verb">{resolved ? ANSWERS[resolved.behavior] : "No longer asked"}</span>
        <span class="subject">{visibleCode(title)}</span>
        <span class="facts">
          {resolved?.by && <span>by {visibleCode(resolved.by)}</span>}
          {resolved?.waited_ms !== undefined && <span>after {duration(resolved.waited_ms)}</span>}
          {resolved?.destination && <span>remembered in {visibleCode(resolved.destination)}</span>}
          {cancelled && <span>{CANCELLED[cancelled.reason ?? "cancelled"]}</span>}
          <time dateTime={row.ts}>{time(row.ts)}</time>
        </span>
      </div>
      {answers.map(([question, answer]) => (
        <p key={question} class="said-to-agent">
          {visibleCode(question)} <b>{visibleCode(answer)}</b>
        </p>
      ))}
      {resolved?.message && <p class="said-to-agent">“{visibleCode(resolved.message)}”</p>}
      {resolved?.updated_input && request.type === "permission_request" && (
        <details>
          <summary>Input as edited</summary>
          <Json value={resolved.updated_input} label="Input as edited" />
        </details>
      )}
    </div>
  );
}

export function RequestCard({ row }: { row: RequestRow }) {
  const { hub } = usePage();
  const node = useRef<HTMLElement>(null);
  const waiting = !row.resolved && !row.cancelled;
  const { request } = row;

  // Someone who is not typing can answer by keyboard at once.
  useEffect(() => {
    const typing = document.activeElement instanceof HTMLTextAreaElement && document.activeElement.value !== "";
    if (waiting && !typing && row.view.draft === undefined)
      node.current?.querySelector<HTMLElement>(".request-form")?.focus({ preventScroll: true });
  }, [waiting]);

  if (!waiting) return <Over row={row} />;
  const title = requestTitle(row);
  return (
    <section class="request" role="group" aria-label={visibleCode(title)} ref={node} data-pending={request.pending_id}>
      <header>
        <Icon name={request.type === "permission_request" ? (isPlan(row) ? "plan" : "shield") : "ask"} />
        <h3>{visibleCode(title)}</h3>
        <Badge tone="warn">waits for you</Badge>
      </header>
      {hub.mayControl ? <Form row={row} /> : <p class="quiet">You may watch this session, but not answer for it.</p>}
    </section>
  );
}

function Form({ row }: { row: RequestRow }) {
  const { request } = row;
  if (request.type === "permission_request") return <PermissionForm row={row} request={request} plan={isPlan(row)} />;
  return request.kind === "ask_user" && request.questions ? (
    <QuestionForm row={row} request={request} />
  ) : (
    <ElicitationForm row={row} request={request} />
  );
}
