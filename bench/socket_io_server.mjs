// A peer for bench_hub.py: socket.io sends so many stamped texts to all its sockets, one each PAUSE ms, then says its CPU seconds.
// Usage: node socket_io_server.mjs FOLDER_OF_NODE_MODULES EVENTS PAUSE_MS; it says its port, and begins at the first line of its input.
import { once } from "node:events";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { setTimeout } from "node:timers/promises";

const [folder, events, pause] = process.argv.slice(2);
const { Server } = createRequire(`${folder}/`)("socket.io");
const http = createServer();
const io = new Server(http, { transports: ["websocket"] });
http.listen(0, "127.0.0.1", () => console.log(http.address().port));
await once(process.stdin, "data");
const before = process.cpuUsage();
for (let sent = 0; sent < Number(events); sent++) {
	io.emit("event", `@${process.hrtime.bigint()}@${"x".repeat(300)}`);
	await setTimeout(Number(pause));
}
const { user, system } = process.cpuUsage(before);
console.log((user + system) / 1e6);
