// Lets the AI SDK check a conversation's UI messages, fetched as a page does. argv: the URL, the token.
import { validateUIMessages } from "ai";

const [url, token] = process.argv.slice(2);
const reply = await fetch(url, { headers: { Authorization: `Bearer ${token}` } });
const messages = await reply.json();
process.stdout.write(JSON.stringify(await validateUIMessages({ messages })));
