/**
 * Send a prompt, print what happens, allow every call once, take the first answer to every question; ends with the turn.
 *
 *     npm ci && npm run example -- "$URL" 'What is in this folder?'
 *
 * The URL is the one that `turnwire run` prints; it names the session that was started. Without one the newest is taken.
 */
import { allowOnce, Client } from "turnwire-client";
import WebSocket from "ws";

const [printed = "", prompt = ""] = process.argv.slice(2);
const client = new Client({ url: printed, name: "typescript example", WebSocket });
const { epoch, sessions } = await client.connected();
const named = client.namedSession;
const summary = named === undefined ? sessions.at(-1) : sessions.find(({ session }) => session === named);
if (summary === undefined) throw new Error(`there is no session ${named ?? "to follow"}`);
const { session } = summary;

client.follow(
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
            console.log(`\n? ${event.permission_title}: allowed once`);
            const { pending_id } = event;
            void client.command({ type: "permission.respond", session, pending_id, option_id: allowOnce(event) });
            break;
          }
          case "question_request": {
            const answers: Record<string, string> = {};
            for (const { question, options } of event.questions ?? []) {
              answers[question] = options[0]?.label ?? "";
              console.log(`\n? ${question}: ${answers[question]}`);
            }
            void client.command({ type: "question.answer", session, pending_id: event.pending_id, answers });
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
  { epoch, seq: summary.last_seq },
);
await client.command({ type: "prompt", session, text: prompt });
