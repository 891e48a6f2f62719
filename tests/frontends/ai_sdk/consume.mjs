// Lets the AI SDK's own reader consume recorded responses, and check each message. argv: a file of {name, body}, one a line.
import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import { parseJsonEventStream, readUIMessageStream, uiMessageChunkSchema, validateUIMessages } from "ai";

for await (const line of createInterface({ input: createReadStream(process.argv[2]) })) {
  const { name, body } = JSON.parse(line);
  const bad = [];
  const chunks = parseJsonEventStream({ stream: new Response(body).body, schema: uiMessageChunkSchema }).pipeThrough(
    new TransformStream({
      transform(part, controller) {
        if (part.success) controller.enqueue(part.value);
        else bad.push(String(part.error));
      },
    }),
  );
  let message = null;
  try {
    for await (const each of readUIMessageStream({ stream: chunks, onError: (error) => bad.push(String(error)) })) message = each;
    if (message !== null && message.parts.length > 0) await validateUIMessages({ messages: [message] });
  } catch (error) {
    bad.push(String(error));
  }
  process.stdout.write(`${JSON.stringify({ name, message, bad })}\n`);
}
