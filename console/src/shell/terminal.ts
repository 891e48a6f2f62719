/** A shell of a session in this page: xterm.js at one end, the hub's commands and frames at the other. */
import { FitAddon } from "@xterm/addon-fit";
import { type ITheme, Terminal } from "@xterm/xterm";
import css from "@xterm/xterm/css/xterm.css?inline";
import type { ShellEnded, ShellFrame } from "turnwire-client";
import type { ConsoleState } from "../state/console_state.js";
import type { LiveSession } from "../state/live.js";
import { Source } from "../state/source.js";
import { Seen, Typing } from "./flow.js";
import { sheetOf, withSheets } from "./styles.js";

sheetOf(css);

/** Keys of the page that a terminal leaves to it, so that the keyboard finds its way out. */
const PAGE_KEYS: ReadonlySet<string> = new Set(["KeyC", "KeyI", "KeyR"]);

const DARK = matchMedia("(prefers-color-scheme: dark)");

function theme(): ITheme {
  const style = getComputedStyle(document.documentElement);
  const colour = (name: string) => style.getPropertyValue(name).trim();
  const colours: ITheme = {
    background: colour("--surface"),
    foreground: colour("--text"),
    cursor: colour("--text"),
    cursorAccent: colour("--surface"),
    selectionBackground: colour("--accent-soft"),
  };
  for (const name of ["Black", "Red", "Green", "Yellow", "Blue", "Magenta", "Cyan", "White"] as const) {
    colours[`bright${name}`] = colours[name.toLowerCase() as Lowercase<typeof name>] = colour(`--a-${name.toLowerCase()}`);
  }
  return colours;
}

export class ShellTerminal {
  /** Its state changed. */
  readonly changed = new Source();
  /** Where it is drawn; a view takes it in, and may let it go again. */
  readonly element = document.createElement("div");
  state: "opening" | "open" | "ended" = "opening";
  /** How it ended, or why there is none. */
  end = "";
  private readonly terminal: Terminal;
  private readonly fit = new FitAddon();
  private readonly typing: Typing;
  private readonly seen: Seen;
  private readonly observers: { disconnect(): void }[] = [];
  private name: string | undefined;
  private isClosed = false;

  constructor(
    private readonly hub: ConsoleState,
    private readonly live: LiveSession,
  ) {
    this.element.className = "shell-terminal mono";
    this.terminal = new Terminal({
      fontSize: 13,
      scrollback: 5000,
      minimumContrastRatio: 4.5,
      theme: theme(),
      // A link of the output leads nowhere: its text and its address may differ.
      linkHandler: { activate: () => undefined },
    });
    this.terminal.loadAddon(this.fit);
    this.terminal.attachCustomKeyEventHandler((event) => !(event.altKey && !event.ctrlKey && !event.metaKey && PAGE_KEYS.has(event.code)));
    this.typing = new Typing(
      (text) => this.do({ type: "shell.write", text }),
      (error) => hub.toast(hub.why(error)),
    );
    this.seen = new Seen((number) => void this.do({ type: "shell.ack", number }).catch(() => undefined));
    this.terminal.onData((text) => this.typing.add(text));
    this.terminal.onResize(({ cols, rows }) => void this.do({ type: "shell.resize", columns: cols, rows }).catch(() => undefined));
  }

  /** Draws it, and opens the shell once its size is known. */
  show(place: HTMLElement): void {
    place.append(this.element);
    if (this.terminal.element) {
      this.refit();
      this.terminal.focus();
      return;
    }
    this.terminal.options.fontFamily = getComputedStyle(this.element).fontFamily;
    withSheets(() => this.terminal.open(this.element));
    this.refit();
    const sizes = new ResizeObserver(() => this.refit());
    sizes.observe(this.element);
    const recolour = () => {
      this.terminal.options.theme = theme();
    };
    const themes = new MutationObserver(recolour);
    themes.observe(document.documentElement, { attributeFilter: ["data-theme"] });
    DARK.addEventListener("change", recolour);
    this.observers.push(sizes, themes, { disconnect: () => DARK.removeEventListener("change", recolour) });
    this.terminal.focus();
    void this.open();
  }

  focus(): void {
    this.terminal.focus();
  }

  /** Ends the shell. */
  stop(): void {
    void this.do({ type: "shell.close" }).catch(() => undefined);
  }

  /** Ends the shell, and the terminal with it. */
  close(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.stop();
    this.over("");
    this.terminal.dispose();
    this.element.remove();
  }

  private async open(): Promise<void> {
    const { cols, rows } = this.terminal;
    try {
      const { shell } = await this.hub.client.command({ type: "shell.open", session: this.live.id, columns: cols, rows });
      this.name = shell;
      if (this.isClosed) return this.stop();
      this.hub.shells.set(shell, (frame) => this.take(frame));
      this.state = "open";
      this.typing.begin();
      if (cols !== this.terminal.cols || rows !== this.terminal.rows)
        void this.do({ type: "shell.resize", columns: this.terminal.cols, rows: this.terminal.rows }).catch(() => undefined);
      this.changed.emit();
    } catch (error) {
      this.over(this.hub.why(error));
    }
  }

  private take(frame: ShellFrame | ShellEnded | undefined): void {
    if (frame === undefined) this.over("The connection was lost, and the shell with it.");
    else if (frame.type === "shell_output") this.terminal.write(frame.text, () => this.seen.draw(frame.number));
    else this.over(frame.code ? `The shell has ended with exit code ${frame.code}.` : "The shell has ended.");
  }

  private over(end: string): void {
    if (this.state === "ended") return;
    this.state = "ended";
    this.end = end;
    if (this.name !== undefined) this.hub.shells.delete(this.name);
    this.typing.stop();
    this.seen.stop();
    for (const one of this.observers) one.disconnect();
    this.terminal.options.disableStdin = true;
    this.changed.emit();
  }

  private refit(): void {
    // What is not drawn has no size.
    if (this.element.clientWidth > 0) this.fit.fit();
  }

  /** Does a command about this shell, while there is one. */
  private do(
    command:
      | { type: "shell.write"; text: string }
      | { type: "shell.ack"; number: number }
      | { type: "shell.resize"; columns: number; rows: number }
      | { type: "shell.close" },
  ): Promise<unknown> {
    if (this.name === undefined || (this.state === "ended" && command.type !== "shell.close")) return Promise.resolve();
    return this.hub.client.command({ ...command, session: this.live.id, shell: this.name });
  }
}
