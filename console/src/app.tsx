/** The page: sessions, the conversation, the inspector; and the door when the token is wrong. */
import { useEffect, useMemo, useState } from "preact/hooks";
import { Composer } from "./composer/composer.js";
import { isReplay } from "./model/replay.js";
import { Boundary } from "./parts/boundary.js";
import { leave, setNotifications, useAttention, wantsNotifications } from "./reach/attention.js";
import { RequestDock } from "./request/dock.js";
import { logIn } from "./state/access.js";
import { LiveContext, type Page, PageContext, type Tab } from "./state/context.js";
import type { Hub, View } from "./state/hub.js";
import { useLater } from "./state/later.js";
import { useSource } from "./state/source.js";
import { visibleCode } from "./text/visible.js";
import { SessionHead } from "./view/head.js";
import { Now } from "./view/now.js";
import { type Doing, Keys, Palette } from "./view/palette.js";
import { ReplayBar } from "./view/replay.js";
import { Sidebar } from "./view/sidebar.js";
import { ConnectionBar, Toasts } from "./view/status.js";
import { toggleTheme } from "./view/theme.js";
import { Transcript } from "./view/transcript.js";

function Door({ reason }: { reason: string | undefined }) {
  const [token, setToken] = useState("");
  return (
    <main class="door">
      <h1>turnwire</h1>
      <p>{reason ?? "This console needs an access token."} Open the address that turnwire printed, or paste the token here.</p>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void logIn(token.trim()).finally(() => location.reload());
        }}
      >
        <label>
          Access token
          <input type="password" autocomplete="off" value={token} onInput={(event) => setToken(event.currentTarget.value)} />
        </label>
        <button type="submit" class="primary">
          Open
        </button>
      </form>
    </main>
  );
}

type TourProps = Parameters<typeof import("./start/tour.js").Tour>[0];

function Beginning({ hub, ...doings }: { hub: Hub } & TourProps) {
  const views = useLater(() => import("./library/views.js"), hub);
  return views ? <views.Tour {...doings} /> : <div class="empty" />;
}

/** What stands where a session would: why there is none, and the way to one. */
function Nothing({ hub, ...doings }: { hub: Hub } & TourProps) {
  if (!hub.welcome) return <div class="empty" />;
  if (hub.missing === undefined) return hub.sessions.length === 0 ? <Beginning hub={hub} {...doings} /> : <div class="empty" />;
  return (
    <div class="empty" role="status">
      <p>The session {visibleCode(hub.missing)} is not here: it was deleted, or belongs to another turnwire.</p>
      {hub.sessions.length > 0 && (
        <button type="button" class="primary" onClick={() => hub.selectNewest()}>
          Open the newest session
        </button>
      )}
    </div>
  );
}

/** The pages about old conversations. */
function Pages({ hub, view, onMenu }: { hub: Hub; view: View; onMenu: () => void }) {
  const library = useLater(() => import("./library/views.js"), hub);
  return library ? <library.LibraryView view={view} onMenu={onMenu} /> : <div class="empty" />;
}

/** How another device gets in. */
function Phone(props: { hub: Hub; onClose: () => void }) {
  const reach = useLater(() => import("./reach/reach.js"), props.hub);
  return reach ? <reach.Invite {...props} /> : null;
}

type PanelProps = Parameters<typeof import("./inspector/inspector.js").Inspector>[0];

function Panel({ hub, ...props }: PanelProps & { hub: Hub }) {
  const panel = useLater(() => import("./inspector/inspector.js"), hub);
  return panel ? <panel.Inspector {...props} /> : <aside class="inspector" aria-label="Inspector" />;
}

export function App({ hub }: { hub: Hub }) {
  useSource(hub.changed, hub.switched);
  const [menu, setMenu] = useState(false);
  const [panel, setPanel] = useState(false);
  const [tab, setTab] = useState<Tab>("turn");
  const [seq, setSeq] = useState<number | undefined>(undefined);
  const [making, make] = useState(false);
  const [dialog, open] = useState<"palette" | "keys" | "phone" | undefined>(undefined);
  const [notify, setNotify] = useState(wantsNotifications);
  useAttention(hub, notify);
  const live = hub.current;

  const page = useMemo<Page>(
    () => ({
      hub,
      inspect: (picked) => {
        setSeq(picked);
        setPanel(true);
      },
      show: (picked) => {
        setSeq(undefined);
        setTab(picked);
        setPanel(true);
      },
    }),
    [hub],
  );
  useEffect(() => {
    setMenu(false);
    setSeq(undefined);
  }, [live, hub.view?.name, hub.view?.query]);
  useEffect(() => {
    function onKeyDown(event: KeyboardEvent): void {
      if (event.key === "Escape" && menu && dialog === undefined) setMenu(false);
      if (event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey) {
        event.preventDefault();
        return open("palette");
      }
      const writing = event.target instanceof HTMLElement && event.target.closest("input, textarea, select, dialog") !== null;
      if (event.key === "?" && !writing && !event.altKey && !event.ctrlKey && !event.metaKey) return open("keys");
      if (!event.altKey || event.ctrlKey || event.metaKey) return;
      if (event.code === "KeyI") setPanel((open) => !open);
      else if (event.code === "KeyC") document.querySelector<HTMLElement>(".composer textarea")?.focus();
      else if (event.code === "KeyR") document.querySelector<HTMLElement>(".request-form")?.focus();
      else return;
      event.preventDefault();
    }
    addEventListener("keydown", onKeyDown);
    return () => removeEventListener("keydown", onKeyDown);
  }, [menu, dialog]);

  useEffect(() => {
    // A file that misses the prompt field would otherwise take the place of the page.
    const stay = (event: DragEvent) => {
      const { target, dataTransfer } = event;
      // Words may be dragged into a field.
      const words = target instanceof Element && target.matches("input, textarea") && !dataTransfer?.types.includes("Files");
      if (!words) event.preventDefault();
    };
    addEventListener("dragover", stay);
    addEventListener("drop", stay);
    return () => {
      removeEventListener("dragover", stay);
      removeEventListener("drop", stay);
    };
  }, []);

  function makeSession(): void {
    make(true);
    setMenu(true);
  }

  const bell = () => void setNotifications(hub, !notify).then(setNotify);
  const doings: Doing[] = [
    ...(hub.mayCreate ? [{ name: "New session", hint: "", run: makeSession }] : []),
    { name: "Changes", hint: "all files this session touched", run: () => page.show("changes") },
    { name: "Turn", hint: "where its time went", run: () => page.show("turn") },
    { name: "Events", hint: "each with its raw line", run: () => page.show("events") },
    { name: "Session", hint: "rename, fork, resume, close", run: () => page.show("session") },
    { name: "History", hint: "old conversations, and search", run: () => hub.visit("history") },
    { name: "Usage", hint: "tokens and cost", run: () => hub.visit("usage") },
    ...(hub.mayControl ? [{ name: "Open on a phone", hint: "by a code for its camera", run: () => open("phone") }] : []),
    { name: notify ? "Notify no more" : "Notify me", hint: "of what is asked, finished or failed", run: bell },
    { name: "Dark or light", hint: "", run: toggleTheme },
    { name: "Keys", hint: "?", run: () => open("keys") },
    { name: "Log out", hint: "this browser, all its tabs", run: () => void leave(hub).finally(() => location.reload()) },
  ];
  if (hub.refused) return <Door reason={hub.reason} />;
  return (
    <PageContext.Provider value={page}>
      <div
        class={`page ${menu ? "menu-open" : ""} ${panel && live ? "panel-open" : ""} ${panel && live && tab === "changes" && seq === undefined ? "panel-wide" : ""} ${hub.state === "open" ? "" : "offline"}`}
      >
        {live && (
          <button
            type="button"
            class="skip"
            onClick={() => document.querySelector<HTMLElement>(".composer textarea, .replay button")?.focus()}
          >
            To the prompt
          </button>
        )}
        <Boundary what="the list of sessions">
          <Sidebar making={making} onMake={make} onFind={() => open("palette")} />
        </Boundary>
        {menu && <button type="button" class="veil" aria-label="Close the menu" onClick={() => setMenu(false)} />}
        <main>
          <ConnectionBar />
          {live ? (
            <LiveContext.Provider value={live} key={live.id}>
              <Boundary what="the head of this session">
                <SessionHead onMenu={() => setMenu(!menu)} onPanel={() => setPanel(!panel)} panel={panel} notify={notify} onNotify={bell} />
              </Boundary>
              <Boundary what="the conversation">
                <Transcript />
              </Boundary>
              <Boundary what="the bar of the recording">
                <ReplayBar />
              </Boundary>
              <Boundary what="what waits for you">
                <RequestDock />
              </Boundary>
              <Boundary what="what the agent does now">
                <Now />
              </Boundary>
              {!isReplay(hub.summary) && (
                <Boundary what="the prompt field">
                  <Composer />
                </Boundary>
              )}
            </LiveContext.Provider>
          ) : hub.view ? (
            <Boundary what="this page" key={hub.view.name}>
              <Pages hub={hub} view={hub.view} onMenu={() => setMenu(!menu)} />
            </Boundary>
          ) : (
            <Nothing hub={hub} onMake={makeSession} onPhone={() => open("phone")} onKeys={() => open("keys")} />
          )}
        </main>
        {panel && live && (
          <LiveContext.Provider value={live} key={`panel-${live.id}`}>
            <Boundary what="the inspector">
              <Panel hub={hub} chosen={tab} onTab={setTab} seq={seq} onSeq={setSeq} onClose={() => setPanel(false)} />
            </Boundary>
          </LiveContext.Provider>
        )}
        {dialog === "palette" && <Palette doings={doings} onClose={() => open(undefined)} />}
        {dialog === "phone" && <Phone hub={hub} onClose={() => open(undefined)} />}
        {dialog === "keys" && <Keys onClose={() => open(undefined)} />}
        <Toasts />
      </div>
    </PageContext.Provider>
  );
}
