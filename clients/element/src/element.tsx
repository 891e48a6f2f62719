/**
 * `<turnwire-session url session token>`: a session in any page. The console and it show a session by the same view
 * (console/src/view/session.tsx); this has the frame around that, the guard, and the events that go out.
 */
import { render } from "preact";
import { useMemo } from "preact/hooks";
import { type EventFrame, LATEST, type Source } from "turnwire-client";
import { ConsoleState } from "../../../console/src/state/console_state.js";
import { type Page, PageContext } from "../../../console/src/state/context.js";
import { useSource } from "../../../console/src/state/source.js";
import { SessionView } from "../../../console/src/view/session.js";
import { ConnectionBar, Toasts } from "../../../console/src/view/status.js";
import { guard } from "./guard.js";
import { adopt } from "./style.js";

function Session({ hub }: { hub: ConsoleState }) {
  useSource(hub.changed, hub.switched);
  const page = useMemo<Page>(() => ({ hub, inspect: () => undefined, show: () => undefined }), [hub]);
  const live = hub.current;
  return (
    <PageContext.Provider value={page}>
      <div class={`element ${hub.state === "open" ? "" : "offline"}`}>
        <main>
          <ConnectionBar />
          {hub.refused && <p class="refusal wrong">{hub.reason}</p>}
          {hub.missing !== undefined && <p class="refusal">This session is not here.</p>}
          {live && <SessionView live={live} key={live.id} />}
        </main>
        <Toasts />
      </div>
    </PageContext.Provider>
  );
}

export class TurnwireSession extends HTMLElement {
  static readonly observedAttributes = ["url", "session", "token"];
  private readonly shown = this.attachShadow({ mode: "open" });
  private given: Source | undefined;
  private end: (() => void) | undefined;

  /** The token, or a function that gives one, as the client takes it. It takes precedence over the attribute. */
  get token(): Source | undefined {
    return this.given ?? this.getAttribute("token") ?? undefined;
  }

  set token(token: Source | undefined) {
    this.given = token;
    this.begin();
  }

  connectedCallback(): void {
    // A page may have set it before this script came: then it lies over the property.
    if (Object.hasOwn(this, "token")) {
      this.given = this.token;
      delete (this as { token?: Source | undefined }).token;
    }
    this.begin();
  }

  disconnectedCallback(): void {
    this.end?.();
    this.end = undefined;
  }

  attributeChangedCallback(): void {
    this.begin();
  }

  private begin(): void {
    this.disconnectedCallback();
    const [url, session] = [this.getAttribute("url"), this.getAttribute("session")];
    if (!this.isConnected || url === null || session === null) return;
    const { token } = this;
    let hub: ConsoleState;
    try {
      hub = new ConsoleState(url, "page", { session, ...(token !== undefined && { token }) });
    } catch (error) {
      return this.fail(String(error instanceof Error ? error.message : error));
    }
    const unguard = guard(this);
    const unwatch = hub.changed.watch(() => this.tell("turnwire-state", { state: hub.state, reason: hub.reason, role: hub.welcome?.role }));
    hub.client.follow(session, { onEvents: (events) => this.pass(events), onFailed: () => undefined }, LATEST);
    adopt(this.shown);
    render(<Session hub={hub} />, this.shown);
    this.end = () => {
      unwatch();
      unguard();
      render(null, this.shown);
      hub.client.close();
    };
  }

  /** Shows what makes a connection impossible, such as a URL that is none. */
  private fail(reason: string): void {
    adopt(this.shown);
    render(
      <div class="element">
        <main>
          <p class="refusal wrong">{reason}</p>
        </main>
      </div>,
      this.shown,
    );
    this.end = () => render(null, this.shown);
    this.tell("turnwire-state", { state: "failed", reason, role: undefined });
  }

  private pass(events: readonly EventFrame[]): void {
    for (const frame of events) this.tell("turnwire-event", frame);
  }

  private tell(name: string, detail: unknown): void {
    this.dispatchEvent(new CustomEvent(name, { detail }));
  }
}

if (!customElements.get("turnwire-session")) customElements.define("turnwire-session", TurnwireSession);
