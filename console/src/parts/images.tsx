/** Images and documents of a message. Only bytes that came with the event are shown; addresses stay addresses. */
import { useEffect, useRef, useState } from "preact/hooks";
import type { ContentPart } from "turnwire-client";
import { bytes } from "../text/format.js";
import { visibleCode } from "../text/visible.js";
import { IconButton } from "./parts.js";
import { Json, Prose } from "./text.js";

const SHOWN = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);

/** An image that can be seen as large as the window, or as it is. */
function Picture({ src, type }: { src: string; type: string }) {
  const large = useRef<HTMLDialogElement>(null);
  const [open, show] = useState(false);
  useEffect(() => {
    if (open) large.current?.showModal();
  }, [open]);
  return (
    <>
      <button type="button" class="enlarge" aria-label={`Enlarge the image, ${type}`} onClick={() => show(true)}>
        <img class="attachment" src={src} alt={`Image, ${type}`} />
      </button>
      {open && (
        // biome-ignore lint/a11y/useKeyWithClickEvents: Escape closes a dialog
        <dialog class="zoom" ref={large} aria-label="Image" onClose={() => show(false)} onClick={() => large.current?.close()}>
          <IconButton icon="cross" label="Close the image" onClick={() => large.current?.close()} />
          <img src={src} alt={`Image, ${type}`} />
        </dialog>
      )}
    </>
  );
}

function Part({ part }: { part: ContentPart }) {
  const type = part.media_type ?? "";
  if (part.type === "text") return part.text ? <Prose text={part.text} /> : null;
  if (part.type === "image" && part.base64 && SHOWN.has(type)) {
    return <Picture src={`data:${type};base64,${part.base64}`} type={type} />;
  }
  if (part.type === "unknown") return <Json value={part.raw} label="Part of an unknown kind" />;
  return (
    <p class="chip">
      {part.type}{" "}
      {visibleCode([type, part.size === undefined ? "" : bytes(part.size), part.url ?? part.text ?? ""].filter(Boolean).join(" · "))}
    </p>
  );
}

export function Parts({ parts }: { parts: readonly ContentPart[] | undefined }) {
  if (!parts || parts.length === 0) return null;
  return (
    <div class="parts">
      {parts.map((part, index) => (
        <Part key={index} part={part} />
      ))}
    </div>
  );
}
