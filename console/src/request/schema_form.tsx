/** A form for the flat JSON Schemas that elicitations use: text, numbers, yes or no, one of several. */
import type { JsonValue } from "turnwire-client";
import { visibleCode } from "../text/visible.js";

export interface Field {
  readonly name: string;
  readonly title: string;
  readonly description: string | undefined;
  readonly type: "string" | "number" | "integer" | "boolean" | "choice";
  readonly choices: readonly string[];
  readonly required: boolean;
  readonly initial: JsonValue | undefined;
}

export type Values = Record<string, string | boolean>;

const isObject = (value: unknown): value is Record<string, JsonValue> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const text = (value: unknown) => (typeof value === "string" ? value : undefined);

/** Empty when the schema is not one this form can show. */
export function fieldsOf(schema: JsonValue | undefined): Field[] {
  if (!isObject(schema) || !isObject(schema.properties)) return [];
  const required = new Set(Array.isArray(schema.required) ? schema.required : []);
  return Object.entries(schema.properties).flatMap(([name, property]) => {
    if (!isObject(property)) return [];
    const choices = Array.isArray(property.enum) ? property.enum.filter((one): one is string => typeof one === "string") : [];
    const type = choices.length > 0 ? "choice" : property.type;
    if (type !== "string" && type !== "number" && type !== "integer" && type !== "boolean" && type !== "choice") return [];
    return [
      {
        name,
        title: text(property.title) ?? name,
        description: text(property.description),
        type,
        choices,
        required: required.has(name),
        initial: property.default,
      },
    ];
  });
}

export function startValues(fields: readonly Field[]): Values {
  return Object.fromEntries(
    fields.map((field) => [
      field.name,
      field.type === "boolean"
        ? field.initial === true
        : typeof field.initial === "string" || typeof field.initial === "number"
          ? String(field.initial)
          : "",
    ]),
  );
}

export function toContent(fields: readonly Field[], values: Values): Record<string, JsonValue> {
  const content: Record<string, JsonValue> = {};
  for (const { name, type } of fields) {
    const value = values[name];
    if (type === "boolean") content[name] = value === true;
    else if (value !== undefined && value !== "") content[name] = type === "number" || type === "integer" ? Number(value) : value;
  }
  return content;
}

interface Props {
  fields: readonly Field[];
  values: Values;
  /** Takes the value that is another one now. A program that fills in a form changes several before it is drawn again. */
  onChange: (changed: Values) => void;
}

export function SchemaForm({ fields, values, onChange }: Props) {
  const set = (name: string, value: string | boolean) => onChange({ [name]: value });
  return (
    <>
      {fields.map((field) => (
        // biome-ignore lint/a11y/noLabelWithoutControl: every type of field has its control in the label
        <label key={field.name} class={field.type === "boolean" ? "choice" : "message"}>
          {field.type === "boolean" && (
            <input
              type="checkbox"
              checked={values[field.name] === true}
              onChange={(event) => set(field.name, event.currentTarget.checked)}
            />
          )}
          <span>
            {visibleCode(field.title)}
            {field.description && <small>{visibleCode(field.description)}</small>}
          </span>
          {field.type === "choice" && (
            <select
              required={field.required}
              value={String(values[field.name] ?? "")}
              onChange={(event) => set(field.name, event.currentTarget.value)}
            >
              <option value="">Choose …</option>
              {field.choices.map((choice) => (
                <option key={choice} value={choice}>
                  {visibleCode(choice)}
                </option>
              ))}
            </select>
          )}
          {field.type === "string" && (
            <input
              type="text"
              required={field.required}
              value={String(values[field.name] ?? "")}
              onInput={(event) => set(field.name, event.currentTarget.value)}
            />
          )}
          {(field.type === "number" || field.type === "integer") && (
            <input
              type="number"
              step={field.type === "number" ? "any" : "1"}
              required={field.required}
              value={String(values[field.name] ?? "")}
              onInput={(event) => set(field.name, event.currentTarget.value)}
            />
          )}
        </label>
      ))}
    </>
  );
}
