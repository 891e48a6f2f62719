/** The controls of a session that plays a recording. */
import type { CommandOf } from "turnwire-client";
import { isReplay } from "../model/replay.js";
import { IconButton } from "../parts/parts.js";
import { useLive, usePage } from "../state/context.js";
import { useSource } from "../state/source.js";

const SPEEDS = [0.5, 1, 2, 5, 10, 100];

export function ReplayBar() {
  const { hub } = usePage();
  const live = useLive();
  useSource(hub.changed);
  const summary = hub.summary;
  if (!summary || !isReplay(summary)) return null;
  const speed = summary.speed ?? 1;
  const playing = speed > 0;
  const position = summary.position ?? 0;
  const steer = (rest: Omit<CommandOf<"replay.control">, "type" | "session">) =>
    void hub.run({ type: "replay.control", session: live.id, ...rest });
  return (
    <div class="replay" role="group" aria-label="Replay">
      <IconButton
        icon={playing ? "pause" : "play"}
        label={playing ? "Pause" : "Play"}
        onClick={() => steer({ action: playing ? "pause" : "play" })}
      />
      <input
        type="range"
        min={0}
        max={1000}
        value={Math.round(position * 1000)}
        aria-label="Position"
        aria-valuetext={`${Math.round(position * 100)} per cent`}
        disabled={!hub.mayControl}
        onInput={(event) => steer({ action: "seek", position: Number(event.currentTarget.value) / 1000 })}
      />
      <span class="percent">{Math.round(position * 100)} %</span>
      <select
        aria-label="Speed"
        value={String(SPEEDS.includes(speed) ? speed : 1)}
        onChange={(event) => steer({ action: "play", speed: Number(event.currentTarget.value) })}
      >
        {SPEEDS.map((one) => (
          <option key={one} value={String(one)}>
            {one}×
          </option>
        ))}
      </select>
    </div>
  );
}
