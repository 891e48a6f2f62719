/** The second step of an answer that is remembered: which rule, how far it reaches, and the file that it goes to. */
import type { RefObject } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { PermissionOption } from "turnwire-client";
import { known } from "../text/format.js";
import { orderedCode, visibleCode } from "../text/visible.js";
import { optionName } from "../text/words.js";

/** How far a rule reaches, in words; the file of each is Claude Code's. */
export const DESTINATIONS: Record<string, { readonly reach: string; readonly file: string | undefined }> = {
  session: { reach: "Until this session ends", file: undefined },
  localSettings: { reach: "In this project, for me", file: ".claude/settings.local.json" },
  projectSettings: { reach: "In this project, for everyone", file: ".claude/settings.json" },
  userSettings: { reach: "In all my projects", file: "~/.claude/settings.json" },
};

const reachOf = (name: string) => known(DESTINATIONS, name)?.reach ?? visibleCode(name);

/** What stands after this answer that did not before. */
function Consequence({ option, destination }: { option: PermissionOption; destination: string | undefined }) {
  const rules = option.remembers ?? [];
  if (rules.length === 0)
    return (
      <p class="quiet">
        {destination
          ? `${reachOf(destination)}. The agent does not say which rule it writes.`
          : "The agent remembers this itself. It does not say which rule it keeps, where, or for how long."}
      </p>
    );
  return (
    <ul class="rules" aria-label="What is remembered">
      {rules.map(({ rule, destination: place, file }) => (
        <li key={`${place} ${rule}`}>
          <b>{reachOf(destination ?? place)}</b> <code>{orderedCode(rule)}</code>{" "}
          <span class="quiet">{keptIn(destination === undefined ? file : known(DESTINATIONS, destination)?.file)}</span>
        </li>
      ))}
    </ul>
  );
}

const keptIn = (file: string | undefined) => (file ? `written to ${file}` : "not written to a file");

interface Props {
  options: readonly PermissionOption[];
  chosen: PermissionOption | undefined;
  onChoose: (option: PermissionOption) => void;
  /** Where an answer is remembered that leaves it open. */
  destination: string;
  onDestination: (destination: string) => void;
  /** Stands at the end of what is remembered. */
  end: RefObject<HTMLDivElement | null>;
}

/** Whether an answer leaves open how far it reaches, so that this is asked for. */
export const leavesOpen = (option: PermissionOption) =>
  option.kind === "allow_always" && option.destination === undefined && !option.option_id.includes(":");

export function Remember({ options, chosen, onChoose, destination, onDestination, end }: Props) {
  const open = chosen !== undefined && leavesOpen(chosen);
  const kept = useRef<HTMLDivElement>(null);
  useEffect(() => kept.current?.scrollIntoView({ block: "nearest" }), [chosen]);
  return (
    <fieldset class="remember">
      <legend>Which answer should be remembered?</legend>
      {options.map((one) => (
        <label key={one.option_id} class="choice">
          <input type="radio" name="remember" checked={one === chosen} onChange={() => onChoose(one)} />
          <span>
            {one.destination && <small>{reachOf(one.destination)}</small>}
            <b>{one.remembers ? (one.kind === "reject_always" ? "Always deny" : "Always allow") : visibleCode(optionName(one))}</b>
            {one.remembers && (
              <ul class="offered">
                {one.remembers.map(({ rule }) => (
                  <li key={rule}>
                    <code>{orderedCode(rule)}</code>
                  </li>
                ))}
              </ul>
            )}
          </span>
        </label>
      ))}
      {open && (
        <label class="inline">
          <span>It holds</span>
          <select value={destination} onChange={(event) => onDestination(event.currentTarget.value)}>
            {Object.entries(DESTINATIONS).map(([value, { reach }]) => (
              <option key={value} value={value}>
                {reach}
              </option>
            ))}
          </select>
        </label>
      )}
      {chosen && (
        <div ref={kept}>
          <Consequence option={chosen} destination={open ? destination : undefined} />
          <div ref={end} class="end" />
        </div>
      )}
    </fieldset>
  );
}
