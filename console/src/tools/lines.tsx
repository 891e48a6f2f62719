/** Something that was said, as it is read, or line by line to be commented on. */
import { useMemo, useState } from "preact/hooks";
import { isReplay } from "../model/replay.js";
import { Copy } from "../parts/copy.js";
import { Icon } from "../parts/icons.js";
import { Prose } from "../parts/text.js";
import { usePage } from "../state/context.js";
import { DiffTable } from "./diff_view.js";

/** A longer text is not commented on by the line. */
const LONGEST = 200_000;

/** Where there is no pointer to hover with, the way to comment stands under such a text alone. */
const LONG = 280;

export function Commentable({ text, source, done = true }: { text: string; source: string; done?: boolean }) {
  const { hub } = usePage();
  const [byLine, show] = useState(false);
  const hunks = useMemo(
    () => [
      {
        title: "",
        lines: byLine
          ? text
              .trimEnd()
              .split("\n")
              .map((line, index) => ({ sign: " " as const, before: undefined, after: index + 1, text: line }))
          : [],
      },
    ],
    [text, byLine],
  );
  return (
    <>
      {byLine ? (
        <DiffTable hunks={hunks} numbers label={`${source}, by the line`} language="markdown" source={{ source, file: false }} />
      ) : (
        <Prose text={text} />
      )}
      {done && text.trim() !== "" && (
        <Copy text={text} what="this as Markdown" className={`copy-answer ${text.length > LONG ? "long" : ""}`} />
      )}
      {done && hub.mayControl && !isReplay(hub.summary) && text.length < LONGEST && text.trim() !== "" && (
        <button type="button" class={`to-lines ${text.length > LONG ? "long" : ""}`} aria-pressed={byLine} onClick={() => show(!byLine)}>
          <Icon name="comment" /> {byLine ? "As text" : "Comment"}
        </button>
      )}
    </>
  );
}
