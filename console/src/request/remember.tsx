/** The second step of an answer that is remembered: which rule, how far it reaches, and the file that it goes to. */
import type { RefObject } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { PermissionOption } from "turnwire-client";
import { known } from "../text/format.js";
import { orderedCode, visibleCode } from "../text/visible.js";
import { optionName } from "../text/words.js";

const REACH: Record<string, string> = {
  session: "Until this session ends",
  localSettings: "In this project, for me",
  projectSettings: "In this project, for everyone",
  userSettings: "In all my projects",
};

const reachOf = (name: string) => known(REACH, name) ?? visibleCode(name);

/** The rules that an answer adds, as the agent writes them, and their files. */
function Rules({ option }: { option: PermissionOption }) {
  if (!option.remembers) return null;
  return (
    <ul class="rules" aria-label="What is remembered">
      {option.remembers.map(({ rule, destination, file }) => (
        <li key={`${destination} ${rule}`}>
          <b>{reachOf(destination)}</b> <code>{orderedCode(rule)}</code> <span class="quiet">{keptIn(file)}</span>
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
  /** Stands at the end of what is remembered. */
  end: RefObject<HTMLDivElement | null>;
}

export function Remember({ options, chosen, onChoose, end }: Props) {
  const kept = useRef<HTMLDivElement>(null);
  useEffect(() => kept.current?.scrollIntoView({ block: "nearest" }), [chosen]);
  return (
    <fieldset class="remember">
      <legend>Which answer should be remembered?</legend>
      {options.map((one) => (
        <label key={one.option_id} class="choice">
          <input type="radio" name="remember" checked={one === chosen} onChange={() => onChoose(one)} />
          <span>{one.effect ? orderedCode(one.effect) : visibleCode(optionName(one))}</span>
        </label>
      ))}
      {chosen && (
        <div ref={kept}>
          <Rules option={chosen} />
          <div ref={end} class="end" />
        </div>
      )}
    </fieldset>
  );
}
