/**
 * Send a prompt, print what happens, say yes to the first option of every permission request; ends with the turn.
 *
 *     cd web && npm ci && npm run build
 *     node_modules/.bin/tsc -p ../examples/typescript --outDir /tmp/follow && node /tmp/follow/follow.js URL PROMPT
 *
 * The URL is the one that `turnwire run` prints.
 */
import { Client } from "turnwire-client";
import WebSocket from "ws";

const [printed = "", prompt = ""] = process.argv.slice(2);
const url = new URL(printed);
const token = new URLSearchParams(url.hash.slice(1)).get("token") ?? "";

const client = new Client({ url: `ws://${url.host}/ws`, token, name: "typescript example", WebSocket });
const { epoch, sessions } = await client.ready();
const [summary] = sessions;
if (summary === undefined) throw new Error("there is no session to follow");
const { session } = summary;

client.subscribe(
  session,
  {
    onEvents: (events) => {
      for (const { event } of events) {
        switch (event.type) {
          case "message_chunk":
            process.stdout.write(event.text);
            break;
          case "tool_call":
            console.log(`\n> ${event.tool_title}`);
            break;
          case "permission_request": {
            const [option] = event.permission_options;
            console.log(`\n? ${event.permission_title}: ${option?.name}`);
            if (option) {
              void client.command({
                type: "permission.respond",
                session,
                pending_id: event.pending_id,
                option_id: option.option_id,
              });
            }
            break;
          }
          case "complete":
            console.log(`\n[${event.data.outcome}]`);
            client.close();
            break;
        }
      }
    },
  },
  { epoch, seq: summary.last_seq ?? 0 },
);
await client.command({ type: "prompt", session, text: prompt });
