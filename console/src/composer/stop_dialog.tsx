/** Asks what becomes of the prompts that wait when the turn is stopped. */

import { Modal } from "../parts/modal.js";
import { useLive, usePage } from "../state/context.js";
import { plural } from "../text/format.js";
import { type Written, withdrawAll } from "./queue.js";

export function StopDialog({ onClose, onTake }: { onClose: () => void; onTake: (prompts: readonly Written[]) => void }) {
  const { hub } = usePage();
  const live = useLive();
  const queue = [...live.conversation.state.queue.values()];
  const interrupt = () => hub.run({ type: "interrupt", session: live.id });

  async function takeBack(): Promise<void> {
    onClose();
    // First, or the agent would begin with them.
    const prompts = await withdrawAll(hub, live.id, queue);
    await interrupt();
    if (prompts.length > 0) onTake(prompts);
  }

  return (
    <Modal label="Stop the turn" onClose={onClose}>
      <div class="asking">
        <h2>Stop the turn</h2>
        <p>
          {queue.length > 0
            ? `${plural(queue.length, "prompt")} ${queue.length === 1 ? "waits" : "wait"} to be heard.`
            : "No prompt waits any more."}
        </p>
        <div class="buttons">
          <button
            type="button"
            class="danger"
            onClick={() => {
              onClose();
              void interrupt();
            }}
          >
            {queue.length > 0 ? "Stop, and go on with what waits" : "Stop"}
          </button>
          {queue.length > 0 && hub.summary?.abilities?.withdraw !== false && (
            <button type="button" class="danger" onClick={() => void takeBack()}>
              Stop, and take them back into the field
            </button>
          )}
          <button type="button" class="quiet-button" onClick={onClose}>
            Let it work
          </button>
        </div>
      </div>
    </Modal>
  );
}
