/** Keeps what cannot be drawn from taking the rest of the page with it, and leads to the raw event. */
import { Component, type ComponentChildren } from "preact";
import { PageContext } from "../state/context.js";
import { visibleCode } from "../text/visible.js";

interface Props {
  /** What it holds, as people call it: `this event`. */
  what: string;
  /** The event that it shows. */
  seq?: number;
  children: ComponentChildren;
}

export class Boundary extends Component<Props, { error: string | undefined }> {
  override state = { error: undefined as string | undefined };

  override componentDidCatch(error: unknown): void {
    console.error(error);
    this.setState({ error: error instanceof Error ? error.message : String(error) });
  }

  /** What could not be drawn may have become something else. */
  override componentDidUpdate(before: Props): void {
    if (before.seq !== this.props.seq && this.state.error !== undefined) this.setState({ error: undefined });
  }

  override render({ what, seq, children }: Props) {
    const { error } = this.state;
    if (error === undefined) return <>{children}</>;
    return (
      <PageContext.Consumer>
        {(page) => (
          <div class="bar bad broken" role="alert">
            <div>
              This page cannot show {what}: {visibleCode(error)}{" "}
              {seq !== undefined && page && (
                <button type="button" class="more" onClick={() => page.inspect(seq)}>
                  Open event {seq}
                </button>
              )}
              <button type="button" class="more" onClick={() => this.setState({ error: undefined })}>
                Try again
              </button>
            </div>
          </div>
        )}
      </PageContext.Consumer>
    );
  }
}
