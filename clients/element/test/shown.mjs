// Shows recorded logs as <turnwire-session> does. argv: a file of {name, events}, one a line; prints {name, …what is shown}.
import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { GlobalWindow } from "happy-dom";
import { createServer } from "vite";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const window = new GlobalWindow({ url: "http://127.0.0.1/" });
for (const name of Object.getOwnPropertyNames(window)) {
  if (!(name in globalThis)) Object.defineProperty(globalThis, name, { get: () => window[name], configurable: true });
}
const server = await createServer({
  configFile: here("../../../console/vite.config.ts"),
  server: { middlewareMode: true, hmr: false, ws: false },
  appType: "custom",
  logLevel: "error",
});
const { shown } = await server.ssrLoadModule(here("shown.tsx"));
for await (const line of createInterface({ input: createReadStream(process.argv[2]) })) {
  const { name, events } = JSON.parse(line);
  process.stdout.write(`${JSON.stringify({ name, ...shown(events) })}\n`);
}
await server.close();
process.exit(0);
