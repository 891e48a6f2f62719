/** Installs the page as an app, where the browser offers that. */
import { Source } from "../state/source.js";

/** What chromium gives a page that can be installed. */
interface InstallEvent extends Event {
  prompt(): Promise<unknown>;
}

let offered: InstallEvent | undefined;
export const installChanged = new Source();

export function watchInstall(): void {
  addEventListener("beforeinstallprompt", (event) => {
    event.preventDefault();
    offered = event as InstallEvent;
    installChanged.emit();
  });
  addEventListener("appinstalled", () => {
    offered = undefined;
    installChanged.emit();
  });
}

/** Asks the browser to install it; undefined where it does not offer that. */
export const install = (): (() => void) | undefined => offered && (() => void offered?.prompt());
