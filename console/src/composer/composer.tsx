/** Where one writes: several lines, history, slash commands, images, and a choice of when it is heard. */
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { Icon } from "../parts/icons.js";
import { focusFromHere } from "../parts/keyboard.js";
import { IconButton } from "../parts/parts.js";
import { Path } from "../parts/path.js";
import type { Attempt } from "../state/attempt.js";
import { useLive, usePage } from "../state/context.js";
import { inTab } from "../state/kept.js";
import { drafts } from "../state/own_drafts.js";
import { formatComments } from "../state/remarks.js";
import { useSource } from "../state/source.js";
import { visibleCode } from "../text/visible.js";
import { AttachedFiles } from "./attached_files.js";
import { type Attached, attach } from "./attachments.js";
import { completions, mention, mentioned } from "./completion.js";
import { useFiles } from "./files.js";
import { Gathered } from "./gathered.js";
import { History } from "./history.js";
import { Pickers } from "./pickers.js";
import { Queue, rememberFiles, type Written } from "./queue.js";
import { StopDialog } from "./stop_dialog.js";

type Priority = "now" | "next" | "later";

const PRIORITIES: Array<[Priority, string, string]> = [
  ["next", "Next", "Joins the running turn as soon as the agent can"],
  ["now", "Now", "Stops the running turn and starts with this"],
  ["later", "Later", "Starts after the running turn"],
];

/** One of the list above the field. */
interface Option {
  readonly name: string;
  readonly hint: string;
  readonly about: string;
  /** Of a file. */
  readonly path: string | undefined;
}

/** A finger types on a keyboard that has no other key for a new line: there Enter makes one, and the button sends. */
const byFinger = matchMedia("(pointer: coarse) and (hover: none)");

/** Characters from which on chromium takes seconds for each key to find the direction of each line. */
const LARGE = 50_000;

/** Have the direction of each line found where that is quick. Not left to the next drawing: it would be too late for a text that is pasted. */
function direct(field: HTMLTextAreaElement, length: number) {
  if (length >= LARGE) field.removeAttribute("dir");
  else if (field.dir !== "auto") field.dir = "auto";
}

export function Composer() {
  const { hub } = usePage();
  const live = useLive();
  useSource(live.changed, hub.changed, live.remarks.changed);
  const [text, write] = useState(drafts.of(live.id));
  const [attached, setAttached] = useState<Attached[]>([]);
  const [priority, setPriority] = useState<Priority>("next");
  const [picked, setPicked] = useState(0);
  const [closed, setClosed] = useState(false);
  const [dragging, setDragging] = useState(false);
  const [stopping, askStop] = useState(false);
  const area = useRef<HTMLTextAreaElement>(null);
  const file = useRef<HTMLInputElement>(null);
  const history = useMemo(() => new History(inTab), []);
  const { conversation } = live;
  const running = conversation.running !== undefined;
  const [caret, setCaret] = useState(0);
  const wanted = hub.mayControl && !closed ? mention(text, caret) : undefined;
  const files = useFiles(live.id, wanted?.text);
  const found: Option[] = closed
    ? []
    : wanted
      ? files.map((path) => ({ name: `@${path}`, hint: "", about: "", path }))
      : completions(conversation.state.commands, text).map(({ name, argument_hint, description }) => ({
          name: `/${name}`,
          hint: argument_hint ?? "",
          about: description ?? "",
          path: undefined,
        }));
  const isWritten = ({ name, path }: Option) => (path === undefined ? text === name : wanted?.text === path);
  const choice = found[Math.min(picked, found.length - 1)];

  const empty = !text.trim() && attached.length === 0 && live.remarks.all.length === 0;

  function setText(next: string): void {
    drafts.keep(live.id, next);
    write(next);
  }

  useLayoutEffect(() => {
    if (area.current !== null) direct(area.current, text.length);
  }, [text]);

  useEffect(
    () =>
      live.drafted.watch(() => {
        write(drafts.of(live.id));
        focusFromHere(area.current);
      }),
    [live],
  );

  async function take(files: readonly File[]): Promise<void> {
    for (const one of files) {
      try {
        const made = await attach(one);
        setAttached((before) => [...before, made]);
      } catch (error) {
        hub.toast(error instanceof Error ? error.message : String(error));
      }
    }
  }

  /** Puts what was taken back before what is written. */
  function putBack(prompts: readonly Written[]): void {
    const now = drafts.of(live.id);
    setAttached((before) => [...prompts.flatMap(({ files }) => files), ...before]);
    setText([...prompts.map((one) => one.text), now].filter((one) => one.trim() !== "").join("\n\n"));
    focusFromHere(area.current);
  }

  /** Tells the text of a waiting prompt before the log does, and remembers what no log tells. */
  function named(prompt: string, sent: Written): void {
    rememberFiles(prompt, sent.files);
    conversation.state.name(prompt, sent.text);
    live.changed.emit();
  }

  /** With prompts that wait, it is asked what becomes of them. */
  function stop(): void {
    if (conversation.state.queue.size > 0) askStop(true);
    else void hub.run({ type: "interrupt", session: live.id });
  }

  const hasArrived = ({ id }: Attempt) => id !== undefined && live.conversation.state.hasHeard(id);

  // Of a prompt that has arrived after all, what was put back is taken out again.
  useEffect(() => {
    const { unsure } = live;
    if (unsure === undefined || !hasArrived(unsure.attempt)) return;
    live.unsure = undefined;
    if (text === unsure.text) setText("");
    setAttached((now) => now.filter((one) => !unsure.files.includes(one)));
    live.remarks.set(live.remarks.all.filter((one) => !unsure.comments.includes(one)));
    history.add(unsure.text);
  });

  async function send(): Promise<void> {
    if (empty) return;
    const comments = live.remarks.take();
    const sent = [text, formatComments(comments)].filter((part) => part.trim() !== "").join("\n\n");
    const written = text;
    const attachments = attached.map(({ name, media_type, base64 }) => ({ name, media_type, base64 }));
    setText("");
    setAttached([]);
    setPriority("next");
    if (!byFinger.matches) area.current?.focus();
    live.sent.emit();
    const attempt: Attempt = live.unsure?.attempt ?? {};
    live.unsure = undefined;
    const reply = await hub.run(
      {
        type: "prompt",
        session: live.id,
        text: sent,
        priority: running ? priority : "next",
        ...(attachments.length > 0 && { attachments }),
      },
      attempt,
    );
    if (reply === undefined && !hasArrived(attempt)) {
      // Refused or cut off: what was written must not be lost.
      const isFree = drafts.of(live.id) === "";
      if (isFree) setText(written);
      else history.add(written);
      if (comments.length > 0) live.remarks.set([...comments, ...live.remarks.all]);
      setAttached((now) => (now.length > 0 ? now : attached));
      if (isFree && attempt.sent !== undefined) live.unsure = { attempt, text: written, files: attached, comments };
      return;
    }
    history.add(written);
    if (typeof reply === "object" && reply !== null && !Array.isArray(reply) && typeof reply.prompt === "string") {
      named(reply.prompt, { text: sent, files: attachments });
    }
  }

  function complete({ name, path }: Option): void {
    const next = wanted && path !== undefined ? mentioned(text, wanted, path) : { text: `${name} `, caret: name.length + 1 };
    setText(next.text);
    setCaret(next.caret);
    setPicked(0);
    const field = area.current;
    if (!field) return;
    // At once: a letter that is typed before the field is drawn again would stand in the wrong place.
    field.value = next.text;
    field.setSelectionRange(next.caret, next.caret);
    field.focus();
  }

  function onKeyDown(event: KeyboardEvent): void {
    const node = area.current;
    // Some input methods end with an Enter that is no longer of the composition, but still theirs.
    if (!node || event.isComposing || event.keyCode === 229) return;
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (choice && step !== 0) {
      event.preventDefault();
      setPicked((Math.min(picked, found.length - 1) + step + found.length) % found.length);
    } else if (choice && (event.key === "Tab" || (event.key === "Enter" && !isWritten(choice)))) {
      event.preventDefault();
      complete(choice);
    } else if (choice && event.key === "Escape") {
      event.preventDefault();
      setClosed(true);
    } else if (event.key === "Escape" && running) {
      event.preventDefault();
      stop();
    } else if (event.key === "Enter" && !event.shiftKey && !byFinger.matches) {
      event.preventDefault();
      // A key that is held down was meant for what it did first, as for a completion.
      if (!event.repeat) void send();
    } else if (event.key === "ArrowUp" && node.selectionStart === 0 && node.selectionEnd === 0) {
      const older = history.older(text);
      if (older !== undefined) setText(older);
    } else if (event.key === "ArrowDown" && node.selectionStart === text.length) {
      const newer = history.newer();
      if (newer !== undefined) setText(newer);
    }
  }

  if (!hub.mayControl)
    return (
      <footer class="composer">
        <p class="quiet">You are watching. This token does not allow to steer.</p>
      </footer>
    );
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: files may be dropped on it; the button beside the text takes them too
    <footer
      class={`composer ${dragging ? "dragging" : ""}`}
      onDragOver={(event) => {
        if (!event.dataTransfer?.types.includes("Files")) return;
        event.preventDefault();
        setDragging(true);
      }}
      onDragLeave={() => setDragging(false)}
      onDrop={(event) => {
        setDragging(false);
        if (!event.dataTransfer?.types.includes("Files")) return;
        event.preventDefault();
        void take([...(event.dataTransfer?.files ?? [])]);
      }}
    >
      <Queue onTake={putBack} onSay={named} />
      <Gathered />
      {stopping && <StopDialog onClose={() => askStop(false)} onTake={putBack} />}
      {found.length > 0 && (
        // biome-ignore lint/a11y/noNoninteractiveElementToInteractiveRole: ARIA allows a list to be a listbox
        <ul class="completions" role="listbox" id="completions" aria-label={wanted ? "Files" : "Commands"}>
          {found.map((option, index) => (
            // biome-ignore lint/a11y/useFocusableInteractive: the text keeps the focus and names its option by aria-activedescendant
            <li
              key={option.name}
              id={`completion-${index}`}
              // biome-ignore lint/a11y/noNoninteractiveElementToInteractiveRole: ARIA allows a list's item to be an option
              role="option"
              aria-selected={option === choice}
              onMouseDown={(event) => {
                event.preventDefault();
                complete(option);
              }}
            >
              {option.path === undefined ? <b>{visibleCode(option.name)}</b> : <Path path={option.path} />}{" "}
              {option.hint && <i>{visibleCode(option.hint)}</i>} <span>{visibleCode(option.about)}</span>
            </li>
          ))}
        </ul>
      )}
      <AttachedFiles files={attached} onRemove={(one) => setAttached(attached.filter((other) => other !== one))} />
      <div class="field">
        <textarea
          ref={area}
          value={text}
          rows={1}
          enterkeyhint={byFinger.matches ? "enter" : "send"}
          placeholder={running ? "Say something while the agent works" : "Ask the agent; / for commands, @ for files"}
          aria-label="Prompt"
          aria-autocomplete="list"
          {...(choice && { "aria-controls": "completions", "aria-activedescendant": `completion-${found.indexOf(choice)}` })}
          onBeforeInput={(event) => {
            const field = event.currentTarget;
            direct(field, field.value.length + (event.data?.length ?? 0));
          }}
          onInput={(event) => {
            direct(event.currentTarget, event.currentTarget.value.length);
            setText(event.currentTarget.value);
            setCaret(event.currentTarget.selectionEnd);
            setClosed(false);
            setPicked(0);
          }}
          onKeyDown={onKeyDown}
          onKeyUp={(event) => setCaret(event.currentTarget.selectionEnd)}
          onClick={(event) => setCaret(event.currentTarget.selectionEnd)}
          onPaste={(event) => {
            const files = [...(event.clipboardData?.files ?? [])];
            if (files.length > 0) {
              event.preventDefault();
              void take(files);
            }
          }}
        />
        <div class="tools">
          <input
            ref={file}
            type="file"
            multiple
            hidden
            onChange={(event) => {
              // A copy: emptying the field empties its list.
              void take([...(event.currentTarget.files ?? [])]);
              event.currentTarget.value = "";
            }}
          />
          <IconButton icon="image" label="Attach files" onClick={() => file.current?.click()} />
          <Pickers />
          <span class="spring" />
          {running && (
            <select
              class="priority"
              aria-label="When it is heard"
              value={priority}
              title={PRIORITIES.find(([value]) => value === priority)?.[2]}
              onChange={(event) => setPriority(event.currentTarget.value as Priority)}
            >
              {PRIORITIES.map(([value, name]) => (
                <option key={value} value={value}>
                  {name}
                </option>
              ))}
            </select>
          )}
          {running && !hub.summary?.followed && hub.summary?.abilities?.interrupt !== false && (
            <button type="button" class="stop" aria-label="Stop" title="Stop the turn" onClick={stop}>
              <Icon name="stop" /> <span class="word">Stop</span>
            </button>
          )}
          <button type="button" class="primary send" aria-label="Send" title="Send (Enter)" disabled={empty} onClick={() => void send()}>
            <Icon name="send" />
          </button>
        </div>
      </div>
    </footer>
  );
}
