/** Files of the workspace that fit what is being written, asked for once the writer pauses. */
import { useEffect, useState } from "preact/hooks";
import { members, useAnswer } from "../state/ask.js";
import { fits, MOST } from "./completion.js";

/** Milliseconds without a key after which is asked. */
const PAUSE = 120;

export function useFiles(session: string, text: string | undefined): string[] {
  const [asked, ask] = useState<string | undefined>(undefined);
  useEffect(() => {
    if (text === undefined) return ask(undefined);
    const timer = setTimeout(() => ask(text), PAUSE);
    return () => clearTimeout(timer);
  }, [text]);
  const { answer } = useAnswer(asked === undefined ? undefined : { type: "workspace.files", session, text: asked, limit: MOST });
  const { files } = members(answer);
  // What fitted a shorter text is shown until it is known what fits the longer one.
  const [last, keep] = useState<string[]>([]);
  useEffect(() => {
    if (Array.isArray(files)) keep(files.filter((file) => typeof file === "string"));
    else if (text === undefined) keep([]);
  }, [answer, text === undefined]);
  return text === undefined ? [] : last.filter((path) => fits(path, text));
}
