/** Prompts that wait for their turn, each of which can be taken back. */

import { Icon } from "../parts/icons.js";
import { Decide } from "../request/decide.js";
import { useLive, usePage } from "../state/context.js";
import { visibleCode } from "../text/visible.js";

export function Queue() {
  const { hub } = usePage();
  const live = useLive();
  const queue = [...live.conversation.state.queue.values()];
  if (queue.length === 0) return null;
  return (
    <ul class="queue" aria-label="Waiting prompts">
      {queue.map(({ uuid, text }) => (
        <li key={uuid}>
          <span class="chip">waits</span>
          <span class="queued-text">{visibleCode((text ?? `prompt ${uuid.slice(0, 8)}`).slice(0, 200))}</span>
          {hub.summary?.abilities?.withdraw !== false && (
            <Decide
              className="icon-button"
              label="Withdraw this prompt"
              meaning={uuid}
              onDecide={() => void hub.run({ type: "prompt.withdraw", session: live.id, prompt: uuid })}
            >
              <Icon name="cross" />
            </Decide>
          )}
        </li>
      ))}
    </ul>
  );
}
