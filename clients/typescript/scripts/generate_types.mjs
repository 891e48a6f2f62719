// Usage: generate_types.mjs FRAMES COMMANDS RESULTS. Reads three files that hold what `turnwire schema frames`, `commands` and
// `results` print, and writes TypeScript types to standard output.
// A field that has a default is always there in what the hub sends, and may be left out of what it is sent;
// a field whose default is null is left out when it is empty, so `null` never needs to be handled.
import { readFileSync } from "node:fs";

const NULL = { type: "null" };

/** @param {string} name */
const last = (name) => name.slice(name.lastIndexOf("/") + 1);
const quoteKey = (key) => (/^[A-Za-z_$][\w$]*$/.test(key) ? key : JSON.stringify(key));
const isNull = (schema) => schema.type === NULL.type;

function union(schemas) {
  return [...new Set(schemas.map(typeOf))].join(" | ") || "never";
}

function arrayOf(schema) {
  const item = typeOf(schema);
  return /[ |]/.test(item) ? `Array<${item}>` : `${item}[]`;
}

/** The TypeScript type of one schema, as an expression. */
function typeOf(schema) {
  if (schema.$ref) return last(schema.$ref);
  if ("const" in schema) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  if (schema.anyOf) return union(schema.anyOf);
  if (schema.oneOf) return union(schema.oneOf);
  if (Array.isArray(schema.type)) return union(schema.type.map((type) => ({ ...schema, type })));
  switch (schema.type) {
    case "string":
      return "string";
    case "integer":
    case "number":
      return "number";
    case "boolean":
      return "boolean";
    case "null":
      return "null";
    case "array":
      return schema.items ? arrayOf(schema.items) : "JsonValue[]";
    case "object":
      if (schema.properties) return inline(schema);
      return typeof schema.additionalProperties === "object"
        ? `Record<string, ${typeOf(schema.additionalProperties)}>`
        : "Record<string, JsonValue>";
    case undefined:
      return "JsonValue";
    default:
      throw new Error(`no TypeScript type for a schema of type ${schema.type}`);
  }
}

function inline(schema) {
  const fields = Object.entries(schema.properties).map(([key, value]) => `${quoteKey(key)}: ${typeOf(value)}`);
  return `{ ${fields.join("; ")} }`;
}

function comment(text, indent) {
  if (!text) return "";
  const lines = text.replaceAll("*/", "* /").split("\n");
  if (lines.length === 1) return `${indent}/** ${lines[0]} */\n`;
  return `${indent}/**\n${lines.map((line) => `${indent} * ${line}`.trimEnd()).join("\n")}\n${indent} */\n`;
}

function field(key, schema, required, sent) {
  const emptyByDefault = !required && schema.default === null;
  const choices = schema.anyOf ?? schema.oneOf;
  const shown = emptyByDefault && choices?.some(isNull) ? { ...schema, anyOf: choices.filter((s) => !isNull(s)) } : schema;
  const optional = required ? false : sent ? true : schema.default === null || !("default" in schema);
  return `${comment(schema.description, "  ")}  ${quoteKey(key)}${optional ? "?" : ""}: ${typeOf(shown)};\n`;
}

function definition(name, schema, sent) {
  const head = comment(schema.description, "");
  if (schema.type !== "object" || !schema.properties) return `${head}export type ${name} = ${typeOf(schema)};\n`;
  const required = new Set(schema.required ?? []);
  const fields = Object.entries(schema.properties).map(([key, value]) => field(key, value, required.has(key), sent));
  return `${head}export interface ${name} {\n${fields.join("")}}\n`;
}

const [frames, commands, results] = process.argv.slice(2).map((path) => JSON.parse(readFileSync(path, "utf8")));
const parts = [
  ["OutFrame", "Any frame the hub sends; `type` tells which.", frames, false],
  ["AnyCommand", "Any command a frontend sends; `type` tells which.", commands, true],
];
const written = new Map([["JsonValue", ""]]);
let out = `// Generated from \`turnwire schema\` by scripts/generate_types.mjs; do not edit.

/** Any JSON value. */
export type JsonValue = null | boolean | number | string | JsonValue[] | { [key: string]: JsonValue };
`;
for (const [root, description, schema, sent] of parts) {
  for (const [name, def] of Object.entries(schema.$defs)) {
    if (written.has(name)) continue;
    written.set(name, def);
    out += `\n${definition(name, def, sent)}`;
  }
  out += `\n${comment(description, "")}export type ${root} = ${typeOf(schema)};\n`;
}
for (const [name, def] of Object.entries(results.$defs)) {
  if (!written.has(name)) out += `\n${definition(name, def, false)}`;
}
const kinds = Object.entries(results.properties).map(([kind, schema]) => `  ${quoteKey(kind)}: ${typeOf(schema)};\n`);
out += `\n${comment(results.description, "")}export interface CommandResults {\n${kinds.join("")}}\n`;
const event = frames.$defs.EventFrame.properties.event;
out += `\n${comment("Any event of a session; `type` tells which.", "")}export type AgentEvent = ${typeOf(event)};\n`;
const payload = frames.$defs.ToolCall.properties.normalized;
out += `\n${comment("What a tool call does and what came of it; `kind` tells which field is populated.", "")}export type NormalizedPayload = ${typeOf(payload)};\n`;
process.stdout.write(out);
