/** Images and documents of a message. Only bytes that came with the event are shown; addresses stay addresses. */
import type { ContentPart } from "turnwire-client";
import { bytes } from "../text/format.js";
import { visibleCode } from "../text/visible.js";
import { Json, Prose } from "./text.js";

const SHOWN = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);

function Part({ part }: { part: ContentPart }) {
  const type = part.media_type ?? "";
  if (part.type === "text") return part.text ? <Prose text={part.text} /> : null;
  if (part.type === "image" && part.base64 && SHOWN.has(type)) {
    return <img class="attachment" src={`data:${type};base64,${part.base64}`} alt={`Image, ${type}`} />;
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
