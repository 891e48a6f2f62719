/** Finds words in the conversation, all of it: the next and the one before, and how many there are. */
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { find } from "../model/find.js";
import type { Row } from "../model/rows.js";
import { IconButton } from "../parts/parts.js";
import { useLive } from "../state/context.js";
import { useSource } from "../state/source.js";
import { plural } from "../text/format.js";

/** Milliseconds without a key after which is looked. */
const PAUSE = 150;

export function FindBar({ onShow, onClose }: { onShow: (row: Row) => void; onClose: () => void }) {
  const live = useLive();
  useSource(live.grown, live.changed);
  const field = useRef<HTMLInputElement>(null);
  const [text, setText] = useState("");
  const [words, look] = useState("");
  const [at, go] = useState(0);
  useLayoutEffect(() => field.current?.focus(), []);
  useEffect(() => {
    const timer = setTimeout(() => look(text), PAUSE);
    return () => clearTimeout(timer);
  }, [text]);
  const { conversation } = live;
  const found = useMemo(() => find(conversation.rows, words), [conversation, conversation.rows.length, words]);
  const index = Math.min(at, Math.max(0, found.length - 1));

  function show(next: number): void {
    const row = found[(next + found.length) % found.length];
    if (!row) return;
    go((next + found.length) % found.length);
    onShow(row);
  }

  // The newest is what most look for.
  useEffect(() => {
    if (found.length > 0) show(found.length - 1);
  }, [words]);

  return (
    <search class="find-bar">
      <input
        ref={field}
        type="search"
        aria-label="Find in this conversation"
        placeholder="Find in this conversation"
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.isComposing || event.keyCode === 229) return;
          if (event.key === "Enter") show(index + (event.shiftKey ? 1 : -1));
          else if (event.key === "Escape") onClose();
          else return;
          event.preventDefault();
        }}
      />
      <span class="quiet" role="status">
        {words.trim() !== "" &&
          (found.length === 0 ? (live.whole ? "Nothing found" : "Still reading …") : `${index + 1} of ${plural(found.length, "place")}`)}
      </span>
      <IconButton icon="up" label="The place before" disabled={found.length === 0} onClick={() => show(index - 1)} />
      <IconButton icon="down" label="The next place" disabled={found.length === 0} onClick={() => show(index + 1)} />
      <IconButton icon="cross" label="Close the search" onClick={onClose} />
    </search>
  );
}
