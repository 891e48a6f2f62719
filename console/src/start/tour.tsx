/** What stands where a session would while there is none: how to get to one, and what the page then does. */
import { usePage } from "../state/context.js";

interface Props {
  readonly onMake: () => void;
  readonly onPhone: () => void;
  readonly onKeys: () => void;
}

export function Tour({ onMake, onPhone, onKeys }: Props) {
  const { hub } = usePage();
  return (
    <div class="empty">
      <section class="tour" aria-labelledby="tour">
        <h1 id="tour">No session yet</h1>
        <ol>
          <li>
            <h2>Start an agent</h2>
            {hub.mayCreate ? (
              <p>
                <button type="button" class="primary" onClick={onMake}>
                  New session
                </button>{" "}
                in a folder of your choice, or go on with a conversation of your terminal from <a href="#/history">History</a>.
              </p>
            ) : hub.mayControl ? (
              <p>None can be started here.</p>
            ) : (
              <p>With this token you look on: a session shows here as soon as somebody who may starts one.</p>
            )}
          </li>
          <li>
            <h2>Decide what it may do</h2>
            <p>
              What the agent asks for waits above the prompt, the command or the file in sight. Allow it, edit it, or say why not. Typing
              never answers it, and a reload does not lose it.
            </p>
          </li>
          <li>
            <h2>See what changed</h2>
            <p>
              Changes in the inspector are the files of a turn or of the whole session, line by line. A comment on a line goes with your
              next prompt.
            </p>
          </li>
          <li>
            <h2>Leave, and come back anywhere</h2>
            <p>
              The agent goes on without this page. Another tab, an editor or{" "}
              {hub.mayControl ? (
                <button type="button" class="more" onClick={onPhone}>
                  a phone
                </button>
              ) : (
                "a phone"
              )}{" "}
              shows the same session, from where you left it.
            </p>
          </li>
        </ol>
        <p class="quiet">
          <b>Find</b> <kbd>Ctrl K</kbd> lists sessions and whatever can be done.{" "}
          <button type="button" class="more" onClick={onKeys}>
            All keys
          </button>
        </p>
      </section>
    </div>
  );
}
