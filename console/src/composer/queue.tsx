/** Prompts that wait for their turn: each can be changed, heard earlier, or taken back. Nothing of one is lost. */

import { useState } from "preact/hooks";
import type { QueuedPrompt } from "../model/session.js";
import { Icon } from "../parts/icons.js";
import { IconButton } from "../parts/parts.js";
import { Decide } from "../request/decide.js";
import { members } from "../state/ask.js";
import type { ConsoleState } from "../state/console_state.js";
import { useLive, usePage } from "../state/context.js";
import { visibleCode } from "../text/visible.js";
import type { Attached } from "./attachments.js";

/** Takes a prompt back; false where it was heard meanwhile, or could not be. */
async function withdraw(hub: ConsoleState, session: string, uuid: string): Promise<boolean> {
  const reply = await hub.run({ type: "prompt.withdraw", session, prompt: uuid });
  return members(reply).withdrawn === true;
}

/** A prompt as it was written. */
export interface Written {
  readonly text: string;
  readonly files: readonly Attached[];
}

/** What prompts of this page were sent with: the log tells their texts alone. */
const sentWith = new Map<string, readonly Attached[]>();

/** Prompts whose files are remembered. */
const MOST_REMEMBERED = 20;

export function rememberFiles(prompt: string, files: readonly Attached[]): void {
  if (files.length === 0) return;
  sentWith.set(prompt, files);
  const [oldest] = sentWith.keys();
  if (sentWith.size > MOST_REMEMBERED && oldest !== undefined) sentWith.delete(oldest);
}

const written = ({ uuid, text }: QueuedPrompt): Written => ({ text: text ?? "", files: sentWith.get(uuid) ?? [] });

/** Takes back all that wait, the last first; gives those that were not heard, in their order. */
export async function withdrawAll(hub: ConsoleState, session: string, queue: readonly QueuedPrompt[]): Promise<Written[]> {
  const taken: Written[] = [];
  for (const one of [...queue].reverse()) {
    const before = written(one);
    if (one.text !== undefined && (await withdraw(hub, session, one.uuid))) taken.unshift(before);
  }
  return taken;
}

interface Props {
  /** Puts prompts into the field, before what is written there. */
  onTake: (prompts: readonly Written[]) => void;
  onSay: (prompt: string, sent: Written) => void;
}

export function Queue({ onTake, onSay }: Props) {
  const { hub } = usePage();
  const live = useLive();
  const [busy, setBusy] = useState(false);
  const queue = [...live.conversation.state.queue.values()];
  if (queue.length === 0) return null;
  const can = hub.summary?.abilities?.withdraw !== false;

  /** Does one thing at a time: another would act on a list that has changed. */
  async function alone(what: () => Promise<void>): Promise<void> {
    if (busy) return;
    setBusy(true);
    await what();
    setBusy(false);
  }

  /** The prompts before it, and those after it, are said again behind it: a queue has no other order than that in which it was filled. */
  const first = (index: number) =>
    alone(async () => {
      const one = queue[index];
      if (!one) return;
      const again = [...(await withdrawAll(hub, live.id, queue.slice(index + 1)))];
      again.unshift(...(await withdrawAll(hub, live.id, queue.slice(0, index))));
      const lost: Written[] = [];
      for (const one of again) {
        const reply =
          lost.length > 0
            ? undefined
            : await hub.run({
                type: "prompt",
                session: live.id,
                text: one.text,
                priority: "next",
                ...(one.files.length > 0 && { attachments: [...one.files] }),
              });
        const { prompt } = members(reply);
        if (reply === undefined) lost.push(one);
        else if (typeof prompt === "string") onSay(prompt, one);
      }
      if (lost.length > 0) onTake(lost);
    });

  const take = (one: QueuedPrompt) =>
    alone(async () => {
      const before = written(one);
      if (await withdraw(hub, live.id, one.uuid)) onTake([before]);
    });

  return (
    <ul class="queue" aria-label="Waiting prompts">
      {queue.map((one, index) => (
        <li key={one.uuid}>
          <span class="chip">{queue.length === 1 ? "waits" : `${index + 1}.`}</span>
          <span class="queued-text">{visibleCode((one.text ?? `prompt ${one.uuid.slice(0, 8)}`).slice(0, 200))}</span>
          {can && one.text !== undefined && (
            <>
              {index > 0 && queue.every(({ text }) => text !== undefined) && (
                <IconButton icon="up" label="Have this one heard first" disabled={busy} onClick={() => void first(index)} />
              )}
              <IconButton icon="edit" label="Change this prompt" disabled={busy} onClick={() => void take(one)} />
            </>
          )}
          {can && (
            <Decide
              className="icon-button"
              label="Withdraw this prompt"
              meaning={one.uuid}
              blocked={busy}
              onDecide={() => void alone(async () => void (await withdraw(hub, live.id, one.uuid)))}
            >
              <Icon name="cross" />
            </Decide>
          )}
        </li>
      ))}
    </ul>
  );
}
