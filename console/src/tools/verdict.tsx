/** A request that was answered or is no longer asked: one line. */
import type { RequestRow } from "../model/rows.js";
import { requestTitle } from "../model/titles.js";
import { Icon } from "../parts/icons.js";
import { Json } from "../parts/text.js";
import { frontendName } from "../state/access.js";
import { duration, known, time } from "../text/format.js";
import { visibleCode } from "../text/visible.js";
import { answerer } from "../text/words.js";

const CANCELLED: Record<string, string | undefined> = {
  cancelled: "withdrawn by the agent",
  interrupted: "the turn was stopped",
  process_exited: "the agent exited",
  timeout: "not answered in time",
  turn_ended: "the turn ended",
};
const REMEMBERED: Record<string, string | undefined> = {
  session: "until this session ends",
  localSettings: "in this project, for you",
  projectSettings: "in this project, for everyone",
  userSettings: "in all your projects",
};
const ANSWERS: Record<string, string | undefined> = { allow: "Allowed", deny: "Denied", ask: "Passed on to a person", answer: "Answered" };

/** `inCard`: below the call it is about, which says the rest. */
export function RequestOutcome({ row, inCard = false }: { row: RequestRow; inCard?: boolean }) {
  const { resolved, cancelled, request } = row;
  const title = request.type === "permission_request" ? request.permission_title : requestTitle(row);
  const payload = row.tool?.payload;
  const answers = request.type === "question_request" && payload?.kind === "ask_user" ? Object.entries(payload.ask_user.answers ?? {}) : [];
  const tone = resolved?.behavior === "deny" ? "bad" : resolved && known(ANSWERS, resolved.behavior) ? "good" : "plain";
  return (
    <div class={`request-over ${tone}`}>
      <div class="line">
        <Icon name={resolved?.behavior === "deny" ? "cross" : tone === "good" ? "check" : "clock"} />
        <span class="verb">{resolved ? (known(ANSWERS, resolved.behavior) ?? visibleCode(resolved.behavior)) : "No longer asked"}</span>
        <span class="subject">{!inCard && visibleCode(title)}</span>
        <span class="facts">
          {resolved?.by && <span>by {visibleCode(answerer(resolved.by, frontendName()))}</span>}
          {resolved?.waited_ms !== undefined && <span>after {duration(resolved.waited_ms)}</span>}
          {resolved?.destination && (
            <span>remembered {visibleCode(known(REMEMBERED, resolved.destination) ?? `in ${resolved.destination}`)}</span>
          )}
          {cancelled && <span>{known(CANCELLED, cancelled.reason ?? "cancelled") ?? visibleCode(String(cancelled.reason))}</span>}
          {!inCard && <time dateTime={row.ts}>{time(row.ts)}</time>}
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
