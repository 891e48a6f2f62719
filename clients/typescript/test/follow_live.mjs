// Follows a session with the built client and prints what it gets, one JSON array of numbers a batch. Run by tests that
// kill the hub meanwhile: node follow_live.mjs URL TOKEN SESSION
import WebSocket from "ws";
import { Client } from "../dist/index.js";

const [url, token, session] = process.argv.slice(2);
const print = (value) => process.stdout.write(`${JSON.stringify(value)}\n`);
const client = new Client({ url, token, WebSocket, backoff: { first: 20, most: 200 } });
client.follow(session, {
  onEvents: (events) => print(events.map(({ seq }) => seq)),
  onGap: (gap) => print({ gap }),
});
