/** Questions of the agent with their choices, and what MCP servers ask for by schema or by address. */
import { useMemo, useRef, useState } from "preact/hooks";
import type { JsonValue, QuestionRequest } from "turnwire-client";
import type { RequestRow } from "../model/rows.js";
import { Cuts } from "../parts/cuts.js";
import { Json } from "../parts/text.js";
import { useLive, usePage } from "../state/context.js";
import { visibleCode } from "../text/visible.js";
import { Decide } from "./decide.js";
import type { Docked } from "./docked.js";
import { useDraft } from "./draft.js";
import { Late } from "./late.js";
import { useSeen } from "./proposal.js";
import { fieldsOf, SchemaForm, startValues, toContent, type Values } from "./schema_form.js";

interface Draft {
  chosen: Record<string, string[]>;
  other: Record<string, string>;
}

interface Props {
  row: RequestRow;
  request: QuestionRequest;
  docked: Docked;
}

export function QuestionForm({ row, request, docked }: Props) {
  const { hub } = usePage();
  const { id: session } = useLive();
  const [draft, change] = useDraft<Draft>(row, () => ({ chosen: {}, other: {} }));
  const [busy, setBusy] = useState(false);
  const [arrived, arrive] = useState(false);
  const questions = request.questions ?? [];

  function choose(question: string, label: string, many: boolean): void {
    change(({ chosen, other }) => {
      const before = chosen[question] ?? [];
      const after = !many ? [label] : before.includes(label) ? before.filter((one) => one !== label) : [...before, label];
      return { other: many ? other : { ...other, [question]: "" }, chosen: { ...chosen, [question]: after } };
    });
  }

  function write(question: string, text: string, many: boolean): void {
    change(({ chosen, other }) => ({
      other: { ...other, [question]: text },
      chosen: many ? chosen : { ...chosen, [question]: [] },
    }));
  }

  const answersOf = (question: string) => [
    ...(draft.chosen[question] ?? []),
    ...(draft.other[question]?.trim() ? [draft.other[question].trim()] : []),
  ];
  const complete = questions.every(({ question }) => answersOf(question).length > 0);

  async function send(accept: boolean): Promise<void> {
    if (busy) return;
    setBusy(true);
    docked.answered();
    const answers = Object.fromEntries(questions.map(({ question }) => [question, answersOf(question).join(", ")]));
    const reply = await hub.run({
      type: "question.answer",
      session,
      pending_id: request.pending_id,
      ...(accept ? { answers, action: "accept" as const } : { action: "decline" as const }),
    });
    if (reply === undefined) setBusy(false);
    else arrive(true);
  }

  return (
    <form class="request-form" tabIndex={-1} onSubmit={(event) => event.preventDefault()}>
      <div class="request-body" tabIndex={0} role="group" aria-label="Questions">
        {questions.map((question, at) => (
          <fieldset key={question.question}>
            <legend>
              {question.header && <span class="chip">{visibleCode(question.header)}</span>} {visibleCode(question.question)}
            </legend>
            {question.options.map((option) => (
              <label key={option.label} class="choice">
                <input
                  type={question.multi_select ? "checkbox" : "radio"}
                  name={`${request.pending_id}-${at}`}
                  checked={(draft.chosen[question.question] ?? []).includes(option.label)}
                  onChange={() => choose(question.question, option.label, question.multi_select)}
                />
                <span>
                  <b>{visibleCode(option.label)}</b>
                  {option.description && <small>{visibleCode(option.description)}</small>}
                </span>
              </label>
            ))}
            <label class="message">
              <span>Another answer</span>
              <input
                type="text"
                dir="auto"
                value={draft.other[question.question] ?? ""}
                onInput={(event) => write(question.question, event.currentTarget.value, question.multi_select)}
              />
            </label>
          </fieldset>
        ))}
      </div>
      <div class="request-foot">
        <div class="buttons">
          <Decide submit className="primary" meaning={request.pending_id} blocked={!complete || busy} onDecide={() => void send(true)}>
            Answer
          </Decide>
          <Decide className="danger" meaning={request.pending_id} blocked={busy} onDecide={() => void send(false)}>
            Deny
          </Decide>
        </div>
        <Late busy={busy && !arrived} />
      </div>
    </form>
  );
}

export function ElicitationForm({ row, request, docked }: Props) {
  const { hub } = usePage();
  const { id: session } = useLive();
  const fields = fieldsOf(request.requested_schema);
  const [values, change] = useDraft<Values>(row, () => startValues(fields));
  const [free, setFree] = useState("");
  const [wrong, setWrong] = useState("");
  const [busy, setBusy] = useState(false);
  const [arrived, arrive] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  // A field further down may have been filled in by who asks.
  const { end, seen, hidden } = useSeen(
    useMemo(() => new Cuts(), []),
    request,
  );
  const address = request.url !== undefined && /^https?:\/\//i.test(request.url) ? request.url : undefined;

  async function send(action: "accept" | "decline" | "cancel"): Promise<void> {
    if (busy) return;
    let content: JsonValue | undefined;
    if (action === "accept") {
      try {
        content = fields.length > 0 ? toContent(fields, values) : free.trim() ? (JSON.parse(free) as JsonValue) : undefined;
      } catch (error) {
        return setWrong(
          `This is not JSON yet: ${error instanceof Error ? error.message : String(error)}. Correct it, or leave the field empty.`,
        );
      }
    }
    setBusy(true);
    docked.answered();
    const reply = await hub.run({
      type: "question.answer",
      session,
      pending_id: request.pending_id,
      action,
      ...(content !== undefined && { content }),
    });
    if (reply === undefined) setBusy(false);
    else arrive(true);
  }

  return (
    <form ref={form} class="request-form" tabIndex={-1} onSubmit={(event) => event.preventDefault()}>
      <div class="request-body" tabIndex={0} role="group" aria-label="What is asked">
        {request.message && <p>{visibleCode(request.message)}</p>}
        {request.url && (
          <p>
            {address ? (
              <a href={address} target="_blank" rel="noopener noreferrer">
                {visibleCode(address)}
              </a>
            ) : (
              <code>{visibleCode(request.url)}</code>
            )}
          </p>
        )}
        {fields.length > 0 && (
          <SchemaForm fields={fields} values={values} onChange={(changed) => change((before) => ({ ...before, ...changed }))} />
        )}
        {fields.length === 0 && !request.url && (
          <label class="edit">
            <span>Answer as JSON, if one is needed</span>
            <textarea rows={3} value={free} onInput={(event) => setFree(event.currentTarget.value)} />
          </label>
        )}
        {request.details && <Json value={request.details} label="The request as it came" />}
        <div ref={end} class="end" />
      </div>
      <div class="request-foot">
        {hidden && (
          <p class="unseen" role="status">
            You have not seen the end of this.{" "}
            <button type="button" class="more" onClick={() => end.current?.scrollIntoView({ block: "end" })}>
              Go to the end
            </button>
          </p>
        )}
        {wrong && (
          <p class="wrong" role="alert">
            {wrong}
          </p>
        )}
        <div class="buttons">
          <Decide
            submit
            className="primary"
            meaning={`${request.pending_id} ${seen}`}
            blocked={busy || !seen}
            onDecide={() => {
              if (form.current?.reportValidity()) void send("accept");
            }}
          >
            Accept
          </Decide>
          <Decide className="danger" meaning={request.pending_id} blocked={busy} onDecide={() => void send("decline")}>
            Deny
          </Decide>
          <Decide className="quiet-button" meaning={request.pending_id} blocked={busy} onDecide={() => void send("cancel")}>
            Cancel
          </Decide>
        </div>
        <Late busy={busy && !arrived} />
      </div>
    </form>
  );
}
