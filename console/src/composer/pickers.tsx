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
function Picker(props: {
  label: string;
  value: string;
  known: ReadonlyArray<readonly [string, string]>;
  onPick: (value: string) => Promise<unknown>;
}) {
  const { label, value, known, onPick } = props;
  const listed = known.some(([id]) => id === value);
  return (
    <select
      class="picker"
      aria-label={label}
      title={label}
      value={value}
      onChange={({ currentTarget: node }) => {
        const picked = node.value;
        // What holds is shown until the hub says that this does.
        node.value = value;
        void onPick(picked);
      }}
    >
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
          onPick={(picked) => hub.run({ type: "set_model", session: live.id, ...(picked !== "default" && { model: picked }) })}
        />
      )}
      <ModePicker />
    </>
  );
}
