import { render } from "preact";
import { App } from "./app.js";
import { enter, frontendName } from "./state/access.js";
import { ConsoleState } from "./state/console_state.js";
import "./style/index.css";
import { startReach } from "./notifications/attention.js";
import { watchInstall } from "./notifications/install.js";
import { startTheme } from "./view/theme.js";
import { keepInSight } from "./view/viewport.js";

startTheme();
keepInSight();
watchInstall();
const address = new URL("ws", document.baseURI);
address.protocol = location.protocol === "https:" ? "wss:" : "ws:";
address.search = address.hash = "";
// Not awaited at the top: a script that waits there cannot be shared with those that are loaded later.
void enter().then(() => {
  const hub = new ConsoleState(address.href, frontendName());
  startReach(hub);
  const root = document.getElementById("root");
  if (root) render(<App hub={hub} />, root);
});
