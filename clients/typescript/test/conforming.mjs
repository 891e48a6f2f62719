// A frontend that acknowledges what it has delivered: turnwire conform frontend -- node clients/typescript/test/conforming.mjs
import { createHash } from "node:crypto";
import WebSocket from "ws";
import { Client } from "../dist/index.js";

const session = "conform";
const client = new Client({ url: process.env.TURNWIRE_URL, WebSocket, backoff: { first: 20, most: 500 } });
const delivered = createHash("sha256");
let count = 0;
client.follow(session, {
  onEvents: (events) => {
    for (const { seq, event } of events) {
      count += 1;
      delivered.update(`${seq}\n`);
      if (event.type === "notice" && event.kind === "conform") {
        const text = JSON.stringify({ events: count, digest: delivered.copy().digest("hex") });
        client.command({ type: "prompt", session, text }).catch(console.error);
      } else if (event.type === "permission_request") {
        const [{ option_id }] = event.permission_options;
        client.command({ type: "permission.respond", session, pending_id: event.pending_id, option_id }).catch(() => {}); // somebody else was first
      }
    }
  },
});
