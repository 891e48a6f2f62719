/**
 * What waits for you, docked above the prompt: one request at a time, its title, its path and its buttons always in
 * sight. It never takes the focus: a person gives it, by a click, Tab or Alt+R. It answers to keys only while the form itself has
 * the focus, and in the console alone. That a request waits is told to screen readers by a live region.
 */
import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { RequestRow } from "../model/rows.js";
import { isPlan, requestTitle, subjectOf } from "../model/titles.js";
import { Boundary } from "../parts/boundary.js";
import { Icon } from "../parts/icons.js";
import { nothingHasFocus, rootOf } from "../parts/keyboard.js";
import { IconButton } from "../parts/parts.js";
import { Path, useHome } from "../parts/path.js";
import { useLive, usePage } from "../state/context.js";
import { useSource } from "../state/source.js";
import { isInside } from "../text/path.js";
import { orderedCode, visibleCode } from "../text/visible.js";
import type { Docked } from "./docked.js";
import { KeyGuard, writes } from "./key_guard.js";
import { PermissionForm } from "./permission.js";
import { shortened, sizeOf } from "./proposal.js";
import { ElicitationForm, QuestionForm } from "./question.js";

const EDITABLE = "input, textarea, select, [contenteditable]";

/** Heights below which what decides needs the room of all else, and below which all of it scrolls but the answers, in pixels. */
const LOW = { low: 640, lowest: 460 };

/**
 * Marks a dock by how high the part of the page is that it stands in: a phone on its side or with its keyboard, a page at twice its size,
 * a small element in another page. Not by a container query: where one asks for a height, Chromium lays a dialog out anew at each look.
 */
function useRoom(dock: RefObject<HTMLElement | null>, isShown: boolean): void {
  useLayoutEffect(() => {
    const around = dock.current?.parentElement;
    if (!around) return;
    const mark = () => {
      for (const [name, height] of Object.entries(LOW)) dock.current?.classList.toggle(name, around.clientHeight <= height);
    };
    mark();
    const observer = new ResizeObserver(mark);
    observer.observe(around);
    return () => observer.disconnect();
  }, [isShown]);
}

export function RequestDock() {
  const live = useLive();
  useSource(live.changed);
  const [chosen, choose] = useState<string | undefined>(undefined);
  const waiting = live.caughtUp ? [...live.conversation.pending.values()] : [];
  const found = waiting.findIndex((row) => row.request.pending_id === chosen);
  const index = Math.max(0, found);
  const row = waiting[index];
  const id = row?.request.pending_id;
  const dock = useRef<HTMLElement>(null);
  const byUs = useRef<string | undefined>(undefined);

  // Read while the request that goes still stands there: with it its focus falls to the page.
  const left = useRef<Element | null>(null);
  const shown = useRef(id);
  if (shown.current !== id) {
    const focused = dock.current && rootOf(dock.current).activeElement;
    left.current = dock.current?.contains(focused) ? focused : null;
  }

  // The request in sight stays in sight, whatever else arrives or goes.
  useEffect(() => {
    if (id !== undefined && id !== chosen) choose(id);
  }, [id]);

  const announced = useRef<HTMLParagraphElement>(null);
  useLayoutEffect(() => {
    const before = shown.current;
    shown.current = id;
    const from = left.current;
    left.current = null;
    // Who had the focus in the request that went keeps it beside the next one, where no key decides.
    if (from === null || !nothingHasFocus()) return;
    if (dock.current) {
      const stepped = [...dock.current.querySelectorAll<HTMLElement>(".place button")].find(
        (one) => one.title === from.getAttribute("title"),
      );
      (stepped ?? dock.current).focus({ preventScroll: true });
    } else if (announced.current) {
      // Who was writing a reason when somebody else answered must not go on writing, and sending, a prompt.
      const answered = before !== undefined && byUs.current === before;
      const back = answered && matchMedia("(pointer: fine)").matches ? ".composer textarea" : ".scroller[aria-label=Conversation]";
      rootOf(announced.current).querySelector<HTMLElement>(back)?.focus({ preventScroll: true });
    }
  }, [id]);

  useRoom(dock, id !== undefined);

  function step(by: number): void {
    const next = waiting[(index + by + waiting.length) % waiting.length];
    choose(next?.request.pending_id);
  }

  return (
    <>
      <p class="heard" role="status" aria-live="assertive" ref={announced}>
        {/* Another node for each: the same words again would not be read out. */}
        {row && <span key={id}>{visibleCode(requestTitle(row))}</span>}
      </p>
      {row && (
        <section class="dock" aria-label="Waits for you" tabIndex={-1} ref={dock}>
          <Boundary key={id} what="this request" seq={row.lastSeq}>
            <Request
              row={row}
              onAnswered={() => (byUs.current = id)}
              place={
                waiting.length > 1 && (
                  <span class="place">
                    <IconButton icon="back" label="The request before" onClick={() => step(-1)} />
                    <span>
                      {index + 1} of {waiting.length}
                    </span>
                    <IconButton icon="chevron" label="The next request" onClick={() => step(1)} />
                  </span>
                )
              }
            />
          </Boundary>
        </section>
      )}
    </>
  );
}

interface Props {
  row: RequestRow;
  onAnswered: () => void;
  place: preact.ComponentChildren;
}

function Request({ row, onAnswered, place }: Props) {
  const { hub, inspect } = usePage();
  const { request } = row;
  const guard = useMemo(() => new KeyGuard(performance.now()), []);
  const home = useHome();
  const title = visibleCode(shortened(requestTitle(row)));
  const subject = subjectOf(row);
  const size = request.type === "permission_request" ? sizeOf(row, request) : undefined;

  useLayoutEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      // In a shadow tree the event itself names the element that holds it.
      const [target] = event.composedPath();
      const self = target instanceof HTMLElement && target.classList.contains("request-form");
      if (!self && writes(event)) guard.disturb(performance.now());
    };
    addEventListener("keydown", onKeyDown, true);
    return () => removeEventListener("keydown", onKeyDown, true);
  }, []);

  const docked: Docked = {
    answered: onAnswered,
    mayAnswer: (event) => {
      const form = event.currentTarget;
      if (event.target !== form || event.repeat || event.isComposing || event.keyCode === 229) return false;
      // In a page of somebody else keys of one letter are the page's.
      if (!(form instanceof Node) || rootOf(form) !== document) return false;
      const now = performance.now();
      const ready = guard.ready(now);
      // Who types goes on typing: what follows this key is not meant for the dialog either.
      if (writes(event)) guard.disturb(now);
      return ready;
    },
  };

  return (
    <section
      class="request"
      role="group"
      aria-label={title}
      data-pending={request.pending_id}
      onFocusIn={(event) => {
        if (event.target instanceof HTMLElement && !event.target.matches(EDITABLE)) guard.disturb(performance.now());
      }}
    >
      <header>
        <Icon name={request.type === "permission_request" ? (isPlan(row) ? "plan" : "shield") : "ask"} />
        <div class="asked">
          <h2>{title}</h2>
          {subject && <p>{"path" in subject ? <Path path={subject.path} /> : orderedCode(shortened(subject.text))}</p>}
          {size && <p class="size">{size}</p>}
          {request.type === "permission_request" && request.blocked_path && (
            <p class={isInside(request.blocked_path, home) ? "" : "wrong"}>
              {isInside(request.blocked_path, home) ? "In the session’s folder: " : "Outside of the session’s folder: "}
              <code>{orderedCode(shortened(request.blocked_path))}</code>
            </p>
          )}
        </div>
        {hub.mayControl && (
          <span class="way">
            Keyboard: <kbd>Alt R</kbd>
          </span>
        )}
        {place}
        <IconButton icon="code" label={`Inspect event ${row.lastSeq}`} className="inspect" onClick={() => inspect(row.lastSeq)} />
      </header>
      {hub.mayControl ? (
        <Form row={row} docked={docked} />
      ) : (
        <p class="quiet watching">You may watch this session, but not answer for it.</p>
      )}
    </section>
  );
}

function Form({ row, docked }: { row: RequestRow; docked: Docked }) {
  const { request } = row;
  if (request.type === "permission_request") return <PermissionForm row={row} request={request} plan={isPlan(row)} docked={docked} />;
  return request.kind === "ask_user" && request.questions ? (
    <QuestionForm row={row} request={request} docked={docked} />
  ) : (
    <ElicitationForm row={row} request={request} docked={docked} />
  );
}
