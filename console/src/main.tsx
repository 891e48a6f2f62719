import { render } from "preact";
import { App } from "./app.js";
import { frontendName, takeToken } from "./state/access.js";
import { Hub } from "./state/hub.js";
import "./style/index.css";
import { startTheme } from "./view/theme.js";

startTheme();
const address = new URL("ws", document.baseURI);
address.protocol = location.protocol === "https:" ? "wss:" : "ws:";
address.search = address.hash = "";
const hub = new Hub(address.href, takeToken(), frontendName());
const root = document.getElementById("root");
if (root) render(<App hub={hub} />, root);
