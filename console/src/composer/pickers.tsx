/** The model and the permission mode, as choices. What the session uses now is always among them. */

import { useLive, usePage } from "../state/context.js";
import { visibleCode } from "../text/visible.js";
import { ModePicker } from "./modes.js";

const MODELS = [
  ["default", "Default model"],
  ["opus", "Opus"],
  ["sonnet", "Sonnet"],
  ["haiku", "Haiku"],
] as const;
function Picker(props: { label: string; value: string; known: ReadonlyArray<readonly [string, string]>; onPick: (value: string) => void }) {
  const { label, value, known, onPick } = props;
  const listed = known.some(([id]) => id === value);
  return (
    <select class="picker" aria-label={label} title={label} value={value} onChange={(event) => onPick(event.currentTarget.value)}>
      {!listed && <option value={value}>{visibleCode(value)}</option>}
      {known.map(([id, name]) => (
        <option key={id} value={id}>
          {name}
        </option>
      ))}
    </select>
  );
}

export function Pickers() {
  const { hub } = usePage();
  const live = useLive();
  const { info } = live.conversation.state;
  const summary = hub.summary;
  const model = info?.model ?? summary?.model ?? "default";
  const abilities = summary?.abilities;
  return (
    <>
      {abilities?.set_model !== false && (
        <Picker
          label="Model"
          value={model}
          known={MODELS}
          onPick={(picked) => void hub.run({ type: "set_model", session: live.id, ...(picked !== "default" && { model: picked }) })}
        />
      )}
      <ModePicker />
    </>
  );
}
