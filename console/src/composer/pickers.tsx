/** The model and the permission mode, as choices: those that the agent offers, and what the session uses now. */
import { useEffect } from "preact/hooks";
import { useLive, usePage } from "../state/context.js";
import { rememberModels } from "../state/models.js";
import { visibleCode } from "../text/visible.js";
import { ModePicker } from "./modes.js";

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
      {!listed && <option value={value}>{value === "" ? "Model not told" : visibleCode(value)}</option>}
      {known.map(([id, name]) => (
        <option key={id} value={id}>
          {visibleCode(name)}
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
  const model = info?.model ?? summary?.model;
  const models = (info?.models ?? []).map((one) => [one.id, one.name ?? one.id] as const);
  const abilities = summary?.abilities;
  useEffect(() => rememberModels(summary?.agent, info?.models ?? []), [summary?.agent, info?.models]);
  return (
    <>
      {abilities?.set_model !== false && (model !== undefined || models.length > 0) && (
        <Picker
          label="Model"
          value={model ?? ""}
          known={models}
          onPick={(picked) => hub.run({ type: "set_model", session: live.id, ...(picked !== "default" && { model: picked }) })}
        />
      )}
      <ModePicker />
    </>
  );
}
