/** Comments on lines: those under a line, and the form for another. */
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { IconButton } from "../parts/parts.js";
import { useLive } from "../state/context.js";
import { cutQuote, type Place, placeName, type Remark } from "../state/remarks.js";
import { visibleCode } from "../text/visible.js";

export function RemarkView({ remark, where = false }: { remark: Remark; where?: boolean }) {
  const { remarks } = useLive();
  return (
    <div class="remark">
      <div>
        {where && (
          <p class="quiet">
            <bdi>{visibleCode(placeName(remark))}</bdi> <span class="mono">{visibleCode(remark.quote.trim().slice(0, 80))}</span>
          </p>
        )}
        <p dir="auto">{visibleCode(remark.text)}</p>
      </div>
      <IconButton icon="cross" label="Remove this comment" onClick={() => remarks.remove(remark)} />
    </div>
  );
}

export function RemarkForm({ place, onDone }: { place: Place; onDone: () => void }) {
  const { remarks } = useLive();
  const [text, setText] = useState("");
  const field = useRef<HTMLTextAreaElement>(null);
  useLayoutEffect(() => field.current?.focus(), []);
  function add(): void {
    if (text.trim() === "") return;
    remarks.add({ ...place, quote: cutQuote(place.quote), text: text.trim() });
    onDone();
  }
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: what is typed into it answers nothing around it
    <div
      class="remark-form"
      onKeyDown={(event) => {
        event.stopPropagation();
        if (event.key === "Escape") onDone();
        else if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) add();
        else return;
        event.preventDefault();
      }}
    >
      <textarea
        ref={field}
        rows={2}
        dir="auto"
        aria-label={`Comment on ${placeName(place)}`}
        placeholder="Goes with your next prompt"
        maxLength={5000}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <div class="buttons">
        <button type="button" class="primary" disabled={text.trim() === ""} onClick={add}>
          Comment
        </button>
        <button type="button" class="quiet-button" onClick={onDone}>
          Cancel
        </button>
      </div>
    </div>
  );
}
