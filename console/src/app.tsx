/** The page: sessions, the conversation, the inspector; and the door when the token is wrong. */
import { useEffect, useLayoutEffect, useMemo, useState } from "preact/hooks";
import { leave, setNotifications, useAttention, wantsNotifications } from "./notifications/attention.js";
import { install, installChanged } from "./notifications/install.js";
import { Boundary } from "./parts/boundary.js";
import { IconButton } from "./parts/parts.js";
import { logIn } from "./state/access.js";
import type { ConsoleState, View } from "./state/console_state.js";
import { LiveContext, type Page, PageContext, type Tab } from "./state/context.js";
import { useLater } from "./state/later.js";
import { useSource } from "./state/source.js";
import { visibleCode } from "./text/visible.js";
import { SessionHead } from "./view/head.js";
import { Keys, Palette, type PaletteCommand } from "./view/palette.js";
import { SessionView } from "./view/session.js";
import { Sidebar } from "./view/sidebar.js";
import { ConnectionBar, Toasts } from "./view/status.js";
import { toggleTheme } from "./view/theme.js";

function LoginPage({ reason }: { reason: string | undefined }) {
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

function Beginning({ hub, ...commands }: { hub: ConsoleState } & TourProps) {
  const views = useLater(() => import("./library/views.js"), hub);
  return views ? <views.Tour {...commands} /> : <div class="empty" />;
}

/** What stands where a session would, below the way to the menu of a narrow page. */
function EmptyState({ onMenu, ...props }: { hub: ConsoleState; onMenu: () => void } & TourProps) {
  return (
    <>
      <header class="session-head empty-head">
        <IconButton icon="menu" label="Sessions" className="menu" onClick={onMenu} />
        <b>turnwire</b>
      </header>
      <Absent {...props} />
    </>
  );
}

/** Why there is no session, and the way to one. */
function Absent({ hub, ...commands }: { hub: ConsoleState } & TourProps) {
  if (!hub.welcome) return <div class="empty" />;
  if (hub.missing === undefined) return hub.sessions.length === 0 ? <Beginning hub={hub} {...commands} /> : <div class="empty" />;
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
function Pages({ hub, view, onMenu }: { hub: ConsoleState; view: View; onMenu: () => void }) {
  const library = useLater(() => import("./library/views.js"), hub);
  return library ? <library.LibraryView view={view} onMenu={onMenu} /> : <div class="empty" />;
}

/** The dialog for a new session, once it is there. */
function Making({ hub, onClose }: { hub: ConsoleState; onClose: () => void }) {
  const views = useLater(() => import("./library/views.js"), hub);
  return views ? <views.NewSession onClose={onClose} /> : null;
}

/** How another device gets in. */
function Phone(props: { hub: ConsoleState; onClose: () => void }) {
  const reach = useLater(() => import("./notifications/notifications.js"), props.hub);
  return reach ? <reach.Invite {...props} /> : null;
}

type PanelProps = Parameters<typeof import("./inspector/inspector.js").Inspector>[0];

function Panel({ hub, ...props }: PanelProps & { hub: ConsoleState }) {
  const panel = useLater(() => import("./inspector/inspector.js"), hub);
  return panel ? <panel.Inspector {...props} /> : <aside class="inspector" aria-label="Inspector" />;
}

/** xterm.js is large, so it comes once somebody looks here. */
function ShellTab({ hub }: { hub: ConsoleState }) {
  const part = useLater(() => import("./shell/shell.js"), hub);
  return part ? <part.Shell /> : null;
}

/** Tabs of the inspector that need width. */
const WIDE: ReadonlySet<Tab> = new Set(["changes", "shell"]);

type Dialog = "palette" | "keys" | "phone" | "new";

export function App({ hub }: { hub: ConsoleState }) {
  useSource(hub.changed, hub.switched, installChanged);
  const [menu, setMenu] = useState(false);
  const [panel, setPanel] = useState(false);
  const [tab, setTab] = useState<Tab>("turn");
  const [seq, setSeq] = useState<number | undefined>(undefined);
  const [dialog, open] = useState<Dialog | undefined>(undefined);
  // A dialog says late that it closed: by then another may be open.
  const close = (closed: Dialog) => open((now) => (now === closed ? undefined : now));
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
  // Before anything is painted: who sees the page can use its keys.
  useLayoutEffect(() => {
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
      else if (event.code === "KeyF" && hub.current) hub.current.finding.emit();
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

  const makeSession = () => open("new");
  const bell = () => void setNotifications(hub, !notify).then(setNotify);
  const commands: PaletteCommand[] = [
    ...(hub.mayCreate ? [{ name: "New session", hint: "", run: makeSession }] : []),
    ...(live ? [{ name: "Find in this conversation", hint: "Alt F", run: () => live.finding.emit() }] : []),
    { name: "Changes", hint: "all files this session touched", run: () => page.show("changes") },
    ...(live && hub.mayOpenShells ? [{ name: "Shell", hint: "a terminal in this session's folder", run: () => page.show("shell") }] : []),
    ...(hub.summary?.worktree ? [{ name: "Worktree", hint: "merge, push or discard its branch", run: () => page.show("worktree") }] : []),
    { name: "Turn", hint: "where its time went", run: () => page.show("turn") },
    { name: "Events", hint: "each with its raw line", run: () => page.show("events") },
    { name: "Session", hint: "rename, fork, resume, close", run: () => page.show("session") },
    { name: "History", hint: "old conversations, and search", run: () => hub.visit("history") },
    { name: "Usage", hint: "tokens and cost", run: () => hub.visit("usage") },
    ...(hub.mayControl ? [{ name: "Open on a phone", hint: "by a code for its camera", run: () => open("phone") }] : []),
    { name: notify ? "Notify no more" : "Notify me", hint: "of what is asked, finished or failed", run: bell },
    ...(install() ? [{ name: "Install as an app", hint: "on this device", run: () => install()?.() }] : []),
    { name: "Dark or light", hint: "", run: toggleTheme },
    { name: "Keys", hint: "?", run: () => open("keys") },
    { name: "Log out", hint: "this browser, all its tabs", run: () => void leave(hub).finally(() => location.reload()) },
  ];
  if (hub.refused) return <LoginPage reason={hub.reason} />;
  return (
    <PageContext.Provider value={page}>
      <div
        class={`page ${menu ? "menu-open" : ""} ${panel && live ? "panel-open" : ""} ${panel && live && WIDE.has(tab) && seq === undefined ? "panel-wide" : ""} ${hub.state === "open" ? "" : "offline"}`}
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
          <Sidebar onMake={makeSession} onFind={() => open("palette")} />
        </Boundary>
        {menu && <button type="button" class="veil" aria-label="Close the menu" onClick={() => setMenu(false)} />}
        <main>
          <ConnectionBar />
          {live ? (
            <SessionView live={live} key={live.id}>
              <Boundary what="the head of this session">
                <SessionHead onMenu={() => setMenu(!menu)} onPanel={() => setPanel(!panel)} panel={panel} notify={notify} onNotify={bell} />
              </Boundary>
            </SessionView>
          ) : hub.view ? (
            <Boundary what="this page" key={hub.view.name}>
              <Pages hub={hub} view={hub.view} onMenu={() => setMenu(!menu)} />
            </Boundary>
          ) : (
            <EmptyState
              hub={hub}
              onMenu={() => setMenu(!menu)}
              onMake={makeSession}
              onPhone={() => open("phone")}
              onKeys={() => open("keys")}
            />
          )}
        </main>
        {panel && live && (
          <LiveContext.Provider value={live} key={`panel-${live.id}`}>
            <Boundary what="the inspector">
              <Panel
                hub={hub}
                chosen={tab}
                onTab={setTab}
                seq={seq}
                onSeq={setSeq}
                onClose={() => setPanel(false)}
                shell={<ShellTab hub={hub} />}
              />
            </Boundary>
          </LiveContext.Provider>
        )}
        {dialog === "palette" && <Palette commands={commands} onClose={() => close("palette")} />}
        {dialog === "new" && <Making hub={hub} onClose={() => close("new")} />}
        {dialog === "phone" && <Phone hub={hub} onClose={() => close("phone")} />}
        {dialog === "keys" && <Keys onClose={() => close("keys")} />}
        <Toasts />
      </div>
    </PageContext.Provider>
  );
}
