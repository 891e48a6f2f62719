/** What a tool card shows when it is open, by kind of payload. */

import type { ComponentChildren } from "preact";
import type { CodeSearch, HttpRequest, ModifyFile, NormalizedPayload, ReadFile, ShellExec, TodoItem } from "turnwire-client";
import type { Kind, Payload } from "../model/cards.js";
import { Icon } from "../parts/icons.js";
import { Parts } from "../parts/images.js";
import { Code, Json, Prose, Terminal } from "../parts/text.js";
import { useLive } from "../state/context.js";
import { known, plural } from "../text/format.js";
import { languageOf } from "../text/languages.js";
import { visibleCode } from "../text/visible.js";
import { MutationView } from "./diff_view.js";

function Read({ body }: { body: ReadFile }) {
  const output = body.output;
  if (!output) return null;
  return (
    <>
      {output.content !== undefined && (
        <Code
          text={output.content}
          language={languageOf(body.file_path)}
          start={output.start_line ?? 1}
          label={`Content of ${body.file_path}`}
        />
      )}
      <Parts parts={output.parts} />
      {output.total_lines !== undefined && output.truncated && <p class="quiet">The file has {plural(output.total_lines, "line")}.</p>}
    </>
  );
}

function Modify({ body }: { body: ModifyFile }) {
  return (
    <>
      {body.mutations.map((mutation, index) => (
        <MutationView key={index} mutation={mutation} path={mutation.file_path ?? body.file_path} of={body.file_path} />
      ))}
      {body.output && !body.output.applied && body.output.message && (
        <Terminal text={body.output.message} label="What the tool said" error />
      )}
    </>
  );
}

/** Characters of a command that the head of its card shows whole, on several lines where need be. */
export const HEAD = 300;

function Remark({ parts }: { parts: ReadonlyArray<string | false | undefined> }) {
  const said = parts.filter(Boolean).join(" · ");
  return said === "" ? null : <p class="quiet">{visibleCode(said)}</p>;
}

function Shell({ body }: { body: ShellExec }) {
  const { command, description, output, work_dir } = body;
  const home = useLive().conversation.state.info?.cwd;
  // The session's own folder is said once, at the top of the page.
  const elsewhere = work_dir && work_dir !== home ? `in ${visibleCode(work_dir)}` : "";
  const about = [description && visibleCode(description), elsewhere].filter(Boolean).join(" — ");
  return (
    <>
      {about && <p class="quiet">{about}</p>}
      {/* The head has a short one whole. */}
      {command && (command.length > HEAD || command.includes("\n")) && (
        <Code text={command} language={command.includes("\n") ? "bash" : ""} label="Command" />
      )}
      {output?.stdout && <Terminal text={output.stdout} label="Standard output" />}
      {output?.stderr && <Terminal text={output.stderr} label="Standard error" error />}
      <Parts parts={output?.parts} />
      {output && (
        <Remark
          parts={[
            output.exit_code !== undefined && output.exit_code !== 0 && `Exit code ${output.exit_code}`,
            !output.stdout && !output.stderr && !output.parts && "no output",
            output.truncated && "the agent was given less than the command wrote",
            output.status && `task ${output.status}`,
            output.task_id && `task id ${output.task_id}`,
            output.persisted_path && `whole output in ${output.persisted_path}`,
          ]}
        />
      )}
    </>
  );
}

const MOST = 200;

function Search({ body }: { body: CodeSearch }) {
  const output = body.output;
  if (!output) return null;
  if (output.matches) {
    const lines = output.matches.map((match) => [match.file, match.line, match.text].filter((part) => part !== undefined).join(":"));
    return <Code text={lines.join("\n")} label="Matches" />;
  }
  const counted = output.counts && Object.entries(output.counts).map(([file, found]) => `${file}: ${found}`);
  const files = counted ?? output.files ?? [];
  if (files.length === 0) return <p class="quiet">{output.file_count === 0 ? "Nothing was found." : "No file names were returned."}</p>;
  return (
    <ul class="files">
      {files.slice(0, MOST).map((file) => (
        <li key={file}>{visibleCode(file)}</li>
      ))}
      {files.length > MOST && <li class="quiet">and {plural(files.length - MOST, "more file")}</li>}
    </ul>
  );
}

const Document = ({ text, label }: { text: string; label: string }) => (
  <div class="pane document" tabIndex={0} role="group" aria-label={label}>
    <Prose text={text} />
  </div>
);

function Http({ body }: { body: HttpRequest }) {
  return (
    <>
      {body.prompt && <p class="quiet">{visibleCode(body.prompt)}</p>}
      {body.results && (
        <ul class="files">
          {body.results.map((hit, index) => (
            <li key={index}>{visibleCode([hit.title, hit.url].filter((part) => typeof part === "string").join(" — "))}</li>
          ))}
        </ul>
      )}
      {body.response && <Document text={body.response} label="Answer" />}
    </>
  );
}

const MARKS = { pending: "open", completed: "done", in_progress: "busy", deleted: "gone" };

export function Todos({ items }: { items: readonly TodoItem[] }) {
  return (
    <ul class="todos">
      {items.map((item, index) => (
        <li key={item.id ?? index} class={known(MARKS, item.status) ?? "open"}>
          <span class="mark" role="img" aria-label={item.status.replace("_", " ") || "state not told"}>
            {item.status === "completed" && <Icon name="check" />}
          </span>
          <span>
            {visibleCode(item.status === "in_progress" ? (item.active_form ?? item.description) : item.description)}
            {item.status && !known(MARKS, item.status) && <small> {visibleCode(item.status)}</small>}
            {item.blocked_by && item.blocked_by.length > 0 && <small> after {item.blocked_by.join(", ")}</small>}
          </span>
        </li>
      ))}
    </ul>
  );
}

type Body<K extends Kind> = (payload: Payload<K>) => ComponentChildren;

const BODIES: { readonly [K in Kind]: Body<K> } = {
  read_file: ({ read_file }) => <Read body={read_file} />,
  modify_file: ({ modify_file }) => <Modify body={modify_file} />,
  shell_exec: ({ shell_exec }) => <Shell body={shell_exec} />,
  code_search: ({ code_search }) => <Search body={code_search} />,
  http_request: ({ http_request }) => <Http body={http_request} />,
  subagent_task: ({ subagent_task: { prompt } }) => (prompt.trim() === "" ? null : <Document text={prompt} label="Task of the agent" />),
  create_task: ({ create_task: { description } }) => (description ? <Prose text={description} /> : null),
  manage_todos: ({ manage_todos }) => <Todos items={manage_todos.items} />,
  show_plan: ({ show_plan: { plan, feedback } }) => (
    <>
      {plan && (
        <div class="document">
          <Prose text={plan} />
        </div>
      )}
      {feedback && <p>Answer: {visibleCode(feedback)}</p>}
    </>
  ),
  ask_user: ({ ask_user: { questions, answers } }) => (
    <dl class="answers">
      {questions.map(({ question }) => (
        <div key={question}>
          <dt>{visibleCode(question)}</dt>
          <dd>{visibleCode(answers?.[question] ?? "not answered")}</dd>
        </div>
      ))}
    </dl>
  ),
  mcp_tool: ({ mcp_tool }) => (
    <>
      <Json value={mcp_tool.input} label="Arguments" />
      <Parts parts={mcp_tool.output} />
    </>
  ),
  generic: ({ generic: { input, output } }) => (
    <>
      {input !== undefined && <Json value={input} label="Arguments" />}
      {output !== undefined && <Json value={output} label="Result" />}
    </>
  ),
  misc: ({ misc: { details } }) => (details === undefined ? null : <Json value={details} label="Details" />),
};

/** Nothing for a kind that a newer hub has. */
export function ToolBody({ payload }: { payload: NormalizedPayload }) {
  const body = known(BODIES as Readonly<Record<string, Body<Kind>>>, payload.kind);
  return <>{body?.(payload)}</>;
}
