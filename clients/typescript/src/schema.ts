// Generated from `turnwire schema` by scripts/generate_types.mjs; do not edit.

/** Any JSON value. */
export type JsonValue = null | boolean | number | string | JsonValue[] | { [key: string]: JsonValue };

/** The first frame after access was granted. */
export interface Welcome {
  type: "welcome";
  /** The subprotocol. */
  protocol: string;
  /** turnwire's version. */
  version: string;
  /** The life of the logs; goes with every cursor. */
  epoch: string;
  /** `view` may only read. */
  role: "control" | "view";
  /** All sessions. */
  sessions: SessionSummary[];
  /** Template of the link to a trace, with {trace_id}, when configured. */
  trace_url?: string;
  /** The agents for new sessions, the default one first; absent where no session can be created. */
  agents?: AgentChoice[];
  /** Of a fleet: the workers that were there when the connection was made; absent elsewhere. */
  workers?: WorkerChoice[];
}

/** A session as frontends list it. */
export interface SessionSummary {
  /** turnwire's session id. */
  session: string;
  /** What to call it: a title that somebody gave it, else the agent's own, else its first prompt, else its folder. */
  title?: string;
  /** `waiting`: for a human's answer; `exited`: no CLI runs, it can be resumed; `unreachable`: the worker that has it is gone. */
  state: "starting" | "idle" | "running" | "waiting" | "stopping" | "exited" | "replaying" | "unreachable";
  /** Which agent; scripted ones say so. */
  agent?: string;
  /** Directory the CLI runs in. */
  workspace?: string;
  /** The principal who began it; absent where nobody in particular did. */
  owner?: string;
  /** The main model. */
  model?: string;
  /** Permission policy. */
  policy?: string;
  /** What its agent is kept from: nothing, files that are not its own, hosts that nobody has allowed as well. Absent of a replay. */
  sandbox?: "off" | "files" | "network";
  /** The CLI's permission mode. */
  permission_mode?: string;
  /** The CLI's own session id. */
  cli_session_id?: string;
  /** Newest number of its log. */
  last_seq: number;
  /** What it has cost. */
  total_cost_usd?: number;
  /** Requests that wait for a human. */
  pending: number;
  /** RFC 3339. */
  created?: string;
  /** When a turn ended last, else when it was created; RFC 3339. */
  updated?: string;
  /** Why its events cannot be kept, and so not be shown, at present; they come when they can. Until then it takes no prompt. */
  trouble?: string;
  /** What its agent can do; absent of a replay. */
  abilities?: Abilities;
  /** True while somebody's own CLI has the conversation open: it is shown as it grows, and takes no prompt. */
  followed?: boolean;
  /** Of a fleet: the worker that has it. */
  worker?: string;
  /** Of a replay: share of the recording that was played. */
  position?: number;
  /** Of a replay: times the recorded pace; 0 when paused. */
  speed?: number;
}

/** What a session's agent can do; what it cannot is refused, and need not be offered. Before it runs: what agents like it can. */
export interface Abilities {
  /** `session.resume` and a prompt start it again with its conversation. */
  resume: boolean;
  /** `session.resume` and `session.fork` go back to a message. */
  rewind: boolean;
  /** `session.fork` branches its conversation off. */
  fork: boolean;
  /** `interrupt` stops its turn, and it lives on. */
  interrupt: boolean;
  /** `prompt.withdraw` takes back a prompt that waits. */
  withdraw: boolean;
  /** `set_model` changes its model. */
  set_model: boolean;
  /** What `set_permission_mode` takes; absent where that is not known, or it has none. */
  modes?: string[];
  /** It sees images; otherwise they are saved in the workspace and named. */
  images: boolean;
  /**
   * What the agent does without asking, whatever the policy, in words; reading and searching is left out. Absent where it asks about
   * everything else, or nobody knows.
   */
  never_asks?: string[];
}

/** An agent that is here and may be chosen for a new session. */
export interface AgentChoice {
  /** What `agent` of session.create takes. */
  agent: string;
  /** What to call it. */
  title: string;
  /** What it speaks: claude, qwen, acp. */
  family: string;
  /** True for the scripted agent. */
  scripted?: boolean;
  /** What it can do: resumes, continues_latest, forks, interrupts, withdraws_prompts, models, policies, hooks, mcp_servers, images, rewinds_files, …; what depends on its version is told as of the newest known. */
  capabilities: string[];
  /** Which of session.create's `options` mean something to it; others are refused. */
  options: string[];
  /** The permission modes that it can be started in; empty where it has none, or names its own once it runs. */
  permission_modes: string[];
}

/** A worker of a fleet that may be chosen for a new session. */
export interface WorkerChoice {
  /** What `worker` of session.create takes. */
  worker: string;
  /** What it takes, too, for any worker that has it. */
  labels: string[];
  /** The agents it has, the default one first. */
  agents: string[];
}

/**
 * The list of sessions, or their state, has changed.
 *
 * Sent at most every 250 ms; but a command that changes it is answered after the list it has changed.
 */
export interface Sessions {
  type: "sessions";
  /** All sessions. */
  sessions: SessionSummary[];
}

/** One event in its envelope. */
export interface EventFrame {
  type: "event";
  /** The session. */
  session: string;
  /** Its place in the session's log. */
  seq: number;
  /** When it was journaled: RFC 3339, UTC. */
  ts: string;
  /** The event. */
  event: TurnStarted | UserMessage | MessageChunk | Reasoning | ToolCall | ToolUpdate | Complete | Error | Retraction | Queued | Injected | Withdrawn | PermissionRequest | PermissionResolved | PermissionCancelled | QuestionRequest | SandboxDenied | SessionMode | AgentPlan | HookActivity | SessionStatus | AvailableCommands | SessionInfo | SessionOptions | ContextWindow | RateLimit | TaskUpdate | CompactBoundary | Cut | History | ApiRetry | Consolidation | ProcessStatus | Notice | TraceContext | Unknown | Malformed;
}

/** A turn began. Exactly one `complete` with the same operation_id follows. */
export interface TurnStarted {
  type: "turn_started";
  /** The CLI's session id. It can change on resume; turnwire's own id is in the envelope. */
  session_id?: string;
  /** Our id of the turn, `turn-1`, `turn-2`, …; absent outside of turns. */
  operation_id?: string;
  /** Fields cut for size: dotted path to full size in bytes of UTF-8. `payload.get` gives the whole. */
  truncated?: Record<string, number>;
  /** Why: a prompt, a prompt that had waited, the end of a background task, or the CLI's or turnwire's own accord. */
  origin: "user" | "queued" | "background" | "autonomous";
  /** UUIDs of the prompts it serves, as far as they are known when it starts. */
  prompts?: string[];
}

/** What a human, or a program in their place, said to the agent. */
export interface UserMessage {
  type: "user_message";
  /** The CLI's session id. It can change on resume; turnwire's own id is in the envelope. */
  session_id?: string;
  /** Our id of the turn, `turn-1`, `turn-2`, …; absent outside of turns. */
  operation_id?: string;
  /** Fields cut for size: dotted path to full size in bytes of UTF-8. `payload.get` gives the whole. */
  truncated?: Record<string, number>;
  /** The tool call whose subagent this belongs to; absent in the main thread. */
  parent_tool_call_id?: string;
  /** The API message's id, where it is known; the line's UUID for text the model did not write. */
  message_id?: string;
  /** Index of the content block within its message, where it is known. */
  block_index?: number;
  /** True for what the agent tells again of the conversation before, when it loads a session: it belongs to no turn. */
  history?: boolean;
  /** The text; empty when there are only attachments. */
  text: string;
  /** The message's UUID. */
  uuid?: string;
  /** Images and documents. */
  parts?: ContentPart[];
  /** True when the CLI, or turnwire, made it up itself. */
  synthetic?: boolean;
}

/** A part of a tool's result that is more than text (wire fact: images and documents in results). */
export interface ContentPart {
  /** What the part is. */
  type: "text" | "image" | "document" | "reference" | "unknown";
  /** The text, of a text part. */
  text?: string;
  /** MIME type of an image or a document, such as `image/png`. */
  media_type?: string;
  /** Size of the decoded bytes. */
  size?: number;
  /** The bytes, base64 encoded. */
  base64?: string;
  /** Where the part is, when it is not inline. */
  url?: string;
  /** Name of a document or of a tool that is referred to. */
  title?: string;
  /** The notebook cell it belongs to. */
  cell_id?: string;
  /** `code`, `markdown` or `output`, of a notebook. */
  cell_type?: string;
  /** The block as it came, of a kind this version does not know. */
  raw?: JsonValue;
}

/** A piece of the agent's text. Pieces with the same message_id and block_index belong together, in order. */
export interface MessageChunk {
  type: "message_chunk";
  /** The CLI's session id. It can change on resume; turnwire's own id is in the envelope. */
  session_id?: string;
  /** Our id of the turn, `turn-1`, `turn-2`, …; absent outside of turns. */
  operation_id?: string;
  /** Fields cut for size: dotted path to full size in bytes of UTF-8. `payload.get` gives the whole. */
  truncated?: Record<string, number>;
  /** The tool call whose subagent this belongs to; absent in the main thread. */
  parent_tool_call_id?: string;
  /** The API message's id, where it is known; the line's UUID for text the model did not write. */
  message_id?: string;
  /** Index of the content block within its message, where it is known. */
  block_index?: number;
  /** True for what the agent tells again of the conversation before, when it loads a session: it belongs to no turn. */
  history?: boolean;
  /** The piece. */
  text: string;
  /** True when this corrects the block: it takes the place of all earlier pieces of the block. */
  replace?: boolean;
  /**
   * Where the text is from when the model did not write it in a message: output of a slash command, the
   * turn's result, a message the CLI made up. Absent for the model's own text.
   */
  source?: "local_command" | "result" | "synthetic";
  /** What the agent shows that is no text: images, sounds, resources. */
  parts?: ContentPart[];
  /** True when more of the same block may follow. */
  is_delta?: boolean;
}

/** A piece of the agent's thinking. */
export interface Reasoning {
  type: "reasoning";
  /** The CLI's session id. It can change on resume; turnwire's own id is in the envelope. */
  session_id?: string;
  /** Our id of the turn, `turn-1`, `turn-2`, …; absent outside of turns. */
  operation_id?: string;
  /** Fields cut for size: dotted path to full size in bytes of UTF-8. `payload.get` gives the whole. */
  truncated?: Record<string, number>;
  /** The tool call whose subagent this belongs to; absent in the main thread. */
  parent_tool_call_id?: string;
  /** The API message's id, where it is known; the line's UUID for text the model did not write. */
  message_id?: string;
  /** Index of the content block within its message, where it is known. */
  block_index?: number;
  /** True for what the agent tells again of the conversation before, when it loads a session: it belongs to no turn. */
  history?: boolean;
  /** The piece; empty for redacted thinking. */
  reasoning_text: string;
  /** True when this takes the place of all earlier pieces of the block. */
  replace?: boolean;
  /** True when the API encrypted it. */
  redacted?: boolean;
  /** True when more of the same block may follow. */
  is_delta?: boolean;
}

/** The agent calls a tool. One per tool_use block. */
export interface ToolCall {
  type: "tool_call";
  /** The CLI's session id. It can change on resume; turnwire's own id is in the envelope. */
  session_id?: string;
  /** Our id of the turn, `turn-1`, `turn-2`, …; absent outside of turns. */
  operation_id?: string;
  /** Fields cut for size: dotted path to full size in bytes of UTF-8. `payload.get` gives the whole. */
  truncated?: Record<string, number>;
  /** The tool call whose subagent this belongs to; absent in the main thread. */
  parent_tool_call_id?: string;
  /** The API message's id, where it is known; the line's UUID for text the model did not write. */
  message_id?: string;
  /** Index of the content block within its message, where it is known. */
  block_index?: number;
  /** True for what the agent tells again of the conversation before, when it loads a session: it belongs to no turn. */
  history?: boolean;
  /** The tool_use block's id. */
  tool_call_id: string;
  /** The tool, as the agent calls it. */
  tool_name: string;
  /** One line for humans. */
  tool_title: string;
  /** Always running: the update that follows ends it. */
  tool_status: "running";
  /** What the call does. */
  normalized: ReadFilePayload | ModifyFilePayload | ShellExecPayload | CodeSearchPayload | HttpRequestPayload | SubagentTaskPayload | CreateTaskPayload | ManageTodosPayload | ShowPlanPayload | AskUserPayload | McpToolPayload | GenericPayload | MiscPayload;
}

/** A file is read. */
export interface ReadFilePayload {
  kind: "read_file";
  /** The frontend component that shows it. */
  renderer: "tool_read";
  /** What is shown of it. */
  read_file: ReadFile;
}

/** A file is read. */
export interface ReadFile {
  /** Path as the agent gave it. */
  file_path: string;
  /** First line asked for, from 1. */
  offset?: number;
  /** Number of lines asked for. */
  limit?: number;
  /** Pages asked for, of a PDF: `3` or `1-5`. */
  pages?: string;
  /** Present once the result is there. */
  output?: ReadOutput;
}

/** What a read returned. */
export interface ReadOutput {
  /** The text, without the line numbers the CLI shows to the model. */
  content?: string;
  /** Number of lines in `content`, as the CLI numbers them: an empty one follows a newline at the end. */
  line_count?: number;
  /** True when the file has more than `content` shows. */
  truncated?: boolean;
  /** Number of the first line in `content`, from 1. */
  start_line?: number;
  /** Number of lines of the whole file. */
  total_lines?: number;
  /** Images, PDF pages and notebook cells. */
  parts?: ContentPart[];
  /** True when the CLI returned nothing, the file being as it was when last read. */
  unchanged?: boolean;
}

/** A file is created, overwritten or edited. */
export interface ModifyFilePayload {
  kind: "modify_file";
  /** The frontend component that shows it. */
  renderer: "tool_edit";
  /** What is shown of it. */
  modify_file: ModifyFile;
}

/** A file is created, overwritten or edited. */
export interface ModifyFile {
  /** Path as the agent gave it. */
  file_path: string;
  /** The changes, in order. */
  mutations: Mutation[];
  /** Present once the result is there. */
  output?: ModifyOutput;
}

/** One change to a file. */
export interface Mutation {
  /**
   * What happens: a new file, a file replaced, a passage replaced, a notebook cell added or removed.
   *
   * Whether a file is new or replaced is known by the result; a call that writes a whole file says `create`.
   */
  type: "create" | "overwrite" | "edit" | "insert" | "delete";
  /** The whole new content, of create, overwrite and insert. */
  content?: string;
  /** The passage that is replaced. */
  old_content?: string;
  /** The passage that replaces it. */
  new_content?: string;
  /**
   * Unified diff with the file's true line numbers, as far as they are known; `git apply` takes it, unless `relative`.
   *
   * It is one of the file as the agent reads it: with CR LF read as LF, and with U+FFFD for what is not UTF-8.
   */
  diff?: string;
  /** The file, where one call changes several and it is another than the call's first. */
  file_path?: string;
  /** True when the diff counts lines from the beginning of the passage, the file's own numbers being unknown. */
  relative?: boolean;
  /** True when the diff shows more lines as changed than have changed: the texts are too large for the shortest one. */
  approximate?: boolean;
  /** True when every occurrence is replaced. */
  replace_all?: boolean;
  /** The notebook cell that is changed. */
  cell_id?: string;
  /** `code` or `markdown`, of a notebook cell. */
  cell_type?: string;
}

/** What became of a modification. */
export interface ModifyOutput {
  /** True when the file was changed. */
  applied: boolean;
  /** True when the file did not exist before, False when it was overwritten. */
  created?: boolean;
  /** Lines the diff adds. */
  added_lines?: number;
  /** Lines the diff removes. */
  removed_lines?: number;
  /** True when a human changed the proposal before it was applied. */
  user_modified?: boolean;
  /** What the tool said, in full when it failed. */
  message?: string;
}

/** A command. */
export interface ShellExecPayload {
  kind: "shell_exec";
  /** The frontend component that shows it. */
  renderer: "tool_execute";
  /** What is shown of it. */
  shell_exec: ShellExec;
}

/** A command runs, or a command in the background is read or stopped. */
export interface ShellExec {
  /** The command line; empty when a task is addressed by id. */
  command: string;
  /** Directory it starts in, when it is known: what the call says, else the session's, until the agent leaves it. */
  work_dir?: string;
  /** What the agent says it is for. */
  description?: string;
  /** Time limit in milliseconds. */
  timeout?: number;
  /** True when it is not waited for. */
  background?: boolean;
  /** `read` and `stop` address a task in the background; absent means run. */
  operation?: "run" | "read" | "stop";
  /** The background task that is read or stopped. */
  task_id?: string;
  /** Present once the result is there. */
  output?: ShellOutput;
}

/** What a command gave. */
export interface ShellOutput {
  /** The true exit code; absent while it is not known (background, interrupted, denied). */
  exit_code?: number;
  /** Standard output; the only stream of versions that do not tell them apart. */
  stdout?: string;
  /** Standard error, where the CLI keeps it apart. */
  stderr?: string;
  /** True when it was stopped before its end. */
  interrupted?: boolean;
  /** True when the time limit stopped it or moved it to the background. */
  timed_out?: boolean;
  /** Id of the background task it became. */
  task_id?: string;
  /** State of the background task: running, completed, failed, killed. */
  status?: string;
  /** File in which the CLI saved output too long to return. */
  persisted_path?: string;
  /** True when the CLI returned less than the command wrote. */
  truncated?: boolean;
  /** Images that the command printed. */
  parts?: ContentPart[];
}

/** A search of files or of their content. */
export interface CodeSearchPayload {
  kind: "code_search";
  /** The frontend component that shows it. */
  renderer: "tool_search";
  /** What is shown of it. */
  code_search: CodeSearch;
}

/** Files or their content are searched. */
export interface CodeSearch {
  /** What is looked for in the content. */
  query?: string;
  /** The pattern as the tool got it: a glob of file names or a regular expression. */
  pattern?: string;
  /** Where to look. */
  path?: string;
  /** Which file names to look at. */
  glob?: string;
  /** Which file type to look at. */
  file_type?: string;
  /** files_with_matches, content or count. */
  mode?: string;
  /** Whether line numbers were asked for, where the agent said so. */
  line_numbers?: boolean;
  /** True when upper and lower case count as equal. */
  case_insensitive?: boolean;
  /** True when a match may span lines. */
  multiline?: boolean;
  /** Lines of context asked for before each match. */
  before?: number;
  /** Lines of context asked for after each match. */
  after?: number;
  /** Number of lines or files asked for. */
  limit?: number;
  /** Present once the result is there. */
  output?: SearchOutput;
}

/** What a search found. */
export interface SearchOutput {
  /** Files found. */
  files?: string[];
  /** Number of files; 0 when the tool says that nothing was found. */
  file_count?: number;
  /** True when there is more than was returned. */
  truncated?: boolean;
  /** Number of matches, in the content and count modes. */
  match_count?: number;
  /** The lines, in the content mode. */
  matches?: SearchMatch[];
  /** Matches per file, in the count mode. */
  counts?: Record<string, number>;
}

/** One line of a content search. */
export interface SearchMatch {
  /** The file, when the output names it. */
  file?: string;
  /** Line number, from 1, when the output has it. */
  line?: number;
  /** The line. */
  text: string;
  /** True when the line is context and not a match. */
  context?: boolean;
}

/** A page fetched or a search of the web. */
export interface HttpRequestPayload {
  kind: "http_request";
  /** The frontend component that shows it. */
  renderer: "tool_call";
  /** What is shown of it. */
  http_request: HttpRequest;
}

/** A page is fetched, or the web is searched. */
export interface HttpRequest {
  /** The address that is fetched. */
  url?: string;
  /** GET, unless the tool says otherwise; SEARCH for a search of the web. */
  method?: string;
  /** What is searched for on the web. */
  query?: string;
  /** What the agent wants to know from the page. */
  prompt?: string;
  /** The answer as text. */
  response?: string;
  /** True when it failed. */
  is_error?: boolean;
  /** HTTP status, when it is known. */
  status?: number;
  /** Size of the page. */
  bytes?: number;
  /** Hits of a web search: title and url each. */
  results?: Array<Record<string, JsonValue>>;
}

/** A task given to a subagent. */
export interface SubagentTaskPayload {
  kind: "subagent_task";
  /** The frontend component that shows it. */
  renderer: "tool_call";
  /** What is shown of it. */
  subagent_task: SubagentTask;
}

/** A subagent is given a task. */
export interface SubagentTask {
  /** Three to five words. */
  description: string;
  /** The whole task. */
  prompt: string;
  /** Which agent runs it. */
  subagent_type?: string;
  /** True when it is not waited for. */
  background?: boolean;
  /** The model asked for. */
  model?: string;
  /** Present once the result is there. */
  output?: SubagentOutput;
}

/** What a subagent did. */
export interface SubagentOutput {
  /** completed, async_launched, … */
  status?: string;
  /** Its report. */
  text?: string;
  /** The CLI's id of the subagent, and of its background task. */
  agent_id?: string;
  /** How long it ran. */
  duration_ms?: number;
  /** Tokens it used. */
  total_tokens?: number;
  /** Tools it called. */
  tool_use_count?: number;
  /** The model it ran on. */
  model?: string;
}

/** A new entry of the task list. */
export interface CreateTaskPayload {
  kind: "create_task";
  /** The frontend component that shows it. */
  renderer: "tool_call";
  /** What is shown of it. */
  create_task: CreateTask;
}

/** An entry is added to the agent's task list. */
export interface CreateTask {
  /** What is to be done. */
  title: string;
  /** In more words. */
  description?: string;
  /** Its id, once the result is there. */
  task_id?: string;
  /** How it reads while it is being done. */
  active_form?: string;
}

/** The list of things to do. */
export interface ManageTodosPayload {
  kind: "manage_todos";
  /** The frontend component that shows it. */
  renderer: "todo";
  /** What is shown of it. */
  manage_todos: ManageTodos;
}

/** The agent's list of things to do is written, changed or read. */
export interface ManageTodos {
  /** What happens to the list. */
  operation: "write" | "update" | "list" | "get";
  /** The list, or the entries concerned, after the call. */
  items: TodoItem[];
  /** The list, or the entries concerned, before the call. */
  old_items?: TodoItem[];
}

/** One entry of the agent's list. */
export interface TodoItem {
  /** Its id, or its place in the list from 1 where the tool has no ids. */
  id?: string;
  /** What is to be done. */
  description: string;
  /** pending, in_progress, completed or deleted; empty when a call leaves it as it is. */
  status: string;
  /** How it reads while it is being done. */
  active_form?: string;
  /** Ids of entries that come first. */
  blocked_by?: string[];
  /** The agent that has taken it. */
  owner?: string;
}

/** Plan mode. */
export interface ShowPlanPayload {
  kind: "show_plan";
  /** The frontend component that shows it. */
  renderer: "tool_call";
  /** What is shown of it. */
  show_plan: ShowPlan;
}

/** Plan mode is entered, or a plan is shown for approval. */
export interface ShowPlan {
  /** `exit` shows the plan and asks for approval. */
  operation: "enter" | "exit";
  /** The plan in Markdown. */
  plan?: string;
  /** The file that holds the plan (2.1). */
  file_path?: string;
  /** Once the result is there: was it approved? */
  approved?: boolean;
  /** What the human said on rejecting it. */
  feedback?: string;
}

/** Questions to the human. */
export interface AskUserPayload {
  kind: "ask_user";
  /** The frontend component that shows it. */
  renderer: "tool_call";
  /** What is shown of it. */
  ask_user: AskUser;
}

/** The agent asks its human. */
export interface AskUser {
  /** What is asked. */
  questions: Question[];
  /** Question to answer, once the result is there; several labels are joined by a comma and a blank. */
  answers?: Record<string, string>;
}

/** One question with its possible answers. */
export interface Question {
  /** The question, also the key of its answer. */
  question: string;
  /** One or two words for a tab or a chip. */
  header?: string;
  /** The possible answers; a human may also answer freely. */
  options: Choice[];
  /** True when more than one may be chosen. */
  multi_select: boolean;
}

/** One possible answer. */
export interface Choice {
  /** The answer. */
  label: string;
  /** What it means. */
  description?: string;
}

/** A tool of an MCP server. */
export interface McpToolPayload {
  kind: "mcp_tool";
  /** The frontend component that shows it. */
  renderer: "tool_call";
  /** What is shown of it. */
  mcp_tool: McpTool;
}

/** A tool of an MCP server is called. */
export interface McpTool {
  /** The server's name. */
  server: string;
  /** The tool's name. */
  tool: string;
  /** Its arguments. */
  input: Record<string, JsonValue>;
  /** Its result, part by part. */
  output?: ContentPart[];
  /** True when it failed. */
  is_error?: boolean;
}

/** Any other tool. */
export interface GenericPayload {
  kind: "generic";
  /** The frontend component that shows it. */
  renderer: "tool_call";
  /** What is shown of it. */
  generic: Generic;
}

/** Any tool that has no kind of its own. */
export interface Generic {
  /** The tool's name. */
  name: string;
  /** Its arguments. */
  input?: JsonValue;
  /** Its result. */
  output?: JsonValue;
}

/** Anything with just a label. */
export interface MiscPayload {
  kind: "misc";
  /** The frontend component that shows it. */
  renderer: "tool_call";
  /** What is shown of it. */
  misc: Misc;
}

/** Something with a label that is no tool with arguments and results worth a shape: skills, tool search. */
export interface Misc {
  /** What it is. */
  label: string;
  /** More of it. */
  details?: JsonValue;
}

/** News of a tool call. Exactly one update with a status other than running ends it. */
export interface ToolUpdate {
  type: "tool_update";
  /** The CLI's session id. It can change on resume; turnwire's own id is in the envelope. */
  session_id?: string;
  /** Our id of the turn, `turn-1`, `turn-2`, …; absent outside of turns. */
  operation_id?: string;
  /** Fields cut for size: dotted path to full size in bytes of UTF-8. `payload.get` gives the whole. */
  truncated?: Record<string, number>;
  /** The tool call whose subagent this belongs to; absent in the main thread. */
  parent_tool_call_id?: string;
  /** The API message's id, where it is known; the line's UUID for text the model did not write. */
  message_id?: string;
  /** Index of the content block within its message, where it is known. */
  block_index?: number;
  /** True for what the agent tells again of the conversation before, when it loads a session: it belongs to no turn. */
  history?: boolean;
  /** The call. */
  tool_call_id: string;
  /** The tool, as the agent calls it. */
  tool_name?: string;
  /** One line for humans. */
  tool_title?: string;
  /** running: progress; the others are final. unknown: the agent has never said how the call ended. */
  tool_status: "running" | "complete" | "error" | "unknown";
  /** The call's payload, enriched with its result. */
  normalized?: ReadFilePayload | ModifyFilePayload | ShellExecPayload | CodeSearchPayload | HttpRequestPayload | SubagentTaskPayload | CreateTaskPayload | ManageTodosPayload | ShowPlanPayload | AskUserPayload | McpToolPayload | GenericPayload | MiscPayload;
  /** Why it failed. */
  error?: string;
  /**
   * What kind of failure it was; `no_result`: the turn ended without a result for it, which is an error unless the
   * turn succeeded. Then it is complete, as Claude Code's deferred calls are, or unknown.
   */
  reason?: "failed" | "denied" | "interrupted" | "process_exited" | "no_result";
  /** True when the work goes on in the background; `task_update` events tell how. */
  background?: boolean;
  /** How long it has been running, in progress updates. */
  elapsed_ms?: number;
  /** UUID of the user message that carried the result. */
  uuid?: string;
}

/** A turn ended. Exactly one for every turn that started, whatever happens to the CLI. */
export interface Complete {
  type: "complete";
  /** The CLI's session id. It can change on resume; turnwire's own id is in the envelope. */
  session_id?: string;
  /** Our id of the turn, `turn-1`, `turn-2`, …; absent outside of turns. */
  operation_id?: string;
  /** Fields cut for size: dotted path to full size in bytes of UTF-8. `payload.get` gives the whole. */
  truncated?: Record<string, number>;
  /** What the turn cost and gave. */
  data: CompleteData;
  /** All errors in one line. */
  error?: string;
  /** The same as in `data`. */
  last_message_uuid?: string;
}

/** What a turn cost and gave. Times in milliseconds, money in US dollars. */
export interface CompleteData {
  /** How it ended; always there in our own events, absent in events that others recorded. */
  outcome?: "completed" | "interrupted" | "error" | "max_turns" | "max_tokens" | "refusal" | "budget" | "process_exited" | "hung";
  /** True when the turn failed. */
  is_error: boolean;
  /** Cost of this turn; absent when a resumed CLI does not tell it apart from what went before. */
  cost_usd?: number;
  /** The CLI's own total, as it reports it: of its process, anew from /clear on, a resumed one may count its past. */
  total_cost_usd?: number;
  /** From prompt to result. */
  duration_ms?: number;
  /** Time spent waiting for the API. */
  duration_api_ms?: number;
  /** Rounds of model and tools, as the CLI counts them. */
  num_turns?: number;
  /** Tokens sent in this turn, cached ones not included. */
  input_tokens?: number;
  /** Tokens received in this turn. */
  output_tokens?: number;
  /** Tokens read from the cache in this turn. */
  cache_read_input_tokens?: number;
  /** Tokens written to the cache in this turn. */
  cache_creation_input_tokens?: number;
  /**
   * Tokens of everything that `cost_usd` pays for: subagents, compaction and helper models as well. Absent where the
   * four fields above have them all, and where they are not known.
   */
  all_tokens?: TokenSums;
  /** Said where the token fields above are less than the turn's: the agent counts the last call of the model alone. */
  tokens_of?: "last_call";
  /** Tokens sent by the CLI process up to now, cached ones not included. */
  total_input_tokens?: number;
  /** Tokens received by the CLI process up to now. */
  total_output_tokens?: number;
  /** The last committed message: what `--resume-session-at` takes from 2.0.76 on. */
  last_message_uuid?: string;
  /** What `--resume-session-at` takes for the version that wrote this: a message id for 2.0.14, a UUID later. */
  resume_token?: string;
  /** What went wrong, each once. */
  errors?: string[];
  /** HTTP status of a failed API call. */
  api_error_status?: number;
  /** The result's subtype as the CLI wrote it. */
  subtype?: string;
  /** Why the model stopped. */
  stop_reason?: string;
  /** The answer under a JSON schema. */
  structured_output?: JsonValue;
  /** Tool calls that were denied: tool_name, tool_use_id, tool_input. */
  permission_denials?: Array<Record<string, JsonValue>>;
  /** UUIDs of the prompts the turn has served. */
  prompts?: string[];
  /** Why the turn began, as known at its end; `turn_started` may have had to guess. */
  origin?: "user" | "queued" | "background" | "autonomous";
  /** Exit code of a CLI that ended before the turn did. */
  exit_code?: number;
  /** Signal that ended such a CLI, such as SIGKILL. */
  signal?: string;
  /** The last it said on standard error. */
  stderr_tail?: string;
}

/** Tokens by kind. */
export interface TokenSums {
  /** Tokens sent, cached ones not included. */
  input_tokens?: number;
  /** Tokens received. */
  output_tokens?: number;
  /** Tokens read from the cache. */
  cache_read_input_tokens?: number;
  /** Tokens written to the cache. */
  cache_creation_input_tokens?: number;
}

/**
 * Something failed. After `complete` it is the turn's error; otherwise an error within the turn.
 *
 * A turn that somebody interrupted has none: nothing failed, it was stopped as it was wanted. Its `complete` says so, with the outcome
 * `interrupted` and `is_error` false, whatever the agent's own line says (Claude's: `error_during_execution`).
 */
export interface Error {
  type: "error";
  /** The CLI's session id. It can change on resume; turnwire's own id is in the envelope. */
  session_id?: string;
  /** Our id of the turn, `turn-1`, `turn-2`, …; absent outside of turns. */
  operation_id?: string;
  /** Fields cut for size: dotted path to full size in bytes of UTF-8. `payload.get` gives the whole. */
  truncated?: Record<string, number>;
  /** The tool call whose subagent this belongs to; absent in the main thread. */
  parent_tool_call_id?: string;
  /** The API message's id, where it is known; the line's UUID for text the model did not write. */
  message_id?: string;
  /** Index of the content block within its message, where it is known. */
  block_index?: number;
  /** True for what the agent tells again of the conversation before, when it loads a session: it belongs to no turn. */
  history?: boolean;
  /** What a human should read. */
  error: string;
  /** authentication_failed, billing_error, rate_limit, invalid_request, server_error, … */
  code?: string;
  /** HTTP status of a failed API call. */
  status?: number;
}

/** The CLI withdrew messages it had written; a frontend removes their texts. */
export interface Retraction {
  type: "retraction";
  /** The CLI's session id. It can change on resume; turnwire's own id is in the envelope. */
  session_id?: string;
  /** Our id of the turn, `turn-1`, `turn-2`, …; absent outside of turns. */
  operation_id?: string;
  /** Fields cut for size: dotted path to full size in bytes of UTF-8. `payload.get` gives the whole. */
  truncated?: Record<string, number>;
  /** UUIDs of messages that no longer count. */
  message_uuids?: string[];
  /** API message ids, where only they are known (a broken stream). */
  message_ids?: string[];
}

/** A prompt waits for its turn. */
export interface Queued {
  type: "queued";
  /** The CLI's session id. It can change on resume; turnwire's own id is in the envelope. */
  session_id?: string;
  /** Our id of the turn, `turn-1`, `turn-2`, …; absent outside of turns. */
  operation_id?: string;
  /** Fields cut for size: dotted path to full size in bytes of UTF-8. `payload.get` gives the whole. */
  truncated?: Record<string, number>;
  /** Place in the queue, from 1. */
  position?: number;
  /** The prompt's UUID. */
  prompt?: string;
}

/** Waiting prompts joined the running turn. */
export interface Injected {
  type: "injected";
  /** The CLI's session id. It can change on resume; turnwire's own id is in the envelope. */
  session_id?: string;
  /** Our id of the turn, `turn-1`, `turn-2`, …; absent outside of turns. */
  operation_id?: string;
  /** Fields cut for size: dotted path to full size in bytes of UTF-8. `payload.get` gives the whole. */
  truncated?: Record<string, number>;
  /** How many. */
  message_count: number;
  /** Their length in characters. */
  content_length?: number;
  /** Their UUIDs. */
  prompts?: string[];
}

/** A waiting prompt was taken back and will not be served. */
export interface Withdrawn {
  type: "withdrawn";
  /** The CLI's session id. It can change on resume; turnwire's own id is in the envelope. */
  session_id?: string;
  /** Our id of the turn, `turn-1`, `turn-2`, …; absent outside of turns. */
  operation_id?: string;
  /** Fields cut for size: dotted path to full size in bytes of UTF-8. `payload.get` gives the whole. */
  truncated?: Record<string, number>;
  /** The prompt's UUID. */
  prompt: string;
}

/** The CLI waits for leave to call a tool. */
export interface PermissionRequest {
  type: "permission_request";
  /** The CLI's session id. It can change on resume; turnwire's own id is in the envelope. */
  session_id?: string;
  /** Our id of the turn, `turn-1`, `turn-2`, …; absent outside of turns. */
  operation_id?: string;
  /** Fields cut for size: dotted path to full size in bytes of UTF-8. `payload.get` gives the whole. */
  truncated?: Record<string, number>;
  /** The tool call whose subagent this belongs to; absent in the main thread. */
  parent_tool_call_id?: string;
  /** The API message's id, where it is known; the line's UUID for text the model did not write. */
  message_id?: string;
  /** Index of the content block within its message, where it is known. */
  block_index?: number;
  /** True for what the agent tells again of the conversation before, when it loads a session: it belongs to no turn. */
  history?: boolean;
  /** Names this request in `permission.respond`; the control request's id. */
  pending_id: string;
  /** The tool call that waits; found by name and input where the CLI does not say (1.0, 2.0). */
  tool_call_id?: string;
  /** The tool, as the agent calls it. */
  tool_name?: string;
  /** One line for humans. For a command it is the command itself; one that the agent does not tell is called unknown. */
  permission_title: string;
  /** What the agent calls the call, where the title does not say it: words that its model may have chosen. Decide nothing by them. */
  agent_title?: string;
  /** The possible answers. */
  permission_options: PermissionOption[];
  /** What would happen. */
  action_type: "command" | "file_write" | "file_read" | "network" | "mcp_tool" | "other";
  /** The command, the path, the address … */
  action_details?: Record<string, JsonValue>;
  /** The tool's arguments, for editing. */
  tool_input?: Record<string, JsonValue>;
  /** The tool call's payload, so that a dialog can show the diff or the command. */
  normalized?: ReadFilePayload | ModifyFilePayload | ShellExecPayload | CodeSearchPayload | HttpRequestPayload | SubagentTaskPayload | CreateTaskPayload | ManageTodosPayload | ShowPlanPayload | AskUserPayload | McpToolPayload | GenericPayload | MiscPayload;
  /** Why the CLI asks. */
  reason?: string;
  /** The path outside of what is allowed. */
  blocked_path?: string;
  /** permission_suggestions as the CLI made them. */
  suggestions?: Array<Record<string, JsonValue>>;
  /** The subagent that asks. */
  agent_id?: string;
}

/** One way to answer a permission request. */
export interface PermissionOption {
  /** What `permission.respond` sends back. */
  option_id: string;
  /** What the button says. */
  name: string;
  /** What it means. */
  kind: "allow_once" | "allow_always" | "reject_once" | "reject_always";
  /** Where an always-answer is remembered: session, localSettings, projectSettings, userSettings. */
  destination?: string;
  /** Every rule that this answer adds. Absent where the agent does not say what it remembers. */
  remembers?: RememberedRule[];
}

/** A rule that an answer adds for later calls. */
export interface RememberedRule {
  /**
   * The rule as the agent writes it, such as `Bash(npm publish *)`, or the directory that it opens,
   * or the permission mode that it switches to.
   */
  rule: string;
  /** How far it reaches: session, localSettings, projectSettings, userSettings. */
  destination: string;
  /**
   * File that the agent writes it to: relative to the top of the git repository, or to the working directory where there is none; or
   * below `~`. Absent for the session alone, and where it is not known.
   */
  file?: string;
}

/** A pending request was answered, and how. */
export interface PermissionResolved {
  type: "permission_resolved";
  /** The CLI's session id. It can change on resume; turnwire's own id is in the envelope. */
  session_id?: string;
  /** Our id of the turn, `turn-1`, `turn-2`, …; absent outside of turns. */
  operation_id?: string;
  /** Fields cut for size: dotted path to full size in bytes of UTF-8. `payload.get` gives the whole. */
  truncated?: Record<string, number>;
  /** The request. */
  pending_id: string;
  /** The tool call that waited. */
  tool_call_id?: string;
  /** The tool. */
  tool_name?: string;
  /** The decision; `answer` for questions and dialogs; `ask` when a hook passed it on to a human. */
  behavior: "allow" | "deny" | "ask" | "answer";
  /** The option that was chosen. */
  option_id?: string;
  /** Who decided: a frontend's name, `policy:NAME`, `rule:NUMBER`, `timeout`, … */
  by?: string;
  /** How long the request had waited. */
  waited_ms?: number;
  /** What was said to the agent. */
  message?: string;
  /** The arguments as edited, when they were. */
  updated_input?: Record<string, JsonValue>;
  /** Where an always-answer is remembered. */
  destination?: string;
  /** True when the denial also stopped the turn. */
  interrupt?: boolean;
  /**
   * True when nobody was asked: a rule or a policy decided as the request came. No `permission_request` or `question_request` was
   * published for it; the three fields below say what it was about.
   */
  unasked?: boolean;
  /** The one line for humans that a dialog would have shown; of `unasked` alone. */
  permission_title?: string;
  /** What was decided about; of `unasked` alone, and absent for a question. */
  action_type?: "command" | "file_write" | "file_read" | "network" | "mcp_tool" | "other";
  /** The command, the path, the address …; of `unasked` alone. */
  action_details?: Record<string, JsonValue>;
}

/** A pending request is void; its dialog closes. */
export interface PermissionCancelled {
  type: "permission_cancelled";
  /** The CLI's session id. It can change on resume; turnwire's own id is in the envelope. */
  session_id?: string;
  /** Our id of the turn, `turn-1`, `turn-2`, …; absent outside of turns. */
  operation_id?: string;
  /** Fields cut for size: dotted path to full size in bytes of UTF-8. `payload.get` gives the whole. */
  truncated?: Record<string, number>;
  /** The request. */
  pending_id: string;
  /** The tool call that waited. */
  tool_call_id?: string;
  /** Why. */
  reason?: "cancelled" | "interrupted" | "process_exited" | "timeout" | "turn_ended";
}

/** The agent, an MCP server or the CLI asks a human and waits. */
export interface QuestionRequest {
  type: "question_request";
  /** The CLI's session id. It can change on resume; turnwire's own id is in the envelope. */
  session_id?: string;
  /** Our id of the turn, `turn-1`, `turn-2`, …; absent outside of turns. */
  operation_id?: string;
  /** Fields cut for size: dotted path to full size in bytes of UTF-8. `payload.get` gives the whole. */
  truncated?: Record<string, number>;
  /** The tool call whose subagent this belongs to; absent in the main thread. */
  parent_tool_call_id?: string;
  /** The API message's id, where it is known; the line's UUID for text the model did not write. */
  message_id?: string;
  /** Index of the content block within its message, where it is known. */
  block_index?: number;
  /** True for what the agent tells again of the conversation before, when it loads a session: it belongs to no turn. */
  history?: boolean;
  /** Names this request in `question.answer`. */
  pending_id: string;
  /** Who asks: the agent, an MCP server, the CLI. */
  kind: "ask_user" | "elicitation" | "dialog";
  /** The tool call that waits. */
  tool_call_id?: string;
  /** The questions, of ask_user. */
  questions?: Question[];
  /** What is asked, of the other kinds. */
  message?: string;
  /** JSON Schema of the answer, of an elicitation. */
  requested_schema?: JsonValue;
  /** `form` or `url`, of an elicitation. */
  mode?: string;
  /** Where to answer, of an elicitation by url. */
  url?: string;
  /** The MCP server that asks. */
  mcp_server?: string;
  /** The rest of the request as it came. */
  details?: Record<string, JsonValue>;
}

/** The sandbox of a session refused something: a host that nobody allowed, or a file that is read-only or not there. */
export interface SandboxDenied {
  type: "sandbox_denied";
  /** The CLI's session id. It can change on resume; turnwire's own id is in the envelope. */
  session_id?: string;
  /** Our id of the turn, `turn-1`, `turn-2`, …; absent outside of turns. */
  operation_id?: string;
  /** Fields cut for size: dotted path to full size in bytes of UTF-8. `payload.get` gives the whole. */
  truncated?: Record<string, number>;
  /** What was refused. */
  kind: "host" | "path";
  /** HOST:PORT, or the path. */
  target: string;
  /** Why, and what would allow it; for humans. */
  reason: string;
  /** The tool call that met with it, where that is known. */
  tool_call_id?: string;
}

/** The permission mode changed. */
export interface SessionMode {
  type: "session_mode";
  /** The CLI's session id. It can change on resume; turnwire's own id is in the envelope. */
  session_id?: string;
  /** Our id of the turn, `turn-1`, `turn-2`, …; absent outside of turns. */
  operation_id?: string;
  /** Fields cut for size: dotted path to full size in bytes of UTF-8. `payload.get` gives the whole. */
  truncated?: Record<string, number>;
  /** default, acceptEdits, plan, bypassPermissions, …; of other agents whatever they call it. */
  current_mode_id: string;
  /** The modes there are, where the agent lists them; absent when they are as they were. */
  available_modes?: Mode[];
}

/** A mode that a session can be in. */
export interface Mode {
  /** What switches to it. */
  id: string;
  /** The same, for humans. */
  name?: string;
  /** What it means. */
  description?: string;
}

/** The agent shows its plan. */
export interface AgentPlan {
  type: "agent_plan";
  /** The CLI's session id. It can change on resume; turnwire's own id is in the envelope. */
  session_id?: string;
  /** Our id of the turn, `turn-1`, `turn-2`, …; absent outside of turns. */
  operation_id?: string;
  /** Fields cut for size: dotted path to full size in bytes of UTF-8. `payload.get` gives the whole. */
  truncated?: Record<string, number>;
  /** The tool call whose subagent this belongs to; absent in the main thread. */
  parent_tool_call_id?: string;
  /** The API message's id, where it is known; the line's UUID for text the model did not write. */
  message_id?: string;
  /** Index of the content block within its message, where it is known. */
  block_index?: number;
  /** True for what the agent tells again of the conversation before, when it loads a session: it belongs to no turn. */
  history?: boolean;
  /** The plan in Markdown. */
  plan_content: string;
  /** The file that holds it (2.1). */
  plan_file_path?: string;
  /** The ExitPlanMode call. */
  tool_call_id?: string;
  /** Which plan, of agents that have several; a later one of the same id takes its place. */
  plan_id?: string;
  /** Its entries, where it is a list of things to do; `plan_content` shows the same. */
  items?: TodoItem[];
}

/** A hook ran, in the CLI or in the sidecar. */
export interface HookActivity {
  type: "hook_activity";
  /** The CLI's session id. It can change on resume; turnwire's own id is in the envelope. */
  session_id?: string;
  /** Our id of the turn, `turn-1`, `turn-2`, …; absent outside of turns. */
  operation_id?: string;
  /** Fields cut for size: dotted path to full size in bytes of UTF-8. `payload.get` gives the whole. */
  truncated?: Record<string, number>;
  /** The tool call whose subagent this belongs to; absent in the main thread. */
  parent_tool_call_id?: string;
  /** The API message's id, where it is known; the line's UUID for text the model did not write. */
  message_id?: string;
  /** Index of the content block within its message, where it is known. */
  block_index?: number;
  /** True for what the agent tells again of the conversation before, when it loads a session: it belongs to no turn. */
  history?: boolean;
  /** started, progress, finished: run by the CLI; callback, answered: asked of us and answered. */
  phase: "started" | "progress" | "finished" | "callback" | "answered";
  /** PreToolUse, PostToolUse, Stop, … */
  hook_event?: string;
  /** The CLI's id of the run, or the control request's id of a callback. */
  hook_id?: string;
  /** The hook's name, or the callback's. */
  hook_name?: string;
  /** The tool call it concerns. */
  tool_call_id?: string;
  /** The tool it concerns. */
  tool_name?: string;
  /** What came of it: success, error, cancelled, allow, deny, ask, block, … */
  outcome?: string;
  /** What it printed or answered. */
  output?: string;
  /** What it printed on standard error. */
  stderr?: string;
  /** Its exit code. */
  exit_code?: number;
}

/** The CLI has a session. Once per session id. */
export interface SessionStatus {
  type: "session_status";
  /** The CLI's session id. It can change on resume; turnwire's own id is in the envelope. */
  session_id?: string;
  /** Our id of the turn, `turn-1`, `turn-2`, …; absent outside of turns. */
  operation_id?: string;
  /** Fields cut for size: dotted path to full size in bytes of UTF-8. `payload.get` gives the whole. */
  truncated?: Record<string, number>;
  /** New or resumed. */
  data: SessionStatusData;
}

/** The data of session_status. */
export interface SessionStatusData {
  /** Is the conversation new, or does it go on? */
  session_status: "new" | "resumed";
  /** True: the CLI said so itself. */
  init?: boolean;
}

/** The slash commands; each event replaces the list. */
export interface AvailableCommands {
  type: "available_commands";
  /** The CLI's session id. It can change on resume; turnwire's own id is in the envelope. */
  session_id?: string;
  /** Our id of the turn, `turn-1`, `turn-2`, …; absent outside of turns. */
  operation_id?: string;
  /** Fields cut for size: dotted path to full size in bytes of UTF-8. `payload.get` gives the whole. */
  truncated?: Record<string, number>;
  /** All of them. */
  available_commands: Command[];
}

/** A slash command. */
export interface Command {
  /** Without the slash. */
  name: string;
  /** What it does. */
  description?: string;
  /** What may follow it. */
  argument_hint?: string;
}

/** What the CLI says of itself; sent when it changes. */
export interface SessionInfo {
  type: "session_info";
  /** The CLI's session id. It can change on resume; turnwire's own id is in the envelope. */
  session_id?: string;
  /** Our id of the turn, `turn-1`, `turn-2`, …; absent outside of turns. */
  operation_id?: string;
  /** Fields cut for size: dotted path to full size in bytes of UTF-8. `payload.get` gives the whole. */
  truncated?: Record<string, number>;
  /** The main model. */
  model?: string;
  /** The workspace. */
  cwd?: string;
  /** The CLI's version. */
  version?: string;
  /** default, acceptEdits, plan, bypassPermissions, … */
  permission_mode?: string;
  /** Tools the agent has. */
  tools?: string[];
  /** MCP servers and their state. */
  mcp_servers?: McpServerStatus[];
  /** Subagents by name. */
  agents?: string[];
  /** Skills by name. */
  skills?: string[];
  /** The CLI's output style. */
  output_style?: string;
  /** Where the CLI has its key from. */
  api_key_source?: string;
  /** Which agent it is, as it calls itself; absent for Claude Code. */
  agent_name?: string;
  /** The same, for humans. */
  agent_title?: string;
  /** Models that can be chosen; told once, and when they change. */
  models?: Model[];
  /** What the agent says it can do, in its protocol's words; told once. */
  capabilities?: Record<string, JsonValue>;
  /** Ways to log in; told once. */
  auth_methods?: AuthMethod[];
}

/** An MCP server the CLI knows. */
export interface McpServerStatus {
  /** Its name. */
  name: string;
  /** connected, failed, needs-auth, pending, … */
  status?: string;
}

/** A model that a session can use. */
export interface Model {
  /** What switches to it. */
  id: string;
  /** The same, for humans. */
  name?: string;
  /** What it is good for. */
  description?: string;
}

/** A way to log in to the agent. */
export interface AuthMethod {
  /** What chooses it. */
  id: string;
  /** The same, for humans. */
  name?: string;
  /** What it takes. */
  description?: string;
}

/** What can be set for the session, where the agent lists it; each event replaces the list. */
export interface SessionOptions {
  type: "session_options";
  /** The CLI's session id. It can change on resume; turnwire's own id is in the envelope. */
  session_id?: string;
  /** Our id of the turn, `turn-1`, `turn-2`, …; absent outside of turns. */
  operation_id?: string;
  /** Fields cut for size: dotted path to full size in bytes of UTF-8. `payload.get` gives the whole. */
  truncated?: Record<string, number>;
  /** All of them. */
  options: SessionOption[];
}

/** Something that can be set for a session. */
export interface SessionOption {
  /** What sets it. */
  id: string;
  /** The same, for humans. */
  name?: string;
  /** What it does. */
  description?: string;
  /** mode, model, thought_level, permissions, … */
  category?: string;
  /** select or boolean. */
  kind?: string;
  /** Its value; `true` or `false` of a boolean. */
  current?: string;
  /** What can be chosen, of a select. */
  values?: OptionValue[];
}

/** One value of an option. */
export interface OptionValue {
  /** The value. */
  value: string;
  /** The same, for humans. */
  name?: string;
  /** What it means. */
  description?: string;
  /** The group of values it is listed in. */
  group?: string;
}

/** How full the main model's context is, in tokens. */
export interface ContextWindow {
  type: "context_window";
  /** The CLI's session id. It can change on resume; turnwire's own id is in the envelope. */
  session_id?: string;
  /** Our id of the turn, `turn-1`, `turn-2`, …; absent outside of turns. */
  operation_id?: string;
  /** Fields cut for size: dotted path to full size in bytes of UTF-8. `payload.get` gives the whole. */
  truncated?: Record<string, number>;
  /** Size of the window; None where it is not known. */
  context_window_size?: number;
  /** Tokens used. */
  context_window_used: number;
  /** Tokens left; None where the size is not known. */
  context_window_remaining?: number;
  /** Share used, in per cent; None where the size is not known. */
  context_efficiency?: number;
  /** The main model. */
  model?: string;
}

/** The API limits the rate, or warns that it soon will. */
export interface RateLimit {
  type: "rate_limit";
  /** The CLI's session id. It can change on resume; turnwire's own id is in the envelope. */
  session_id?: string;
  /** Our id of the turn, `turn-1`, `turn-2`, …; absent outside of turns. */
  operation_id?: string;
  /** Fields cut for size: dotted path to full size in bytes of UTF-8. `payload.get` gives the whole. */
  truncated?: Record<string, number>;
  /** What a human should read. */
  rate_limit_message: string;
  /** allowed_warning or rejected; that all is well is not published. */
  status?: string;
  /** When the limit resets: seconds since 1970. */
  resets_at?: number;
  /** Which limit: five_hour, seven_day, … */
  rate_limit_type?: string;
  /** How much of it is used, from 0 to 1. */
  utilization?: number;
}

/** News of a background task: a subagent, or a command. */
export interface TaskUpdate {
  type: "task_update";
  /** The CLI's session id. It can change on resume; turnwire's own id is in the envelope. */
  session_id?: string;
  /** Our id of the turn, `turn-1`, `turn-2`, …; absent outside of turns. */
  operation_id?: string;
  /** Fields cut for size: dotted path to full size in bytes of UTF-8. `payload.get` gives the whole. */
  truncated?: Record<string, number>;
  /** The tool call whose subagent this belongs to; absent in the main thread. */
  parent_tool_call_id?: string;
  /** The API message's id, where it is known; the line's UUID for text the model did not write. */
  message_id?: string;
  /** Index of the content block within its message, where it is known. */
  block_index?: number;
  /** True for what the agent tells again of the conversation before, when it loads a session: it belongs to no turn. */
  history?: boolean;
  /** The CLI's id of the task. */
  task_id: string;
  /** The tool call that started it. */
  tool_call_id?: string;
  /** running, completed, failed, stopped, killed, … */
  task_status: string;
  /** local_agent, local_bash, … */
  task_type?: string;
  /** What it is for. */
  description?: string;
  /** What came of it. */
  summary?: string;
  /** The tool it used last. */
  last_tool_name?: string;
  /** Tokens it has used. */
  total_tokens?: number;
  /** Tools it has called. */
  tool_uses?: number;
  /** How long it has run. */
  duration_ms?: number;
  /** The file with its whole output. */
  output_file?: string;
  /** Exit code of a command. */
  exit_code?: number;
}

/** The conversation before this was replaced by a summary. */
export interface CompactBoundary {
  type: "compact_boundary";
  /** The CLI's session id. It can change on resume; turnwire's own id is in the envelope. */
  session_id?: string;
  /** Our id of the turn, `turn-1`, `turn-2`, …; absent outside of turns. */
  operation_id?: string;
  /** Fields cut for size: dotted path to full size in bytes of UTF-8. `payload.get` gives the whole. */
  truncated?: Record<string, number>;
  /** manual or auto. */
  trigger?: string;
  /** Context before, in tokens. */
  pre_tokens?: number;
  /** Context after, in tokens. */
  post_tokens?: number;
}

/** The conversation goes on from an earlier message: what was said behind it no longer counts. */
export interface Cut {
  type: "cut";
  /** The CLI's session id. It can change on resume; turnwire's own id is in the envelope. */
  session_id?: string;
  /** Our id of the turn, `turn-1`, `turn-2`, …; absent outside of turns. */
  operation_id?: string;
  /** Fields cut for size: dotted path to full size in bytes of UTF-8. `payload.get` gives the whole. */
  truncated?: Record<string, number>;
  /** The same in words. */
  text: string;
  /** A human went back to a message, or had the last prompt said again. */
  reason: "rewind" | "retry";
  /** The message, as it was named; absent for the conversation's beginning. */
  at?: string;
  /** The turn that counts up to that message only. */
  within?: string;
  /** Turns that no longer count, in order. */
  void_turns: string[];
}

/** What stands between two of these was said before this session, and read from elsewhere; times are those of the reading. */
export interface History {
  type: "history";
  /** The CLI's session id. It can change on resume; turnwire's own id is in the envelope. */
  session_id?: string;
  /** Our id of the turn, `turn-1`, `turn-2`, …; absent outside of turns. */
  operation_id?: string;
  /** Fields cut for size: dotted path to full size in bytes of UTF-8. `payload.get` gives the whole. */
  truncated?: Record<string, number>;
  /** Whether it begins or ends here. */
  state: "began" | "ended";
  /** The same in words. */
  text: string;
  /** The agent's own id of a conversation that an agent has kept. */
  conversation?: string;
  /** turnwire's session that this one was branched off. */
  forked_from?: string;
  /** The message of that session after which it was branched off; absent for its end. */
  at?: string;
  /** Turns of a kept conversation. */
  turns?: number;
  /** When a kept conversation began: RFC 3339, UTC. */
  began?: string;
  /** When it went on last. */
  ended?: string;
}

/** A call to the API failed and is tried again. */
export interface ApiRetry {
  type: "api_retry";
  /** The CLI's session id. It can change on resume; turnwire's own id is in the envelope. */
  session_id?: string;
  /** Our id of the turn, `turn-1`, `turn-2`, …; absent outside of turns. */
  operation_id?: string;
  /** Fields cut for size: dotted path to full size in bytes of UTF-8. `payload.get` gives the whole. */
  truncated?: Record<string, number>;
  /** Which attempt failed, from 1. */
  attempt: number;
  /** How many there will be at most. */
  max_retries?: number;
  /** When the next one starts. */
  delay_ms?: number;
  /** HTTP status. */
  status?: number;
  /** What failed. */
  error?: string;
}

/** The agent wrote to its long-term memory. */
export interface Consolidation {
  type: "consolidation";
  /** The CLI's session id. It can change on resume; turnwire's own id is in the envelope. */
  session_id?: string;
  /** Our id of the turn, `turn-1`, `turn-2`, …; absent outside of turns. */
  operation_id?: string;
  /** Fields cut for size: dotted path to full size in bytes of UTF-8. `payload.get` gives the whole. */
  truncated?: Record<string, number>;
  /** New entries. */
  entries_created: number;
  /** Changed entries. */
  entries_updated: number;
}

/** The CLI's process started or ended. */
export interface ProcessStatus {
  type: "process_status";
  /** The CLI's session id. It can change on resume; turnwire's own id is in the envelope. */
  session_id?: string;
  /** Our id of the turn, `turn-1`, `turn-2`, …; absent outside of turns. */
  operation_id?: string;
  /** Fields cut for size: dotted path to full size in bytes of UTF-8. `payload.get` gives the whole. */
  truncated?: Record<string, number>;
  /** `stalled`: no output for longer than configured; `resumed`: it speaks again. */
  state: "started" | "exited" | "stalled" | "resumed";
  /** Its process id. */
  pid?: number;
  /** True when it was started to go on with an earlier conversation. */
  resumed?: boolean;
  /** Turns before it, of `started`, where turnwire begins to follow the session anew: after its own restart. */
  after_turns?: number;
  /** Its exit code. */
  exit_code?: number;
  /** The signal that ended it, such as SIGKILL. */
  signal?: string;
  /** The last it said on standard error. */
  stderr_tail?: string;
  /** Why, when we know: stop requested, end of recording, … */
  reason?: string;
  /** How long it has been silent, of `stalled`. */
  silent_ms?: number;
}

/** Something worth telling that has no event of its own. */
export interface Notice {
  type: "notice";
  /** The CLI's session id. It can change on resume; turnwire's own id is in the envelope. */
  session_id?: string;
  /** Our id of the turn, `turn-1`, `turn-2`, …; absent outside of turns. */
  operation_id?: string;
  /** Fields cut for size: dotted path to full size in bytes of UTF-8. `payload.get` gives the whole. */
  truncated?: Record<string, number>;
  /** What about: the CLI's message type or subtype. */
  kind: string;
  /** How important. */
  level: "info" | "warning" | "error";
  /** What a human should read. */
  text: string;
  /** The message's own fields. */
  details?: Record<string, JsonValue>;
}

/**
 * Where the spans of an agent's process, or of a prompt's turn, belong (W3C Trace Context and Baggage).
 *
 * turnwire tells it where spans are exported: before an agent starts, and before each prompt. A replay of the
 * recording then gives the same spans, and a frontend can link to the trace.
 */
export interface TraceContext {
  type: "trace_context";
  /** The CLI's session id. It can change on resume; turnwire's own id is in the envelope. */
  session_id?: string;
  /** Our id of the turn, `turn-1`, `turn-2`, …; absent outside of turns. */
  operation_id?: string;
  /** Fields cut for size: dotted path to full size in bytes of UTF-8. `payload.get` gives the whole. */
  truncated?: Record<string, number>;
  /** Our own span: `turnwire.session` of the process, or `streamjson.prompt` of the turn. */
  traceparent: string;
  /** UUID of the prompt; absent for the agent's process. */
  prompt?: string;
  /** The caller's `traceparent`; our span is a child of that one. */
  parent?: string;
  /** The caller's `tracestate`. */
  tracestate?: string;
  /** The caller's `baggage`. */
  baggage?: string;
}

/** A line of a type this version does not know. Nothing is lost: the line is here. */
export interface Unknown {
  type: "unknown";
  /** The CLI's session id. It can change on resume; turnwire's own id is in the envelope. */
  session_id?: string;
  /** Our id of the turn, `turn-1`, `turn-2`, …; absent outside of turns. */
  operation_id?: string;
  /** Fields cut for size: dotted path to full size in bytes of UTF-8. `payload.get` gives the whole. */
  truncated?: Record<string, number>;
  /** The line's type, with its subtype after a slash. */
  message_type: string;
  /** The line. */
  raw: string;
}

/** A line that is no message of the protocol. */
export interface Malformed {
  type: "malformed";
  /** The CLI's session id. It can change on resume; turnwire's own id is in the envelope. */
  session_id?: string;
  /** Our id of the turn, `turn-1`, `turn-2`, …; absent outside of turns. */
  operation_id?: string;
  /** Fields cut for size: dotted path to full size in bytes of UTF-8. `payload.get` gives the whole. */
  truncated?: Record<string, number>;
  /** What is wrong with it. */
  reason: string;
  /** The line, or its beginning. */
  raw: string;
  /** Its size in bytes. */
  size: number;
}

/** Several events of one session in one frame, while a frontend catches up. */
export interface EventsFrame {
  type: "events";
  /** In order, without holes. */
  events: EventFrame[];
}

/** The replay is over: what follows is live. */
export interface CaughtUp {
  type: "caught_up";
  /** The session. */
  session: string;
  /** Newest number sent. */
  seq: number;
}

/** Events the frontend asked for that are gone. */
export interface GapFrame {
  type: "gap";
  /** The session. */
  session: string;
  /** First number that is gone. */
  from: number;
  /** Last number that is gone. */
  to: number;
  /** The epoch that now counts. */
  epoch: string;
}

/** The frontend reads more slowly than events come; nothing is lost. */
export interface Lag {
  type: "lag";
  /** The session. */
  session: string;
  /** How many events wait for it. */
  behind: number;
}

/** The one answer to a command. */
export interface Reply {
  type: "reply";
  /** The command's id; null when the frame had none that could be read. */
  id: string | null;
  /** Was it done? */
  ok: boolean;
  /** What came of it. */
  result?: JsonValue;
  /** Why not. */
  error?: ReplyError;
}

/** Why a command was refused. */
export interface ReplyError {
  /** One of the documented codes. */
  code: string;
  /** Whose fault, where, and what to do. */
  message: string;
  /** The field of the command that is wrong. */
  field?: string;
}

/** Any frame the hub sends; `type` tells which. */
export type OutFrame = Welcome | Sessions | EventFrame | EventsFrame | CaughtUp | GapFrame | Lag | Reply;

/** Ask for a code that logs one more browser in, such as a phone's: result {code, seconds}. Good once, in the place of a token. */
export interface AccessInvite {
  /**
   * Chosen by the frontend; the reply repeats it. At the hub of a fleet a UUID may be sent again within an hour, on any
   * connection: the command is done once, and gets its first reply.
   */
  id: string;
  type: "access.invite";
  /** What it may do. */
  role?: "control" | "view";
}

/** What a CLI is started with beside its model; those of Claude Code. A version that lacks one refuses it. */
export interface AgentOptions {
  /** The system prompt, instead of the CLI's own. */
  system_prompt?: string;
  /** What to add to the system prompt. */
  append_system_prompt?: string;
  /** Built-in tools that exist at all; none when empty. */
  tools?: string[];
  /** Permission rules for calls that nobody is asked about, such as `Bash(git log:*)`. */
  allowed_tools?: string[];
  /** Permission rules for calls that may not be. */
  disallowed_tools?: string[];
  /** Model calls that a turn may make. */
  max_turns?: number;
  /** US dollars that a CLI may spend before it stops. */
  max_budget_usd?: number;
  /** How hard the model thinks. */
  effort?: "low" | "medium" | "high" | "xhigh" | "max";
  /** Model to take when the first one is overloaded. */
  fallback_model?: string;
  /** JSON Schema of the answer that each turn ends with. */
  output_schema?: Record<string, JsonValue>;
  /** Subagents by name, each with `description`, `prompt` and what else the CLI knows of them. */
  agents?: Record<string, Record<string, JsonValue>>;
  /** Directories of plugins, on the sidecar's machine. */
  plugins?: string[];
  /** Which of the CLI's own settings files count; none when empty, all when absent. */
  setting_sources?: Array<"user" | "project" | "local">;
  /** Directories beside the workspace that the tools may use. */
  add_dirs?: string[];
  /** Settings of the CLI, above those of its files. */
  settings?: Record<string, JsonValue>;
  /** Remember files before they are changed, for the control request `rewind_files`. */
  checkpointing?: boolean;
}

/** A file that goes with a prompt. */
export interface Attachment {
  /** File name; only its last part is used. */
  name?: string;
  /** What the frontend thinks it is; the content decides. */
  media_type?: string;
  /** The bytes. */
  base64: string;
}

/** Send any other control request to the CLI; the reply's result is its response. */
export interface Control {
  /**
   * Chosen by the frontend; the reply repeats it. At the hub of a fleet a UUID may be sent again within an hour, on any
   * connection: the command is done once, and gets its first reply.
   */
  id: string;
  /** turnwire's session id, as in `welcome` and `sessions`. */
  session: string;
  type: "control";
  /** With `subtype` and that subtype's fields. */
  request: Record<string, JsonValue>;
}

/**
 * Ask for a page of the log, beside what is followed: result {events, gap, seq, last, epoch}.
 *
 * `events` are `event` frames, in order and without holes, up to a MiB of them or one that is larger. `gap` ({from, to}) says which numbers
 * before them are gone, null when none is. `seq` is where the page ends, and goes into `after` for the next one; there is none when it
 * is `last`, the newest number of the log, or the one before `before`. So a frontend can `subscribe` close to the end of a long log
 * (`after` is the `last_seq` of the session less what it wants to show first), and read what came before meanwhile.
 */
export interface EventsGet {
  /**
   * Chosen by the frontend; the reply repeats it. At the hub of a fleet a UUID may be sent again within an hour, on any
   * connection: the command is done once, and gets its first reply.
   */
  id: string;
  /** turnwire's session id, as in `welcome` and `sessions`. */
  session: string;
  type: "events.get";
  /** Only numbers above this. */
  after?: number;
  /** Only numbers below this. */
  before?: number;
  /** The epoch that these numbers belong to, from `welcome`; needed when `after` is not 0. */
  epoch?: string;
}

/** The first frame of a frontend that can send no header: its token, and its name. */
export interface Hello {
  /**
   * Chosen by the frontend; the reply repeats it. At the hub of a fleet a UUID may be sent again within an hour, on any
   * connection: the command is done once, and gets its first reply.
   */
  id: string;
  type: "hello";
  /** The access token. */
  token?: string;
  /**
   * Shown as `by` in the decisions this frontend takes; a principal decides as `user:NAME`, whatever it says here. Printable; not a name that policies, rules, hooks or turnwire
   * itself decide under, so without a colon, and none that turnwire gives (`frontend-1`). The reply has the name as it is shown: no other frontend
   * has it, and at the hub of a fleet it ends with `@` and what that hub alone is called.
   */
  name?: string;
}

/** Stop the running turn. */
export interface Interrupt {
  /**
   * Chosen by the frontend; the reply repeats it. At the hub of a fleet a UUID may be sent again within an hour, on any
   * connection: the command is done once, and gets its first reply.
   */
  id: string;
  /** turnwire's session id, as in `welcome` and `sessions`. */
  session: string;
  type: "interrupt";
}

/** Ask for a conversation as a document: result {name, content}. */
export interface LibraryExport {
  /**
   * Chosen by the frontend; the reply repeats it. At the hub of a fleet a UUID may be sent again within an hour, on any
   * connection: the command is done once, and gets its first reply.
   */
  id: string;
  /** Of a fleet: name or label of the worker whose conversations are meant; all of them when absent. */
  worker?: string;
  type: "library.export";
  /** Its id; or `live:SESSION` for one of turnwire's own sessions. */
  conversation: string;
  /** What to write. */
  format?: "markdown" | "html";
  /** Replace secrets, tokens, e-mail addresses and home paths. */
  redact?: boolean;
}

/**
 * Ask for such conversations, the newest first: result {conversations, next, complete, version}.
 *
 * Each has `id`, `agent`, `folder`, `title`, `first_prompt`, `began`, `ended`, `turns`, `git_branch`, `model`, `version`, `bytes` and
 * `branches`. Its costs are `cost_usd`, `cost_is_whole` and `estimated_usd`, the part that is estimated by the prices of models.
 * `running` is true while somebody's CLI has it open. `session` is turnwire's own session with this conversation.
 *
 * `next` goes into `before` for the next page. The `cursor` of each conversation does the same for what follows it. `complete` is
 * false during the first look at the folders. `version` changes with the list. With it as `known` the command waits for changes.
 *
 * The hub of a fleet asks its workers side by side. Each conversation then has `worker` too. `missing` names the workers that did
 * not answer in time. There is no `version`. The same holds for `library.search` and `library.usage`; usage has no `worker`.
 */
export interface LibraryList {
  /**
   * Chosen by the frontend; the reply repeats it. At the hub of a fleet a UUID may be sent again within an hour, on any
   * connection: the command is done once, and gets its first reply.
   */
  id: string;
  /** Of a fleet: name or label of the worker whose conversations are meant; all of them when absent. */
  worker?: string;
  type: "library.list";
  /** How many. */
  limit?: number;
  /** The `next` of the page before. */
  before?: string;
  /** Only those of an agent. */
  agent?: string;
  /** Only those in a folder, and below it. */
  folder?: string;
  /** The `version` of the answer to the same command before: the reply comes when the list is another one, or after some 25 seconds. */
  known?: string;
  /** Only the one of this id; refused with `unknown_conversation` where there is none. */
  conversation?: string;
}

/**
 * Open a conversation to be read: result {session}. Its log is filled from the file, and follows it while it grows.
 *
 * The next prompt goes on with it, as with `session.create` and its `resume`, if frontends may work in its folder and
 * nobody's own CLI has it open.
 */
export interface LibraryOpen {
  /**
   * Chosen by the frontend; the reply repeats it. At the hub of a fleet a UUID may be sent again within an hour, on any
   * connection: the command is done once, and gets its first reply.
   */
  id: string;
  /** Of a fleet: name or label of the worker whose conversations are meant; all of them when absent. */
  worker?: string;
  type: "library.open";
  /** Its id. */
  conversation: string;
}

/** Call a conversation otherwise; its file is left as it is. */
export interface LibraryRename {
  /**
   * Chosen by the frontend; the reply repeats it. At the hub of a fleet a UUID may be sent again within an hour, on any
   * connection: the command is done once, and gets its first reply.
   */
  id: string;
  /** Of a fleet: name or label of the worker whose conversations are meant; all of them when absent. */
  worker?: string;
  type: "library.rename";
  /** Its id. */
  conversation: string;
  /** What to call it; as its agent does when absent. */
  title?: string;
}

/**
 * Search titles, prompts, texts, commands and paths of these conversations and of turnwire's own: result {hits, complete}.
 *
 * Each hit has `source` (library or live), `id`, `message`, `seq` (of live ones), `kind`, `title`, `folder`, `at`, and
 * `snippet`: parts with `text` and `hit`.
 */
export interface LibrarySearch {
  /**
   * Chosen by the frontend; the reply repeats it. At the hub of a fleet a UUID may be sent again within an hour, on any
   * connection: the command is done once, and gets its first reply.
   */
  id: string;
  /** Of a fleet: name or label of the worker whose conversations are meant; all of them when absent. */
  worker?: string;
  type: "library.search";
  /** Words, which must all be there; a phrase in double quotes. */
  text: string;
  /** How many hits. */
  limit?: number;
  /** Only those of an agent. */
  agent?: string;
  /** Only those in a folder, and below it. */
  folder?: string;
}

/**
 * Ask what was used, of these conversations and of turnwire's own: result {usage, complete}.
 *
 * Each entry has `group`, `answers`, `input_tokens`, `output_tokens`, `cache_read_input_tokens`,
 * `cache_creation_input_tokens`, `cost_usd`, `estimated_usd` (how much of that is an estimate) and `cost_is_whole`.
 */
export interface LibraryUsage {
  /**
   * Chosen by the frontend; the reply repeats it. At the hub of a fleet a UUID may be sent again within an hour, on any
   * connection: the command is done once, and gets its first reply.
   */
  id: string;
  /** Of a fleet: name or label of the worker whose conversations are meant; all of them when absent. */
  worker?: string;
  type: "library.usage";
  /**
   * What to sum up by; the day when absent. A week is named by its Monday, a block of five hours by its beginning; all times are those
   * of the hub's machine.
   */
  by?: Array<"day" | "week" | "month" | "block" | "session" | "project" | "model" | "agent">;
  /** From this day on, in the time of the hub's machine. */
  since?: string;
  /** Up to this day, included. */
  until?: string;
  /** Only in a folder, and below it. */
  folder?: string;
}

/** Ask for an event uncut, and the line it came from: result {event, raw}. */
export interface PayloadGet {
  /**
   * Chosen by the frontend; the reply repeats it. At the hub of a fleet a UUID may be sent again within an hour, on any
   * connection: the command is done once, and gets its first reply.
   */
  id: string;
  /** turnwire's session id, as in `welcome` and `sessions`. */
  session: string;
  type: "payload.get";
  /** The event's place in the log. */
  seq: number;
}

/** Answer a permission request. The first answer wins. */
export interface PermissionRespond {
  /**
   * Chosen by the frontend; the reply repeats it. At the hub of a fleet a UUID may be sent again within an hour, on any
   * connection: the command is done once, and gets its first reply.
   */
  id: string;
  /** turnwire's session id, as in `welcome` and `sessions`. */
  session: string;
  type: "permission.respond";
  /** The request. */
  pending_id: string;
  /** One of its permission_options. */
  option_id: string;
  /** The tool's arguments, edited. */
  updated_input?: Record<string, JsonValue>;
  /** What to tell the agent, on rejecting. */
  message?: string;
  /** On rejecting, also stop the turn. */
  interrupt?: boolean;
  /** Where to remember an always-answer, when the option leaves it open. */
  destination?: string;
  /** Permission mode to go on in, on approving a plan. */
  mode?: string;
}

/** Say something to the agent, also while it works. */
export interface Prompt {
  /**
   * Chosen by the frontend; the reply repeats it. At the hub of a fleet a UUID may be sent again within an hour, on any
   * connection: the command is done once, and gets its first reply.
   */
  id: string;
  /** The caller's span, version 00; ours is a child of it. */
  traceparent?: string;
  /** What vendors add to it. */
  tracestate?: string;
  /** What goes along with it; the agent and span processors get it. */
  baggage?: string;
  /** turnwire's session id, as in `welcome` and `sessions`. */
  session: string;
  type: "prompt";
  /** The text; may be empty when there are attachments. */
  text?: string;
  /** Images and files. */
  attachments?: Attachment[];
  /** now: interrupt the running turn; next: join it when the CLI can; later: after it. */
  priority?: "now" | "next" | "later";
}

/** Take back a prompt that still waits. */
export interface PromptWithdraw {
  /**
   * Chosen by the frontend; the reply repeats it. At the hub of a fleet a UUID may be sent again within an hour, on any
   * connection: the command is done once, and gets its first reply.
   */
  id: string;
  /** turnwire's session id, as in `welcome` and `sessions`. */
  session: string;
  type: "prompt.withdraw";
  /** Its UUID, from the reply to `prompt` and the `queued` event. */
  prompt: string;
}

/** Ask for the key that a browser subscribes with: result {key}, its `applicationServerKey`. */
export interface PushKey {
  /**
   * Chosen by the frontend; the reply repeats it. At the hub of a fleet a UUID may be sent again within an hour, on any
   * connection: the command is done once, and gets its first reply.
   */
  id: string;
  type: "push.key";
}

/** Have a browser told of what any session asks, finishes or fails at, until it unsubscribes or the tokens are new. */
export interface PushSubscribe {
  /**
   * Chosen by the frontend; the reply repeats it. At the hub of a fleet a UUID may be sent again within an hour, on any
   * connection: the command is done once, and gets its first reply.
   */
  id: string;
  type: "push.subscribe";
  /** Of its PushSubscription: https, of a push service that is known or that `push_services` names. */
  endpoint: string;
  /** Its public key, base64url. */
  p256dh: string;
  /** Its secret, base64url. */
  auth: string;
}

/** Tell a browser nothing more: result {subscribed}, whether it was. */
export interface PushUnsubscribe {
  /**
   * Chosen by the frontend; the reply repeats it. At the hub of a fleet a UUID may be sent again within an hour, on any
   * connection: the command is done once, and gets its first reply.
   */
  id: string;
  type: "push.unsubscribe";
  /** Of its PushSubscription. */
  endpoint: string;
}

/** Answer a question_request. The first answer wins. */
export interface QuestionAnswer {
  /**
   * Chosen by the frontend; the reply repeats it. At the hub of a fleet a UUID may be sent again within an hour, on any
   * connection: the command is done once, and gets its first reply.
   */
  id: string;
  /** turnwire's session id, as in `welcome` and `sessions`. */
  session: string;
  type: "question.answer";
  /** The request. */
  pending_id: string;
  /** Question to answer or answers, of ask_user. */
  answers?: Record<string, string | string[]>;
  /** Answer it, or not. */
  action?: "accept" | "decline" | "cancel";
  /** The answer, of an elicitation or a dialog. */
  content?: JsonValue;
  /** What to tell the agent, on declining. */
  message?: string;
}

/** Steer a session that plays a recording. */
export interface ReplayControl {
  /**
   * Chosen by the frontend; the reply repeats it. At the hub of a fleet a UUID may be sent again within an hour, on any
   * connection: the command is done once, and gets its first reply.
   */
  id: string;
  /** turnwire's session id, as in `welcome` and `sessions`. */
  session: string;
  type: "replay.control";
  /** What to do. */
  action: "play" | "pause" | "seek";
  /** Times the recorded pace. */
  speed?: number;
  /** Where to, of seek: share of the recording. */
  position?: number;
}

/** Stop the session's CLI; its events stay. */
export interface SessionClose {
  /**
   * Chosen by the frontend; the reply repeats it. At the hub of a fleet a UUID may be sent again within an hour, on any
   * connection: the command is done once, and gets its first reply.
   */
  id: string;
  /** turnwire's session id, as in `welcome` and `sessions`. */
  session: string;
  type: "session.close";
}

/** Start a CLI in a workspace. A trace context given here is also that of the first prompt. */
export interface SessionCreate {
  /**
   * Chosen by the frontend; the reply repeats it. At the hub of a fleet a UUID may be sent again within an hour, on any
   * connection: the command is done once, and gets its first reply.
   */
  id: string;
  /** The caller's span, version 00; ours is a child of it. */
  traceparent?: string;
  /** What vendors add to it. */
  tracestate?: string;
  /** What goes along with it; the agent and span processors get it. */
  baggage?: string;
  type: "session.create";
  /** Directory the CLI runs in, below one of `frontend_workspaces`; the sidecar's own when absent. */
  workspace?: string;
  /** Which configured agent; the default one when absent. */
  agent?: string;
  /** Model to use. */
  model?: string;
  /** Permission policy, none looser than `frontend_policy`. */
  policy?: "autonomous" | "supervised" | "plan";
  /** What the agent is kept from, none weaker than `sandbox_floor`; as configured when absent. A session whose sandbox cannot be had is refused. */
  sandbox?: "off" | "files" | "network";
  /** The CLI's own permission mode. */
  permission_mode?: string;
  /** MCP servers as in `--mcp-config`, where `frontend_options` lets frontends choose them. */
  mcp_servers?: Record<string, JsonValue>;
  /** What else to start the CLI with; each that is absent is as configured, and none permits more unless `frontend_options` says so. */
  options?: AgentOptions;
  /** Additional environment of the CLI; only names of `frontend_env`. */
  env?: Record<string, string>;
  /** What to call it. */
  title?: string;
  /** Of a fleet: name or label of the worker to begin it; the one with most room when absent. */
  worker?: string;
  /** First prompt. */
  prompt?: string;
  /**
   * A conversation that `library.list` names: the session begins with all of it in its log, in its own folder, and the
   * next prompt starts a CLI that goes on with it.
   */
  resume?: string;
}

/** Stop the session's CLI and forget the session: its record, its events, its attachments. */
export interface SessionDelete {
  /**
   * Chosen by the frontend; the reply repeats it. At the hub of a fleet a UUID may be sent again within an hour, on any
   * connection: the command is done once, and gets its first reply.
   */
  id: string;
  /** turnwire's session id, as in `welcome` and `sessions`. */
  session: string;
  type: "session.delete";
}

/** Start a new session that begins with this one's conversation. */
export interface SessionFork {
  /**
   * Chosen by the frontend; the reply repeats it. At the hub of a fleet a UUID may be sent again within an hour, on any
   * connection: the command is done once, and gets its first reply.
   */
  id: string;
  /** turnwire's session id, as in `welcome` and `sessions`. */
  session: string;
  type: "session.fork";
  /** Message up to which it is taken over, named as for `session.resume`; all of them when absent. */
  at?: string;
}

/** Ask for all sessions; the reply's result has them. */
export interface SessionList {
  /**
   * Chosen by the frontend; the reply repeats it. At the hub of a fleet a UUID may be sent again within an hour, on any
   * connection: the command is done once, and gets its first reply.
   */
  id: string;
  type: "session.list";
}

/** Rename a session. */
export interface SessionRename {
  /**
   * Chosen by the frontend; the reply repeats it. At the hub of a fleet a UUID may be sent again within an hour, on any
   * connection: the command is done once, and gets its first reply.
   */
  id: string;
  /** turnwire's session id, as in `welcome` and `sessions`. */
  session: string;
  type: "session.rename";
  /** What to call it. */
  title: string;
}

/** Start a CLI that goes on with this session's conversation. */
export interface SessionResume {
  /**
   * Chosen by the frontend; the reply repeats it. At the hub of a fleet a UUID may be sent again within an hour, on any
   * connection: the command is done once, and gets its first reply.
   */
  id: string;
  /** turnwire's session id, as in `welcome` and `sessions`. */
  session: string;
  type: "session.resume";
  /**
   * Message to go back to: a `resume_token` or `last_message_uuid` of a `complete`, or a message's UUID; none for the
   * end. One that is not known is refused, and what runs runs on. CLI 2.0.14 goes back to texts of the agent alone (name
   * the `complete` they ended, or a `message_id`), 1.0 nowhere.
   */
  at?: string;
}

/** Go back to before the last turn and send its prompt again. */
export interface SessionRetry {
  /**
   * Chosen by the frontend; the reply repeats it. At the hub of a fleet a UUID may be sent again within an hour, on any
   * connection: the command is done once, and gets its first reply.
   */
  id: string;
  /** turnwire's session id, as in `welcome` and `sessions`. */
  session: string;
  type: "session.retry";
}

/** Change the model. */
export interface SetModel {
  /**
   * Chosen by the frontend; the reply repeats it. At the hub of a fleet a UUID may be sent again within an hour, on any
   * connection: the command is done once, and gets its first reply.
   */
  id: string;
  /** turnwire's session id, as in `welcome` and `sessions`. */
  session: string;
  type: "set_model";
  /** The model; the default one when absent. */
  model?: string;
}

/** Change the CLI's permission mode. */
export interface SetPermissionMode {
  /**
   * Chosen by the frontend; the reply repeats it. At the hub of a fleet a UUID may be sent again within an hour, on any
   * connection: the command is done once, and gets its first reply.
   */
  id: string;
  /** turnwire's session id, as in `welcome` and `sessions`. */
  session: string;
  type: "set_permission_mode";
  /** default, acceptEdits, plan, bypassPermissions, … */
  mode: string;
}

/** Replay what follows the cursor, then go on live, without gap or repeat. */
export interface Subscribe {
  /**
   * Chosen by the frontend; the reply repeats it. At the hub of a fleet a UUID may be sent again within an hour, on any
   * connection: the command is done once, and gets its first reply.
   */
  id: string;
  /** turnwire's session id, as in `welcome` and `sessions`. */
  session: string;
  type: "subscribe";
  /** The last seq the frontend has; 0 for all. */
  after?: number;
  /** The epoch that seq belongs to, from `welcome`; needed when `after` is not 0. */
  epoch?: string;
}

/** Send no more of this session. */
export interface Unsubscribe {
  /**
   * Chosen by the frontend; the reply repeats it. At the hub of a fleet a UUID may be sent again within an hour, on any
   * connection: the command is done once, and gets its first reply.
   */
  id: string;
  /** turnwire's session id, as in `welcome` and `sessions`. */
  session: string;
  type: "unsubscribe";
}

/**
 * Ask git what differs in the workspace from the last commit, staged or not.
 *
 * Without a path: result {base, files, complete}. `base` is the commit, null before the first. `complete` is false where there are
 * more files than are listed.
 *
 * Each file has `path`, from the workspace, and `old_path` where it was renamed or copied. `status` is added, copied, deleted, modified,
 * renamed, retyped, unmerged or untracked. `added` and `removed` count lines, and are null where nobody counts them. `binary` is also
 * true for a file that is too large to compare. `filtered` means that only a filter such as LFS could tell whether it differs.
 * `version` changes whenever the file is written.
 *
 * With a path: result {patch, cut, binary}, the hunks of a unified diff. `cut` is true when there is more.
 */
export interface WorkspaceDiff {
  /**
   * Chosen by the frontend; the reply repeats it. At the hub of a fleet a UUID may be sent again within an hour, on any
   * connection: the command is done once, and gets its first reply.
   */
  id: string;
  /** turnwire's session id, as in `welcome` and `sessions`. */
  session: string;
  type: "workspace.diff";
  /** One of the files listed: what differs in it. */
  path?: string;
  /** Its `old_path`, if it has one. */
  old_path?: string;
}

/**
 * Ask for files of the workspace whose names fit, the best first: result {files, complete}.
 *
 * What git ignores is left out, and links are not followed. `complete` is false where there are too many to look at.
 */
export interface WorkspaceFiles {
  /**
   * Chosen by the frontend; the reply repeats it. At the hub of a fleet a UUID may be sent again within an hour, on any
   * connection: the command is done once, and gets its first reply.
   */
  id: string;
  /** turnwire's session id, as in `welcome` and `sessions`. */
  session: string;
  type: "workspace.files";
  /** Characters that a path has in this order, whatever their case. */
  text?: string;
  /** How many. */
  limit?: number;
}

/** Any command a frontend sends; `type` tells which. */
export type AnyCommand = Hello | Subscribe | Unsubscribe | SessionCreate | SessionList | SessionResume | SessionFork | SessionRetry | SessionRename | SessionClose | SessionDelete | Prompt | PromptWithdraw | Interrupt | PermissionRespond | QuestionAnswer | SetModel | SetPermissionMode | Control | PayloadGet | EventsGet | WorkspaceDiff | WorkspaceFiles | LibraryList | LibrarySearch | LibraryOpen | LibraryRename | LibraryExport | LibraryUsage | PushKey | PushSubscribe | PushUnsubscribe | AccessInvite | ReplayControl;

/** Any event of a session; `type` tells which. */
export type AgentEvent = TurnStarted | UserMessage | MessageChunk | Reasoning | ToolCall | ToolUpdate | Complete | Error | Retraction | Queued | Injected | Withdrawn | PermissionRequest | PermissionResolved | PermissionCancelled | QuestionRequest | SandboxDenied | SessionMode | AgentPlan | HookActivity | SessionStatus | AvailableCommands | SessionInfo | SessionOptions | ContextWindow | RateLimit | TaskUpdate | CompactBoundary | Cut | History | ApiRetry | Consolidation | ProcessStatus | Notice | TraceContext | Unknown | Malformed;

/** What a tool call does and what came of it; `kind` tells which field is populated. */
export type NormalizedPayload = ReadFilePayload | ModifyFilePayload | ShellExecPayload | CodeSearchPayload | HttpRequestPayload | SubagentTaskPayload | CreateTaskPayload | ManageTodosPayload | ShowPlanPayload | AskUserPayload | McpToolPayload | GenericPayload | MiscPayload;
