/** Editing a tool's input: a command as text, everything else as JSON. */
import type { JsonValue, PermissionRequest } from "turnwire-client";

/** What the editor starts with; undefined when there is nothing to edit. */
export function startEditing(request: PermissionRequest): { label: string; text: string } | undefined {
  const input = request.tool_input;
  if (!input) return undefined;
  if (typeof input.command === "string") return { label: "Command", text: input.command };
  return { label: "Input as JSON", text: JSON.stringify(input, null, 2) };
}

/** The edited input, or a sentence that says what is wrong with it. */
export function parseInput(request: PermissionRequest, text: string): Record<string, JsonValue> | string {
  if (typeof request.tool_input?.command === "string") return { ...request.tool_input, command: text };
  try {
    const parsed = JSON.parse(text) as JsonValue;
    if (typeof parsed === "object" && parsed !== null && !Array.isArray(parsed)) return parsed;
    return "The input must be a JSON object: begin it with { and end it with }.";
  } catch (error) {
    return `The input is not JSON yet: ${error instanceof Error ? error.message : String(error)}.`;
  }
}
