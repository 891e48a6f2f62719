/** Where one writes: several lines, history, slash commands, images, and a choice of when it is heard. */
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { useSource } from "../state/source.js";
import { visibleCode } from "../text/visible.js";
import { useLive, usePage } from "../view/context.js";
import { Icon } from "../view/icons.js";
import { IconButton } from "../view/parts.js";
import { type Attached, attach } from "./attachments.js";
import { completions } from "./completion.js";
import { Drafts } from "./drafts.js";
import { History } from "./history.js";
import { Pickers } from "./pickers.js";
import { Queue } from "./queue.js";

type Priority = "now" | "next" | "later";

const PRIORITIES: Array<[Priority, string, string]> = [
  ["next", "Next", "Joins the running turn as soon as the agent can"],
  ["now", "Now", "Stops the running turn and starts with this"],
  ["later", "Later", "Starts after the running turn"],
];

export const drafts = new Drafts(sessionStorage);

/** A finger types on a keyboard that has no other key for a new line: there Enter makes one, and the button sends. */
const byFinger = matchMedia("(pointer: coarse) and (hover: none)");

export function Composer() {
  const { hub } = usePage();
  const live = useLive();
  useSource(live.changed, hub.changed);
  const [text, write] = useState(drafts.of(live.id));
  const [attached, setAttached] = useState<Attached[]>([]);
  const [priority, setPriority] = useState<Priority>("next");
  const [picked, setPicked] = useState(0);
  const [closed, setClosed] = useState(false);
  const [dragging, setDragging] = useState(false);
  const area = useRef<HTMLTextAreaElement>(null);
  const file = useRef<HTMLInputElement>(null);
  const history = useMemo(() => new History(sessionStorage), []);
  const { conversation } = live;
  const running = conversation.running !== undefined;
  const found = closed ? [] : completions(conversation.state.commands, text);
  const choice = found[Math.min(picked, found.length - 1)];

  function setText(next: string): void {
    drafts.keep(live.id, next);
    write(next);
  }

  useEffect(
    () =>
      live.drafted.watch(() => {
        write(drafts.of(live.id));
        area.current?.focus();
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

  async function send(): Promise<void> {
    if (!text.trim() && attached.length === 0) return;
    const sent = text;
    const attachments = attached.map(({ name, media_type, base64 }) => ({ name, media_type, base64 }));
    setText("");
    setAttached([]);
    setPriority("next");
    if (!byFinger.matches) area.current?.focus();
    live.sent.emit();
    const reply = await hub.run({
      type: "prompt",
      session: live.id,
      text: sent,
      priority: running ? priority : "next",
      ...(attachments.length > 0 && { attachments }),
    });
    if (reply === undefined) {
      // Refused or cut off: what was written must not be lost.
      if (!drafts.of(live.id)) setText(sent);
      setAttached((now) => (now.length > 0 ? now : attached));
      return;
    }
    history.add(sent);
    if (typeof reply === "object" && reply !== null && !Array.isArray(reply) && typeof reply.prompt === "string") {
      conversation.state.name(reply.prompt, sent);
      live.changed.emit();
    }
  }

  function complete(name: string): void {
    setText(`/${name} `);
    setPicked(0);
    area.current?.focus();
  }

  function onKeyDown(event: KeyboardEvent): void {
    const node = area.current;
    if (!node || event.isComposing) return;
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (choice && step !== 0) {
      event.preventDefault();
      setPicked((Math.min(picked, found.length - 1) + step + found.length) % found.length);
    } else if (choice && (event.key === "Tab" || (event.key === "Enter" && text !== `/${choice.name}`))) {
      event.preventDefault();
      complete(choice.name);
    } else if (choice && event.key === "Escape") {
      event.preventDefault();
      setClosed(true);
    } else if (event.key === "Escape" && running) {
      event.preventDefault();
      void hub.run({ type: "interrupt", session: live.id });
    } else if (event.key === "Enter" && !event.shiftKey && !byFinger.matches) {
      event.preventDefault();
      void send();
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
        event.preventDefault();
        setDragging(true);
      }}
      onDragLeave={() => setDragging(false)}
      onDrop={(event) => {
        event.preventDefault();
        setDragging(false);
        void take([...(event.dataTransfer?.files ?? [])]);
      }}
    >
      <Queue />
      {found.length > 0 && (
        // biome-ignore lint/a11y/noNoninteractiveElementToInteractiveRole: ARIA allows a list to be a listbox
        <ul class="completions" role="listbox" id="completions" aria-label="Commands">
          {found.map((command) => (
            // biome-ignore lint/a11y/useFocusableInteractive: the text keeps the focus and names its option by aria-activedescendant
            <li
              key={command.name}
              id={`completion-${command.name}`}
              // biome-ignore lint/a11y/noNoninteractiveElementToInteractiveRole: ARIA allows a list's item to be an option
              role="option"
              aria-selected={command === choice}
              onMouseDown={(event) => {
                event.preventDefault();
                complete(command.name);
              }}
            >
              <b>/{visibleCode(command.name)}</b> {command.argument_hint && <i>{visibleCode(command.argument_hint)}</i>}{" "}
              <span>{visibleCode(command.description ?? "")}</span>
            </li>
          ))}
        </ul>
      )}
      {attached.length > 0 && (
        <ul class="attachments" aria-label="Attached files">
          {attached.map((one, index) => (
            <li key={index}>
              {one.media_type.startsWith("image/") && !one.media_type.includes("svg") ? (
                <img src={`data:${one.media_type};base64,${one.base64}`} alt="" />
              ) : (
                <Icon name="file" />
              )}
              <span>{visibleCode(one.name)}</span>
              <IconButton
                icon="cross"
                label={`Remove ${one.name}`}
                onClick={() => setAttached(attached.filter((other) => other !== one))}
              />
            </li>
          ))}
        </ul>
      )}
      <div class="field">
        <textarea
          ref={area}
          value={text}
          rows={1}
          dir="auto"
          enterkeyhint={byFinger.matches ? "enter" : "send"}
          placeholder={running ? "Say something while the agent works" : "Ask the agent, or type / for commands"}
          aria-label="Prompt"
          aria-autocomplete="list"
          {...(choice && { "aria-controls": "completions", "aria-activedescendant": `completion-${choice.name}` })}
          onInput={(event) => {
            setText(event.currentTarget.value);
            setClosed(false);
            setPicked(0);
          }}
          onKeyDown={onKeyDown}
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
          {running && hub.summary?.abilities?.interrupt !== false && (
            <button
              type="button"
              class="stop"
              aria-label="Stop"
              title="Stop the turn"
              onClick={() => void hub.run({ type: "interrupt", session: live.id })}
            >
              <Icon name="stop" /> <span class="word">Stop</span>
            </button>
          )}
          <button
            type="button"
            class="primary send"
            aria-label="Send"
            title="Send (Enter)"
            disabled={!text.trim() && attached.length === 0}
            onClick={() => void send()}
          >
            <Icon name="send" />
          </button>
        </div>
      </div>
    </footer>
  );
}
