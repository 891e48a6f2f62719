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
  /** The id of the logs' lifetime. Every cursor contains it. */
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
  /** True where this frontend may open shells in the workspaces of sessions: `shell.open`. */
  shell?: boolean;
}

/** A session as frontends list it. */
export interface SessionSummary {
  /** turnwire's session id. */
  session: string;
  /** The title: a given one, else the agent's own, else the first prompt, else the folder. */
  title?: string;
  /** `waiting`: for a human's answer; `exited`: no CLI runs, it can be resumed; `unreachable`: the worker that has it is gone. */
  state: "starting" | "idle" | "running" | "waiting" | "stopping" | "exited" | "replaying" | "unreachable";
  /** Which agent; scripted ones say so. */
  agent?: string;
  /** Directory the CLI runs in. */
  workspace?: string;
  /** The worktree that was made for it; absent of a session without one. */
  worktree?: SessionWorktree;
  /** The principal who started it. Absent if it has no owner. */
  owner?: string;
  /** The main model. */
  model?: string;
  /** Permission policy. */
  policy?: string;
  /** What the sandbox denies its agent: nothing, foreign files, or also hosts that nobody allowed. Absent for a replay. */
  sandbox?: "off" | "files" | "network";
  /** The CLI's permission mode. */
  permission_mode?: string;
  /** The CLI's own session id. */
  cli_session_id?: string;
  /** Newest number of its log. */
  last_seq: number;
  /** Its cost so far, in dollars. */
  total_cost_usd?: number;
  /** Requests that wait for a human. */
  pending: number;
  /** RFC 3339. */
  created?: string;
  /** When a turn ended last, else when it was created; RFC 3339. */
  updated?: string;
  /** Why its events cannot be stored at present. They appear once they can be. Until then it accepts no prompt. */
  trouble?: string;
  /** What its agent can do. Absent for a replay. */
  abilities?: Abilities;
  /** True while a CLI outside turnwire has the conversation open. It is shown as it grows, and accepts no prompt. */
  followed?: boolean;
  /** The host on which the agent's own interface has the conversation: it is shown as it grows, and prompts wait. */
  in_terminal?: string;
  /** True once somebody wants the conversation back from that interface, which is then ended. */
  wanted_back?: boolean;
  /** Of a fleet: the worker that has it. */
  worker?: string;
  /** Of a replay: share of the recording that was played. */
  position?: number;
  /** Of a replay: times the recorded pace; 0 when paused. */
  speed?: number;
}

/** The git worktree that turnwire made for a session; its folder is the session's `workspace`, or holds it. */
export interface SessionWorktree {
  /** The folder that the session was requested for: a working tree of the same repository, or the bare repository itself. */
  repository: string;
  /** The branch that was made for it. */
  branch: string;
  /** The branch or commit that it started from. */
  base: string;
}

/** Abilities of a session's agent. Others are refused. Before the agent runs: those of agents like it. */
export interface Abilities {
  /** `session.resume` and a prompt start it again with its conversation. */
  resume: boolean;
  /** `session.resume` and `session.fork` go back to a message. */
  rewind: boolean;
  /** `session.fork` branches its conversation off. */
  fork: boolean;
  /** `interrupt` stops its turn, and it lives on. */
  interrupt: boolean;
  /** `prompt.withdraw` takes back a waiting prompt. */
  withdraw: boolean;
  /** `set_model` changes its model. */
  set_model: boolean;
  /** The modes for `set_permission_mode`. Absent if they are unknown, or if the agent has none. */
  modes?: string[];
  /** It sees images; otherwise they are saved in the workspace and named. */
  images: boolean;
  /**
   * What the agent does without asking, whatever the policy, in words, apart from reading and searching. Absent if it asks about
   * everything else, or if that is unknown.
   */
  never_asks?: string[];
}

/** An agent that can be chosen for a new session. */
export interface AgentChoice {
  /** The value for `agent` of session.create. */
  agent: string;
  /** The title. */
  title: string;
  /** The wire: claude, qwen, acp. */
  family: string;
  /** True for the scripted agent. */
  scripted?: boolean;
  /**
   * What it can do: resumes, continues_latest, forks, interrupts, withdraws_prompts, models, policies, hooks, mcp_servers,
   * images, rewinds_files, …. Facts that depend on the version are those of the newest known one.
   */
  capabilities: string[];
  /** Which of session.create's `options` mean something to it; others are refused. */
  options: string[];
  /** The permission modes that it can start in. Empty if it has none, or names them only when it runs. */
  permission_modes: string[];
}

/** A worker of a fleet that can be chosen for a new session. */
export interface WorkerChoice {
  /** The value for `worker` of session.create. */
  worker: string;
  /** Labels, which `worker` also accepts: any worker with the label may run the session. */
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
  /** UUIDs of the prompts that it serves, as far as they are known at its start. */
  prompts?: string[];
}

/** A message to the agent from a human, or from a program in their place. */
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
  /** The API message's id, if known; the line's UUID for text that the model did not write. */
  message_id?: string;
  /** Index of the content block within its message, if known. */
  block_index?: number;
  /** True for a replay of an earlier conversation, when the agent loads a session. It belongs to no turn. */
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

/** A part of a tool's result other than plain text (wire fact: images and documents in results). */
export interface ContentPart {
  /** The part's type. */
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
  /** Name of a document, or of a referenced tool. */
  title?: string;
  /** The notebook cell it belongs to. */
  cell_id?: string;
  /** `code`, `markdown` or `output`, of a notebook. */
  cell_type?: string;
  /** The unchanged block, for a type that this version does not know. */
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
  /** The API message's id, if known; the line's UUID for text that the model did not write. */
  message_id?: string;
  /** Index of the content block within its message, if known. */
  block_index?: number;
  /** True for a replay of an earlier conversation, when the agent loads a session. It belongs to no turn. */
  history?: boolean;
  /** The piece. */
  text: string;
  /** True for a correction: it replaces all earlier pieces of the block. */
  replace?: boolean;
  /**
   * Where the text is from when the model did not write it in a message: output of a slash command, the
   * turn's result, a message the CLI made up. Absent for the model's own text.
   */
  source?: "local_command" | "result" | "synthetic";
  /** Content other than text: images, sounds, resources. */
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
  /** The API message's id, if known; the line's UUID for text that the model did not write. */
  message_id?: string;
  /** Index of the content block within its message, if known. */
  block_index?: number;
  /** True for a replay of an earlier conversation, when the agent loads a session. It belongs to no turn. */
  history?: boolean;
  /** The piece; empty for redacted thinking. */
  reasoning_text: string;
  /** True if this replaces all earlier pieces of the block. */
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
  /** The API message's id, if known; the line's UUID for text that the model did not write. */
  message_id?: string;
  /** Index of the content block within its message, if known. */
  block_index?: number;
  /** True for a replay of an earlier conversation, when the agent loads a session. It belongs to no turn. */
  history?: boolean;
  /** Unique in the session. */
  tool_call_id: string;
  /** The agent's own id of the call, where that is another: agents use ids again. */
  agent_call_id?: string;
  /** The tool, as the agent calls it. */
  tool_name: string;
  /** One line for humans. */
  tool_title: string;
  /** Always running: the update that follows ends it. */
  tool_status: "running";
  /** The call's action. */
  normalized: ReadFilePayload | ModifyFilePayload | ShellExecPayload | CodeSearchPayload | HttpRequestPayload | SubagentTaskPayload | CreateTaskPayload | ManageTodosPayload | ShowPlanPayload | AskUserPayload | McpToolPayload | GenericPayload | MiscPayload;
}

/** A file is read. */
export interface ReadFilePayload {
  kind: "read_file";
  /** The frontend component that shows it. */
  renderer: "tool_read";
  /** The call's fields. */
  read_file: ReadFile;
}

/** A file is read. */
export interface ReadFile {
  /** Path as the agent gave it. */
  file_path: string;
  /** First requested line, from 1. */
  offset?: number;
  /** Number of requested lines. */
  limit?: number;
  /** Requested pages of a PDF: `3` or `1-5`. */
  pages?: string;
  /** Present once the call has a result. */
  output?: ReadOutput;
}

/** The result of a read. */
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
  /** The call's fields. */
  modify_file: ModifyFile;
}

/** A file is created, overwritten or edited. */
export interface ModifyFile {
  /** Path as the agent gave it. */
  file_path: string;
  /** The changes, in order. */
  mutations: Mutation[];
  /** Present once the call has a result. */
  output?: ModifyOutput;
}

/** One change to a file. */
export interface Mutation {
  /**
   * The change: a new file, a replaced file, a replaced passage, a notebook cell added or removed.
   *
   * An agent tells by the result alone whether a file is new or replaced. Until then a call that writes a whole file says `create`;
   * a permission request of a live session says what turnwire finds on the disk.
   */
  type: "create" | "overwrite" | "edit" | "insert" | "delete";
  /** The whole new content, of create, overwrite and insert. */
  content?: string;
  /** The replaced passage. */
  old_content?: string;
  /** The passage that replaces it. */
  new_content?: string;
  /**
   * Unified diff with the file's true line numbers, as far as they are known. `git apply` accepts it, unless `relative`.
   *
   * It is a diff of the file as the agent reads it: with CR LF read as LF, and with U+FFFD for bytes that are not UTF-8.
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
  /** The changed notebook cell. */
  cell_id?: string;
  /** `code` or `markdown`, of a notebook cell. */
  cell_type?: string;
}

/** The result of a modification. */
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
  /** The tool's message; the full text if it failed. */
  message?: string;
}

/** A command. */
export interface ShellExecPayload {
  kind: "shell_exec";
  /** The frontend component that shows it. */
  renderer: "tool_execute";
  /** The call's fields. */
  shell_exec: ShellExec;
}

/** A command runs, or a command in the background is read or stopped. */
export interface ShellExec {
  /** The command line; empty when a task is addressed by id. */
  command: string;
  /** Directory in which it starts, if known: the call's own, else the session's, until the agent leaves that. */
  work_dir?: string;
  /** The agent's description of its purpose. */
  description?: string;
  /** Time limit in milliseconds. */
  timeout?: number;
  /** True when it is not waited for. */
  background?: boolean;
  /** `read` and `stop` address a task in the background; absent means run. */
  operation?: "run" | "read" | "stop";
  /** The background task that is read or stopped. */
  task_id?: string;
  /** Present once the call has a result. */
  output?: ShellOutput;
}

/** The result of a command. */
export interface ShellOutput {
  /** The true exit code. Absent while it is unknown (background, interrupted, denied). */
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
  /** The call's fields. */
  code_search: CodeSearch;
}

/** Files or their content are searched. */
export interface CodeSearch {
  /** The text to find in the content. */
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
  /** Whether line numbers were requested, if the agent said so. */
  line_numbers?: boolean;
  /** True when upper and lower case count as equal. */
  case_insensitive?: boolean;
  /** True when a match may span lines. */
  multiline?: boolean;
  /** Requested lines of context before each match. */
  before?: number;
  /** Requested lines of context after each match. */
  after?: number;
  /** Requested number of lines or files. */
  limit?: number;
  /** Present once the call has a result. */
  output?: SearchOutput;
}

/** The result of a search. */
export interface SearchOutput {
  /** Files found. */
  files?: string[];
  /** Number of files; 0 if the tool reports no match. */
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
  /** The call's fields. */
  http_request: HttpRequest;
}

/** A page is fetched, or the web is searched. */
export interface HttpRequest {
  /** The address to fetch. */
  url?: string;
  /** GET, unless the tool names another method; SEARCH for a web search. */
  method?: string;
  /** The text to find on the web. */
  query?: string;
  /** The agent's question about the page. */
  prompt?: string;
  /** The answer as text. */
  response?: string;
  /** True when it failed. */
  is_error?: boolean;
  /** HTTP status, if known. */
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
  /** The call's fields. */
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
  /** The requested model. */
  model?: string;
  /** Present once the call has a result. */
  output?: SubagentOutput;
}

/** The result of a subagent. */
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
  /** The call's fields. */
  create_task: CreateTask;
}

/** An entry is added to the agent's task list. */
export interface CreateTask {
  /** The task. */
  title: string;
  /** In more words. */
  description?: string;
  /** Its id, once the call has a result. */
  task_id?: string;
  /** How it reads while it is being done. */
  active_form?: string;
}

/** The list of things to do. */
export interface ManageTodosPayload {
  kind: "manage_todos";
  /** The frontend component that shows it. */
  renderer: "todo";
  /** The call's fields. */
  manage_todos: ManageTodos;
}

/** The agent's list of things to do is written, changed or read. */
export interface ManageTodos {
  /** The operation on the list. */
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
  /** The task. */
  description: string;
  /** pending, in_progress, completed or deleted; empty when a call leaves it as it is. */
  status: string;
  /** How it reads while it is being done. */
  active_form?: string;
  /** Ids of entries that must be done first. */
  blocked_by?: string[];
  /** The agent that has taken it. */
  owner?: string;
}

/** Plan mode. */
export interface ShowPlanPayload {
  kind: "show_plan";
  /** The frontend component that shows it. */
  renderer: "tool_call";
  /** The call's fields. */
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
  /** Whether it was approved, once the call has a result. */
  approved?: boolean;
  /** The human's words on rejecting it. */
  feedback?: string;
}

/** Questions to the human. */
export interface AskUserPayload {
  kind: "ask_user";
  /** The frontend component that shows it. */
  renderer: "tool_call";
  /** The call's fields. */
  ask_user: AskUser;
}

/** The agent asks its human. */
export interface AskUser {
  /** The questions. */
  questions: Question[];
  /** Question -> answer, once the call has a result. Several labels are joined by a comma and a blank. */
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
  /** True if several may be chosen. */
  multi_select: boolean;
}

/** One possible answer. */
export interface Choice {
  /** The answer. */
  label: string;
  /** A description. */
  description?: string;
}

/** A tool of an MCP server. */
export interface McpToolPayload {
  kind: "mcp_tool";
  /** The frontend component that shows it. */
  renderer: "tool_call";
  /** The call's fields. */
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
  /** The call's fields. */
  generic: Generic;
}

/** Any tool without a kind of its own. */
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
  /** The call's fields. */
  misc: Misc;
}

/** An action with a label, without arguments and results worth a shape: skills, tool search. */
export interface Misc {
  /** The label. */
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
  /** The API message's id, if known; the line's UUID for text that the model did not write. */
  message_id?: string;
  /** Index of the content block within its message, if known. */
  block_index?: number;
  /** True for a replay of an earlier conversation, when the agent loads a session. It belongs to no turn. */
  history?: boolean;
  /** The call. */
  tool_call_id: string;
  /** The tool, as the agent calls it. */
  tool_name?: string;
  /** One line for humans. */
  tool_title?: string;
  /** `running` reports progress; the others are final. `unknown`: the agent never reported how the call ended. */
  tool_status: "running" | "complete" | "error" | "unknown";
  /** The call's payload, enriched with its result. */
  normalized?: ReadFilePayload | ModifyFilePayload | ShellExecPayload | CodeSearchPayload | HttpRequestPayload | SubagentTaskPayload | CreateTaskPayload | ManageTodosPayload | ShowPlanPayload | AskUserPayload | McpToolPayload | GenericPayload | MiscPayload;
  /** Why it failed. */
  error?: string;
  /**
   * The kind of failure. `no_result`: the turn ended without a result for the call, which is an error unless the
   * turn succeeded. Then the call is complete, as Claude Code's deferred calls are, or unknown.
   */
  reason?: "failed" | "denied" | "interrupted" | "process_exited" | "no_result";
  /** True if the work continues in the background. `task_update` events report on it. */
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
  /** Cost and result of the turn. */
  data: CompleteData;
  /** All errors in one line. */
  error?: string;
  /** The same as in `data`. */
  last_message_uuid?: string;
}

/** Cost and result of a turn. Times in milliseconds, money in US dollars. */
export interface CompleteData {
  /** How it ended; always there in our own events, absent in events that others recorded. */
  outcome?: "completed" | "interrupted" | "error" | "max_turns" | "max_tokens" | "refusal" | "budget" | "process_exited" | "hung";
  /** True when the turn failed. */
  is_error: boolean;
  /** Cost of this turn. Absent if a resumed CLI's total cannot be separated from earlier costs. */
  cost_usd?: number;
  /** The CLI's own total of its process. /clear resets it; the total of a resumed process may include its past. */
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
   * Tokens of everything in `cost_usd`, including subagents, compaction and helper models. Absent if the
   * four fields above have them all, or if they are unknown.
   */
  all_tokens?: TokenSums;
  /**
   * Set if the token fields above may be less than the turn's. `last_call`: the agent counts only the last call of the model.
   * `lines`: the CLI began the next turn without a result of this one. The next turn's `cost_usd` contains its cost.
   */
  tokens_of?: "last_call" | "lines";
  /** Tokens sent by the CLI process up to now, cached ones not included. */
  total_input_tokens?: number;
  /** Tokens received by the CLI process up to now. */
  total_output_tokens?: number;
  /** The last committed message: the value for `--resume-session-at` from 2.0.76 on. */
  last_message_uuid?: string;
  /** The value for `--resume-session-at` in the version that wrote this: a message id for 2.0.14, a UUID later. */
  resume_token?: string;
  /** The errors, without repetition. */
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
  /** Why the turn began, as known at its end. `turn_started` may have guessed. */
  origin?: "user" | "queued" | "background" | "autonomous";
  /** Exit code of a CLI that ended before the turn did. */
  exit_code?: number;
  /** Signal that ended such a CLI, such as SIGKILL. */
  signal?: string;
  /** The last text on standard error. */
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
 * An interrupted turn has no error: nothing failed. Its `complete` has the outcome
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
  /** The API message's id, if known; the line's UUID for text that the model did not write. */
  message_id?: string;
  /** Index of the content block within its message, if known. */
  block_index?: number;
  /** True for a replay of an earlier conversation, when the agent loads a session. It belongs to no turn. */
  history?: boolean;
  /** The text for a human. */
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
  /** API message ids, if only those are known (a broken stream). */
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
  /** Its text, where no `user_message` has it before the prompt is served. */
  text?: string;
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

/** The agent waits for permission to call a tool. */
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
  /** The API message's id, if known; the line's UUID for text that the model did not write. */
  message_id?: string;
  /** Index of the content block within its message, if known. */
  block_index?: number;
  /** True for a replay of an earlier conversation, when the agent loads a session. It belongs to no turn. */
  history?: boolean;
  /** Names this request in `permission.respond`; the control request's id. */
  pending_id: string;
  /** The tool call that waits; found by name and input where the CLI does not say (1.0, 2.0). */
  tool_call_id?: string;
  /** The tool, as the agent calls it. */
  tool_name?: string;
  /** One line for humans. For a command it is the command itself. A command that the agent does not reveal is called unknown. */
  permission_title: string;
  /** The agent's own title, if it differs. Its model may have chosen the words, so never decide by them. */
  agent_title?: string;
  /** The possible answers, in the agent's order: some agents begin with one that lasts. `kind` says what each is. */
  permission_options: PermissionOption[];
  /** The kind of action. */
  action_type: "command" | "file_write" | "file_read" | "network" | "mcp_tool" | "other";
  /** The command, the path, the address … */
  action_details?: Record<string, JsonValue>;
  /** The tool's arguments, for editing. */
  tool_input?: Record<string, JsonValue>;
  /** The tool call's payload, so that a dialog can show the diff or the command. */
  normalized?: ReadFilePayload | ModifyFilePayload | ShellExecPayload | CodeSearchPayload | HttpRequestPayload | SubagentTaskPayload | CreateTaskPayload | ManageTodosPayload | ShowPlanPayload | AskUserPayload | McpToolPayload | GenericPayload | MiscPayload;
  /** Why the CLI asks. */
  reason?: string;
  /** The path outside the allowed ones. */
  blocked_path?: string;
  /** permission_suggestions as the CLI made them. */
  suggestions?: Array<Record<string, JsonValue>>;
  /** The subagent that asks. */
  agent_id?: string;
}

/** One way to answer a permission request. */
export interface PermissionOption {
  /** The value for `permission.respond`. */
  option_id: string;
  /** The button's text. */
  name: string;
  /** The option's meaning. */
  kind: "allow_once" | "allow_always" | "reject_once" | "reject_always";
  /**
   * What choosing it comes to: what is allowed from now on, where, and until when. Frontends show it; no two options of a
   * request have the same. Absent in logs of older versions.
   */
  effect?: string;
  /** Where an always-answer is remembered: session, localSettings, projectSettings, userSettings. */
  destination?: string;
  /** Every rule that this answer adds. Absent if the agent does not say what it remembers. */
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
   * File in which the agent saves it: relative to the top of the git repository, or to the working directory without one; or
   * below `~`. Absent for a rule of this session only, or if the file is unknown.
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
  /** The decider: a frontend's name, `policy:NAME`, `rule:NUMBER`, `timeout`, … */
  by?: string;
  /** How long the request had waited. */
  waited_ms?: number;
  /** The text for the agent. */
  message?: string;
  /** The arguments as edited, when they were. */
  updated_input?: Record<string, JsonValue>;
  /** Where an always-answer is remembered. */
  destination?: string;
  /** True when the denial also stopped the turn. */
  interrupt?: boolean;
  /**
   * True if nobody was asked: a rule or a policy decided as the request arrived. No `permission_request` or `question_request`
   * was
   * published for it; the next three fields describe it.
   */
  unasked?: boolean;
  /** The line that a dialog would have shown. Only if `unasked`. */
  permission_title?: string;
  /** The kind of action. Only if `unasked`; absent for a question. */
  action_type?: "command" | "file_write" | "file_read" | "network" | "mcp_tool" | "other";
  /** The command, the path, the address …. Only if `unasked`. */
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
  /** The API message's id, if known; the line's UUID for text that the model did not write. */
  message_id?: string;
  /** Index of the content block within its message, if known. */
  block_index?: number;
  /** True for a replay of an earlier conversation, when the agent loads a session. It belongs to no turn. */
  history?: boolean;
  /** Names this request in `question.answer`. */
  pending_id: string;
  /** Who asks: the agent, an MCP server or the CLI. */
  kind: "ask_user" | "elicitation" | "dialog";
  /** The tool call that waits. */
  tool_call_id?: string;
  /** The questions, of ask_user. */
  questions?: Question[];
  /** The question's text, for the other kinds. */
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

/** The sandbox refused something: a host that nobody allowed, or a file that is read-only or hidden. */
export interface SandboxDenied {
  type: "sandbox_denied";
  /** The CLI's session id. It can change on resume; turnwire's own id is in the envelope. */
  session_id?: string;
  /** Our id of the turn, `turn-1`, `turn-2`, …; absent outside of turns. */
  operation_id?: string;
  /** Fields cut for size: dotted path to full size in bytes of UTF-8. `payload.get` gives the whole. */
  truncated?: Record<string, number>;
  /** The kind of the refused thing. */
  kind: "host" | "path";
  /** HOST:PORT, or the path. */
  target: string;
  /** Why, and what would allow it; for humans. */
  reason: string;
  /** The tool call that caused it, if known. */
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
  /** The value that switches to it. */
  id: string;
  /** The same, for humans. */
  name?: string;
  /** A description. */
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
  /** The API message's id, if known; the line's UUID for text that the model did not write. */
  message_id?: string;
  /** Index of the content block within its message, if known. */
  block_index?: number;
  /** True for a replay of an earlier conversation, when the agent loads a session. It belongs to no turn. */
  history?: boolean;
  /** The plan in Markdown. */
  plan_content: string;
  /** The file that holds it (2.1). */
  plan_file_path?: string;
  /** The ExitPlanMode call. */
  tool_call_id?: string;
  /** The plan's id, for agents with several plans. A later plan with the same id replaces it. */
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
  /** The API message's id, if known; the line's UUID for text that the model did not write. */
  message_id?: string;
  /** Index of the content block within its message, if known. */
  block_index?: number;
  /** True for a replay of an earlier conversation, when the agent loads a session. It belongs to no turn. */
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
  /** The outcome: success, error, cancelled, allow, deny, ask, block, … */
  outcome?: string;
  /** Its output or answer. */
  output?: string;
  /** Its output on standard error. */
  stderr?: string;
  /** Its exit code. */
  exit_code?: number;
}

/** The CLI has a session. Published once per session id. */
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
  /** True: the CLI itself reported it. */
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
  /** A description. */
  description?: string;
  /** The arguments that may follow it. */
  argument_hint?: string;
}

/** The CLI's facts about itself. Published when they change. */
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
  /** Models that can be chosen. Published once, and when they change. */
  models?: Model[];
  /** The agent's capabilities in its protocol's words. Published once. */
  capabilities?: Record<string, JsonValue>;
  /** Ways to log in. Published once. */
  auth_methods?: AuthMethod[];
}

/** An MCP server in the CLI's list. */
export interface McpServerStatus {
  /** Its name. */
  name: string;
  /** connected, failed, needs-auth, pending, … */
  status?: string;
}

/** A model that a session can use. */
export interface Model {
  /** The value that switches to it. */
  id: string;
  /** The same, for humans. */
  name?: string;
  /** A description. */
  description?: string;
}

/** A way to log in to the agent. */
export interface AuthMethod {
  /** The value that chooses it. */
  id: string;
  /** The same, for humans. */
  name?: string;
  /** The credentials that it needs. */
  description?: string;
}

/** The settings of the session that the agent lists. Each event replaces the list. */
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
  /** The value that sets it. */
  id: string;
  /** The same, for humans. */
  name?: string;
  /** A description. */
  description?: string;
  /** mode, model, thought_level, permissions, … */
  category?: string;
  /** select or boolean. */
  kind?: string;
  /** Its value; `true` or `false` of a boolean. */
  current?: string;
  /** The choices of a select. */
  values?: OptionValue[];
}

/** One value of an option. */
export interface OptionValue {
  /** The value. */
  value: string;
  /** The same, for humans. */
  name?: string;
  /** A description. */
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
  /** Size of the window; null if unknown. */
  context_window_size?: number;
  /** Tokens used. */
  context_window_used: number;
  /** Tokens left; null if the size is unknown. */
  context_window_remaining?: number;
  /** Used share in per cent; null if the size is unknown. */
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
  /** The text for a human. */
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
  /** The API message's id, if known; the line's UUID for text that the model did not write. */
  message_id?: string;
  /** Index of the content block within its message, if known. */
  block_index?: number;
  /** True for a replay of an earlier conversation, when the agent loads a session. It belongs to no turn. */
  history?: boolean;
  /** The CLI's id of the task. */
  task_id: string;
  /** The tool call that started it. */
  tool_call_id?: string;
  /** running, completed, failed, stopped, killed, … */
  task_status: string;
  /** local_agent, local_bash, … */
  task_type?: string;
  /** The task's purpose. */
  description?: string;
  /** The task's result. */
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

/** The conversation continues from an earlier message. Later messages no longer count. */
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
  /** A human went back to a message, or repeated the last prompt. */
  reason: "rewind" | "retry";
  /** The message, as it was named; absent for the conversation's beginning. */
  at?: string;
  /** The turn that counts up to that message only. */
  within?: string;
  /** Turns that no longer count, in order. */
  void_turns: string[];
}

/** Events between two of these were read from elsewhere and are older than this session. Times are those of the reading. */
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
  /** The agent's own id of a conversation in its files. */
  conversation?: string;
  /** turnwire's session that this one was branched off. */
  forked_from?: string;
  /** The message of that session after which it was branched off; absent for its end. */
  at?: string;
  /** Turns of the conversation that was read. */
  turns?: number;
  /** When the conversation that was read began: RFC 3339, UTC. */
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
  /** For `started`: the agent's name in turnwire's settings. */
  agent?: string;
  /** For `started`: where the model runs, if variables of Claude Code say so, such as `aws.bedrock`. */
  provider?: string;
  /** True when it was started to go on with an earlier conversation. */
  resumed?: boolean;
  /** For `started`: turns before it, if turnwire resumes following the session after its own restart. */
  after_turns?: number;
  /** Its exit code. */
  exit_code?: number;
  /** The signal that ended it, such as SIGKILL. */
  signal?: string;
  /** The last text on standard error. */
  stderr_tail?: string;
  /** Why, if known: stop requested, end of recording, … */
  reason?: string;
  /** How long it has been silent, of `stalled`. */
  silent_ms?: number;
}

/** A fact worth publishing that has no event type. */
export interface Notice {
  type: "notice";
  /** The CLI's session id. It can change on resume; turnwire's own id is in the envelope. */
  session_id?: string;
  /** Our id of the turn, `turn-1`, `turn-2`, …; absent outside of turns. */
  operation_id?: string;
  /** Fields cut for size: dotted path to full size in bytes of UTF-8. `payload.get` gives the whole. */
  truncated?: Record<string, number>;
  /** The subject: the CLI's message type or subtype. */
  kind: string;
  /** How important. */
  level: "info" | "warning" | "error";
  /** The text for a human. */
  text: string;
  /** The message's own fields. */
  details?: Record<string, JsonValue>;
}

/**
 * The trace of an agent's process, or of a prompt's turn (W3C Trace Context and Baggage).
 *
 * turnwire publishes it when spans are exported: before an agent starts, and before each prompt. A replay of the
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

/** A line of a type that this version does not know. The whole line is here. */
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

/** The replay is complete. Following events are live. */
export interface CaughtUp {
  type: "caught_up";
  /** The session. */
  session: string;
  /** Newest number sent. */
  seq: number;
}

/** Requested events that no longer exist. */
export interface GapFrame {
  type: "gap";
  /** The session. */
  session: string;
  /** First deleted number. */
  from: number;
  /** Last deleted number. */
  to: number;
  /** The epoch that now counts. */
  epoch: string;
}

/** The frontend reads more slowly than events arrive, or the hub cannot read them at present. Nothing is lost. */
export interface Lag {
  type: "lag";
  /** The session. */
  session: string;
  /** How many events wait for it. */
  behind: number;
  /** Why the hub cannot read the log at present. It tries again; `caught_up` reports the end of the problem. */
  error?: ReplyError;
}

/** Why a command was refused. */
export interface ReplyError {
  /** One of the documented codes. */
  code: string;
  /** What is wrong, where, and what to do. */
  message: string;
  /** The wrong field of the command. */
  field?: string;
}

/** What a shell wrote; sent to the connection alone that opened it. */
export interface ShellFrame {
  type: "shell_output";
  /** The session. */
  session: string;
  /** The shell, from the reply to `shell.open`. */
  shell: string;
  /** Counts the frames of this shell from 1; for `shell.ack`. */
  number: number;
  /** What it wrote, escapes of a terminal included. Bytes that are no UTF-8 are replaced. */
  text: string;
}

/** A shell has ended; the last frame about it. */
export interface ShellEnded {
  type: "shell_exit";
  /** The session. */
  session: string;
  /** The shell. */
  shell: string;
  /** Its exit code, negative for a signal; absent if it is not known. */
  code?: number;
}

/** The one answer to a command. */
export interface Reply {
  type: "reply";
  /** The command's id; null when the frame had none that could be read. */
  id: string | null;
  /** Was it done? */
  ok: boolean;
  /** The result. */
  result?: JsonValue;
  /** Why not. */
  error?: ReplyError;
}

/** Any frame the hub sends; `type` tells which. */
export type OutFrame = Welcome | Sessions | EventFrame | EventsFrame | CaughtUp | GapFrame | Lag | ShellFrame | ShellEnded | Reply;

/** Get a code that logs in one more browser, for example on a phone: result {code, seconds}. The code replaces a token, once. */
export interface AccessInvite {
  /**
   * Chosen by the frontend; the reply repeats it. At the hub of a fleet a UUID may be sent again within an hour, on any
   * connection: the command runs once, and every copy gets its first reply.
   */
  id: string;
  type: "access.invite";
  /** The browser's rights. */
  role?: "control" | "view";
}

/** Options of Claude Code for the start of a CLI, beside its model. A version without one refuses it. */
export interface AgentOptions {
  /** The system prompt, instead of the CLI's own. */
  system_prompt?: string;
  /** Text that is added to the system prompt. */
  append_system_prompt?: string;
  /** Built-in tools that exist at all; none when empty. */
  tools?: string[];
  /** Permission rules for calls that need no question, such as `Bash(git log:*)`. */
  allowed_tools?: string[];
  /** Permission rules for calls that may not be. */
  disallowed_tools?: string[];
  /** Model calls that a turn may make. */
  max_turns?: number;
  /** US dollars that a CLI may spend before it stops. */
  max_budget_usd?: number;
  /** How hard the model thinks. */
  effort?: "low" | "medium" | "high" | "xhigh" | "max";
  /** Model to use when the first one is overloaded. */
  fallback_model?: string;
  /** JSON Schema of the answer that each turn ends with. */
  output_schema?: Record<string, JsonValue>;
  /** Subagents by name, each with `description`, `prompt` and further members that the CLI knows. */
  agents?: Record<string, Record<string, JsonValue>>;
  /** Directories of plugins, on the sidecar's machine. */
  plugins?: string[];
  /** Which of the CLI's own settings files count; none when empty, all when absent. */
  setting_sources?: Array<"user" | "project" | "local">;
  /** Directories that the tools may use, in addition to the workspace. */
  add_dirs?: string[];
  /** Settings of the CLI. They override those of its files. */
  settings?: Record<string, JsonValue>;
  /** Remember files before they are changed, for the control request `rewind_files`. */
  checkpointing?: boolean;
}

/** A file attached to a prompt. */
export interface Attachment {
  /** File name; only its last part is used. */
  name?: string;
  /** The frontend's guess of its type. turnwire decides by the content. */
  media_type?: string;
  /** The bytes. */
  base64: string;
}

/** Send any other control request to the CLI; the reply's result is its response. */
export interface Control {
  /**
   * Chosen by the frontend; the reply repeats it. At the hub of a fleet a UUID may be sent again within an hour, on any
   * connection: the command runs once, and every copy gets its first reply.
   */
  id: string;
  /** turnwire's session id, as in `welcome` and `sessions`. */
  session: string;
  type: "control";
  /** With `subtype` and that subtype's fields. */
  request: Record<string, JsonValue>;
}

/**
 * Get a page of the log, independent of subscriptions: result {events, gap, seq, last, epoch}.
 *
 * `events` are `event` frames, in order and without holes, up to one MiB or one larger event. `gap` ({from, to}) names the
 * deleted numbers
 * before them; null if there are none. `seq` is the end of the page, for `after` of the next one. There is no next page when
 * it
 * equals `last`, the newest number of the log, or the number before `before`. So a frontend can `subscribe` close to the end
 * of a long log
 * (`after` is the session's `last_seq` minus what it shows first) and fetch earlier events meanwhile.
 */
export interface EventsGet {
  /**
   * Chosen by the frontend; the reply repeats it. At the hub of a fleet a UUID may be sent again within an hour, on any
   * connection: the command runs once, and every copy gets its first reply.
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

/** Lead a worker. `fleet.list` shows what comes of it. Refused with `no_worker` if it is not there. */
export interface FleetLead {
  /**
   * Chosen by the frontend; the reply repeats it. At the hub of a fleet a UUID may be sent again within an hour, on any
   * connection: the command runs once, and every copy gets its first reply.
   */
  id: string;
  type: "fleet.lead";
  /** Name of the worker. */
  worker: string;
  /** `cordon`: it gets no new sessions. `uncordon`: it gets some again. `drain`: its turns end, its sessions go to its group, then it ends. */
  action: "cordon" | "uncordon" | "drain";
}

/** List the workers of the fleet: result {redis, epoch, round_trip_s, workers}. */
export interface FleetList {
  /**
   * Chosen by the frontend; the reply repeats it. At the hub of a fleet a UUID may be sent again within an hour, on any
   * connection: the command runs once, and every copy gets its first reply.
   */
  id: string;
  type: "fleet.list";
}

/** Have a worker take a session by force, from a worker that does not let go. What that one still writes of it is refused. */
export interface FleetTake {
  /**
   * Chosen by the frontend; the reply repeats it. At the hub of a fleet a UUID may be sent again within an hour, on any
   * connection: the command runs once, and every copy gets its first reply.
   */
  id: string;
  type: "fleet.take";
  /** The session. */
  session: string;
  /** Name of the worker that takes it. It must be in the group of the other one. */
  worker: string;
}

/** The first frame of a frontend that can send no header: its token, and its name. */
export interface Hello {
  /**
   * Chosen by the frontend; the reply repeats it. At the hub of a fleet a UUID may be sent again within an hour, on any
   * connection: the command runs once, and every copy gets its first reply.
   */
  id: string;
  type: "hello";
  /** The access token. */
  token?: string;
  /**
   * Shown as `by` in this frontend's decisions. A principal decides as `user:NAME`, whatever the name. Printable, without a
   * colon: names
   * with one belong to policies, rules, hooks and turnwire. Names that turnwire gives (`frontend-1`) are refused. The reply
   * contains the name as shown:
   * no other frontend has it, and at the hub of a fleet it ends with `@` and the hub's own tag.
   */
  name?: string;
}

/** Stop the running turn. */
export interface Interrupt {
  /**
   * Chosen by the frontend; the reply repeats it. At the hub of a fleet a UUID may be sent again within an hour, on any
   * connection: the command runs once, and every copy gets its first reply.
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
   * connection: the command runs once, and every copy gets its first reply.
   */
  id: string;
  /** In a fleet: name or label of the worker with the conversations. Default: all workers. */
  worker?: string;
  type: "library.export";
  /** Its id; or `live:SESSION` for one of turnwire's own sessions. */
  conversation: string;
  /** The output format. */
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
   * connection: the command runs once, and every copy gets its first reply.
   */
  id: string;
  /** In a fleet: name or label of the worker with the conversations. Default: all workers. */
  worker?: string;
  type: "library.list";
  /** How many. */
  limit?: number;
  /** The `next` of the page before. */
  before?: string;
  /** Only conversations of this agent. */
  agent?: string;
  /** Only conversations in this folder and below. */
  folder?: string;
  /**
   * The `version` of an earlier answer to the same command. The reply waits until the list has changed, at most about 25
   * seconds.
   */
  known?: string;
  /** Only the conversation with this id. Refused with `unknown_conversation` if there is none. */
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
   * connection: the command runs once, and every copy gets its first reply.
   */
  id: string;
  /** In a fleet: name or label of the worker with the conversations. Default: all workers. */
  worker?: string;
  type: "library.open";
  /** Its id. */
  conversation: string;
}

/** Call a conversation otherwise; its file is left as it is. */
export interface LibraryRename {
  /**
   * Chosen by the frontend; the reply repeats it. At the hub of a fleet a UUID may be sent again within an hour, on any
   * connection: the command runs once, and every copy gets its first reply.
   */
  id: string;
  /** In a fleet: name or label of the worker with the conversations. Default: all workers. */
  worker?: string;
  type: "library.rename";
  /** Its id. */
  conversation: string;
  /** Title of the session. Default: the agent's own title. */
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
   * connection: the command runs once, and every copy gets its first reply.
   */
  id: string;
  /** In a fleet: name or label of the worker with the conversations. Default: all workers. */
  worker?: string;
  type: "library.search";
  /** Words, which must all be there; a phrase in double quotes. */
  text: string;
  /** How many hits. */
  limit?: number;
  /** Only conversations of this agent. */
  agent?: string;
  /** Only conversations in this folder and below. */
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
   * connection: the command runs once, and every copy gets its first reply.
   */
  id: string;
  /** In a fleet: name or label of the worker with the conversations. Default: all workers. */
  worker?: string;
  type: "library.usage";
  /**
   * The grouping. Default: by day. A week is named by its Monday, a block of five hours by its beginning. All times are
   * local to the hub's machine.
   */
  by?: Array<"day" | "week" | "month" | "block" | "session" | "project" | "model" | "agent">;
  /** From this day on, in the time of the hub's machine. */
  since?: string;
  /** Up to this day, included. */
  until?: string;
  /** Only in a folder, and below it. */
  folder?: string;
}

/**
 * Hand the conversation over to the agent's own interface, in a terminal of the sidecar's machine.
 *
 * Without `ticket` nothing is done: result {door}, the path of a Unix socket. The process that is to run the interface connects to
 * it and reads one line, its ticket. With that: ends the session's CLI, which must be idle. Result {argv, workspace, agent}: what to run
 * there. From then on the session follows the conversation's file, `in_terminal` of the list names the host, and prompts wait. The hand-over
 * ends with the interface, or with that process before it has started one. Sent again by the same process, it says which program runs.
 */
export interface NativeBegin {
  /**
   * Chosen by the frontend; the reply repeats it. At the hub of a fleet a UUID may be sent again within an hour, on any
   * connection: the command runs once, and every copy gets its first reply.
   */
  id: string;
  /** turnwire's session id, as in `welcome` and `sessions`. */
  session: string;
  type: "native.begin";
  /** What to call the terminal's machine. */
  host: string;
  /** What the process has read from `door`. It shows which process of the machine asks. */
  ticket?: string;
  /** The process of the interface itself, once it runs: one that the process with the ticket has started. */
  program?: number;
  /** Also end what the agent runs in the background; otherwise that is refused with `background_work`, which names it. */
  end_background?: boolean;
  /** Run the interface with the arguments of the person alone, in a session without a conversation. */
  new?: boolean;
}

/**
 * Wait until frontends lead the conversation again, after the end of the agent's own interface. Prompts that waited are sent.
 *
 * Refused with `in_terminal` while the interface runs.
 */
export interface NativeEnd {
  /**
   * Chosen by the frontend; the reply repeats it. At the hub of a fleet a UUID may be sent again within an hour, on any
   * connection: the command runs once, and every copy gets its first reply.
   */
  id: string;
  /** turnwire's session id, as in `welcome` and `sessions`. */
  session: string;
  type: "native.end";
  /** A ticket of the process that began it: it has started no interface, and will not. */
  ticket?: string;
}

/** Have the agent's own interface ended, after its turn: the conversation is led by frontends again. */
export interface NativeTakeBack {
  /**
   * Chosen by the frontend; the reply repeats it. At the hub of a fleet a UUID may be sent again within an hour, on any
   * connection: the command runs once, and every copy gets its first reply.
   */
  id: string;
  /** turnwire's session id, as in `welcome` and `sessions`. */
  session: string;
  type: "native.take_back";
  /** In the middle of its turn, too. */
  now?: boolean;
}

/** A new git worktree for a session. */
export interface NewWorktree {
  /** Name of the new branch; turnwire chooses one when absent. */
  branch?: string;
  /** The branch or commit that the worktree starts from. Default: what the workspace has checked out. */
  base?: string;
}

/** Ask for an event uncut, and the line it came from: result {event, raw}. */
export interface PayloadGet {
  /**
   * Chosen by the frontend; the reply repeats it. At the hub of a fleet a UUID may be sent again within an hour, on any
   * connection: the command runs once, and every copy gets its first reply.
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
   * connection: the command runs once, and every copy gets its first reply.
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
  /** A message to the agent, for a rejection. */
  message?: string;
  /** On rejecting, also stop the turn. */
  interrupt?: boolean;
  /** Where to remember an always-answer, when the option leaves it open. */
  destination?: string;
  /** Permission mode to go on in, on approving a plan. */
  mode?: string;
}

/** Ask for a reply and nothing else: a frontend that can send no WebSocket ping finds out whether the connection lives. */
export interface Ping {
  /**
   * Chosen by the frontend; the reply repeats it. At the hub of a fleet a UUID may be sent again within an hour, on any
   * connection: the command runs once, and every copy gets its first reply.
   */
  id: string;
  type: "ping";
}

/** Close a port of a session's sandbox to browsers. */
export interface PortClose {
  /**
   * Chosen by the frontend; the reply repeats it. At the hub of a fleet a UUID may be sent again within an hour, on any
   * connection: the command runs once, and every copy gets its first reply.
   */
  id: string;
  /** turnwire's session id, as in `welcome` and `sessions`. */
  session: string;
  type: "port.close";
  /** Which. */
  port: number;
}

/** Ask which ports servers listen on in a session's sandbox: result {ports}, each with `port` and `open`. */
export interface PortList {
  /**
   * Chosen by the frontend; the reply repeats it. At the hub of a fleet a UUID may be sent again within an hour, on any
   * connection: the command runs once, and every copy gets its first reply.
   */
  id: string;
  /** turnwire's session id, as in `welcome` and `sessions`. */
  session: string;
  type: "port.list";
}

/**
 * Let a browser reach a port of a session's sandbox, on an origin of its own: result {url, port, path}.
 *
 * `url` is for a browser on the hub's machine. Elsewhere it is `http://HOST:` with the host that reaches the hub, then `port`
 * and `path`. It admits
 * one browser, once. The browser's rights follow the frontend's role: `view` may only read (GET and HEAD).
 */
export interface PortOpen {
  /**
   * Chosen by the frontend; the reply repeats it. At the hub of a fleet a UUID may be sent again within an hour, on any
   * connection: the command runs once, and every copy gets its first reply.
   */
  id: string;
  /** turnwire's session id, as in `welcome` and `sessions`. */
  session: string;
  type: "port.open";
  /** Where the server listens in the sandbox, on 127.0.0.1 or ::1. */
  port: number;
}

/** Say something to the agent, also while it works. A UUID as `id` becomes the prompt's, which is said once however often it is sent. */
export interface Prompt {
  /**
   * Chosen by the frontend; the reply repeats it. At the hub of a fleet a UUID may be sent again within an hour, on any
   * connection: the command runs once, and every copy gets its first reply.
   */
  id: string;
  /** The caller's span, version 00; ours is a child of it. */
  traceparent?: string;
  /** Further trace data of vendors. */
  tracestate?: string;
  /** Key-value pairs of the trace. The agent and span processors get them. */
  baggage?: string;
  /** turnwire's session id, as in `welcome` and `sessions`. */
  session: string;
  type: "prompt";
  /** The text. May be empty if there are attachments. */
  text?: string;
  /** Images and files. */
  attachments?: Attachment[];
  /** now: interrupt the running turn; next: join it when the CLI can; later: after it. */
  priority?: "now" | "next" | "later";
}

/** Take back a waiting prompt. */
export interface PromptWithdraw {
  /**
   * Chosen by the frontend; the reply repeats it. At the hub of a fleet a UUID may be sent again within an hour, on any
   * connection: the command runs once, and every copy gets its first reply.
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
   * connection: the command runs once, and every copy gets its first reply.
   */
  id: string;
  type: "push.key";
}

/** Notify a browser when any session asks, finishes or fails, until it unsubscribes or the tokens change. */
export interface PushSubscribe {
  /**
   * Chosen by the frontend; the reply repeats it. At the hub of a fleet a UUID may be sent again within an hour, on any
   * connection: the command runs once, and every copy gets its first reply.
   */
  id: string;
  type: "push.subscribe";
  /** The endpoint of its PushSubscription: https, of a known push service or one that `push_services` names. */
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
   * connection: the command runs once, and every copy gets its first reply.
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
   * connection: the command runs once, and every copy gets its first reply.
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
  /** A message to the agent, for a refused question. */
  message?: string;
}

/** Steer a session that plays a recording. */
export interface ReplayControl {
  /**
   * Chosen by the frontend; the reply repeats it. At the hub of a fleet a UUID may be sent again within an hour, on any
   * connection: the command runs once, and every copy gets its first reply.
   */
  id: string;
  /** turnwire's session id, as in `welcome` and `sessions`. */
  session: string;
  type: "replay.control";
  /** The action. */
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
   * connection: the command runs once, and every copy gets its first reply.
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
   * connection: the command runs once, and every copy gets its first reply.
   */
  id: string;
  /** The caller's span, version 00; ours is a child of it. */
  traceparent?: string;
  /** Further trace data of vendors. */
  tracestate?: string;
  /** Key-value pairs of the trace. The agent and span processors get them. */
  baggage?: string;
  type: "session.create";
  /** Directory the CLI runs in, below one of `frontend_workspaces`; the sidecar's own when absent. */
  workspace?: string;
  /** Work in a new git worktree of the repository that `workspace` is in; refused unless the setting `worktrees` names a place for them. */
  worktree?: NewWorktree;
  /** Which configured agent; the default one when absent. */
  agent?: string;
  /** Model to use. */
  model?: string;
  /** Permission policy, none looser than `frontend_policy`. */
  policy?: "autonomous" | "supervised" | "plan";
  /**
   * What the sandbox denies the agent, not weaker than `sandbox_floor`. Default: as configured. A session is refused if its
   * sandbox is unavailable.
   */
  sandbox?: "off" | "files" | "network";
  /** The CLI's own permission mode. */
  permission_mode?: string;
  /** MCP servers as in `--mcp-config`, where `frontend_options` lets frontends choose them. */
  mcp_servers?: Record<string, JsonValue>;
  /**
   * Further options for the start of the CLI. Defaults are as configured. None may permit more unless `frontend_options` allows
   * it.
   */
  options?: AgentOptions;
  /** Additional environment of the CLI; only names of `frontend_env`. */
  env?: Record<string, string>;
  /** Title of the session. */
  title?: string;
  /** In a fleet: name or label of the worker that runs the session. Default: the worker with the most room. */
  worker?: string;
  /** First prompt. */
  prompt?: string;
  /**
   * A conversation that `library.list` names. The session starts with all of it in its log, in the conversation's folder, and
   * the
   * next prompt starts a CLI that continues it.
   */
  resume?: string;
}

/** Stop the session's CLI and forget the session: its record, its events, its attachments. */
export interface SessionDelete {
  /**
   * Chosen by the frontend; the reply repeats it. At the hub of a fleet a UUID may be sent again within an hour, on any
   * connection: the command runs once, and every copy gets its first reply.
   */
  id: string;
  /** turnwire's session id, as in `welcome` and `sessions`. */
  session: string;
  type: "session.delete";
}

/** Start a new session with this one's conversation. */
export interface SessionFork {
  /**
   * Chosen by the frontend; the reply repeats it. At the hub of a fleet a UUID may be sent again within an hour, on any
   * connection: the command runs once, and every copy gets its first reply.
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
   * connection: the command runs once, and every copy gets its first reply.
   */
  id: string;
  type: "session.list";
}

/** Have another worker of a fleet go on with the session: one of the same `worker_group`. Refused while a turn is open. */
export interface SessionMove {
  /**
   * Chosen by the frontend; the reply repeats it. At the hub of a fleet a UUID may be sent again within an hour, on any
   * connection: the command runs once, and every copy gets its first reply.
   */
  id: string;
  /** turnwire's session id, as in `welcome` and `sessions`. */
  session: string;
  type: "session.move";
  /** Name or label of the worker that takes it; the one with most room when absent. */
  worker?: string;
}

/** Rename a session. */
export interface SessionRename {
  /**
   * Chosen by the frontend; the reply repeats it. At the hub of a fleet a UUID may be sent again within an hour, on any
   * connection: the command runs once, and every copy gets its first reply.
   */
  id: string;
  /** turnwire's session id, as in `welcome` and `sessions`. */
  session: string;
  type: "session.rename";
  /** The new title. */
  title: string;
}

/** Start a CLI that continues this session's conversation. */
export interface SessionResume {
  /**
   * Chosen by the frontend; the reply repeats it. At the hub of a fleet a UUID may be sent again within an hour, on any
   * connection: the command runs once, and every copy gets its first reply.
   */
  id: string;
  /** turnwire's session id, as in `welcome` and `sessions`. */
  session: string;
  type: "session.resume";
  /**
   * Message to go back to: a `resume_token` or `last_message_uuid` of a `complete`, or a message's UUID. Default: the
   * end. An unknown message is refused, and a running CLI continues. CLI 2.0.14 can go back to texts of the agent only (name
   * the `complete` that they ended, or a `message_id`), 1.0 to no message.
   */
  at?: string;
}

/** Go back to before the last turn and send its prompt again. */
export interface SessionRetry {
  /**
   * Chosen by the frontend; the reply repeats it. At the hub of a fleet a UUID may be sent again within an hour, on any
   * connection: the command runs once, and every copy gets its first reply.
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
   * connection: the command runs once, and every copy gets its first reply.
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
   * connection: the command runs once, and every copy gets its first reply.
   */
  id: string;
  /** turnwire's session id, as in `welcome` and `sessions`. */
  session: string;
  type: "set_permission_mode";
  /** default, acceptEdits, plan, bypassPermissions, … */
  mode: string;
}

/** Say that output was shown, so that more is sent. */
export interface ShellAck {
  /**
   * Chosen by the frontend; the reply repeats it. At the hub of a fleet a UUID may be sent again within an hour, on any
   * connection: the command runs once, and every copy gets its first reply.
   */
  id: string;
  /** turnwire's session id, as in `welcome` and `sessions`. */
  session: string;
  /** The shell, from the reply to `shell.open`. */
  shell: string;
  type: "shell.ack";
  /** `number` of the last `shell_output` that was shown. */
  number: number;
}

/** End a shell, and all that it has started. */
export interface ShellClose {
  /**
   * Chosen by the frontend; the reply repeats it. At the hub of a fleet a UUID may be sent again within an hour, on any
   * connection: the command runs once, and every copy gets its first reply.
   */
  id: string;
  /** turnwire's session id, as in `welcome` and `sessions`. */
  session: string;
  /** The shell, from the reply to `shell.open`. */
  shell: string;
  type: "shell.close";
}

/**
 * Open a shell in a session's workspace, and in its sandbox if it has one: result {shell}. Needs the setting `shell`.
 *
 * Its output comes as `shell_output` frames, to this connection alone, and is not journaled. The hub sends 32 of them ahead of `shell.ack`;
 * then the shell waits. It ends with its exit, with the session's agent or with the connection, and all that it has started ends with it.
 */
export interface ShellOpen {
  /**
   * Chosen by the frontend; the reply repeats it. At the hub of a fleet a UUID may be sent again within an hour, on any
   * connection: the command runs once, and every copy gets its first reply.
   */
  id: string;
  /** turnwire's session id, as in `welcome` and `sessions`. */
  session: string;
  type: "shell.open";
  /** Characters of a line. */
  columns?: number;
  /** Lines. */
  rows?: number;
}

/** Tell a shell the size of its terminal. */
export interface ShellResize {
  /**
   * Chosen by the frontend; the reply repeats it. At the hub of a fleet a UUID may be sent again within an hour, on any
   * connection: the command runs once, and every copy gets its first reply.
   */
  id: string;
  /** turnwire's session id, as in `welcome` and `sessions`. */
  session: string;
  /** The shell, from the reply to `shell.open`. */
  shell: string;
  type: "shell.resize";
  /** Characters of a line. */
  columns: number;
  /** Lines. */
  rows: number;
}

/** Type into a shell. Refused with `rate_limited` while it has not read 64 KiB. */
export interface ShellWrite {
  /**
   * Chosen by the frontend; the reply repeats it. At the hub of a fleet a UUID may be sent again within an hour, on any
   * connection: the command runs once, and every copy gets its first reply.
   */
  id: string;
  /** turnwire's session id, as in `welcome` and `sessions`. */
  session: string;
  /** The shell, from the reply to `shell.open`. */
  shell: string;
  type: "shell.write";
  /** What is typed, control characters included. */
  text: string;
}

/** Replay the events after the cursor, then continue live, without gap or repetition. */
export interface Subscribe {
  /**
   * Chosen by the frontend; the reply repeats it. At the hub of a fleet a UUID may be sent again within an hour, on any
   * connection: the command runs once, and every copy gets its first reply.
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
   * connection: the command runs once, and every copy gets its first reply.
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
   * connection: the command runs once, and every copy gets its first reply.
   */
  id: string;
  /** turnwire's session id, as in `welcome` and `sessions`. */
  session: string;
  type: "workspace.diff";
  /** A listed file: get its changes. */
  path?: string;
  /** Its `old_path`, if it has one. */
  old_path?: string;
  /** `base`, of a session in a worktree: compare with where its branch left its base, so that its commits are shown too. */
  against?: "commit" | "base";
}

/**
 * Ask for files of the workspace whose names fit, the best first: result {files, complete}.
 *
 * What git ignores is left out, and links are not followed. `complete` is false where there are too many to look at.
 */
export interface WorkspaceFiles {
  /**
   * Chosen by the frontend; the reply repeats it. At the hub of a fleet a UUID may be sent again within an hour, on any
   * connection: the command runs once, and every copy gets its first reply.
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

/**
 * Ask for the folders in which a session can begin.
 *
 * Result {path, parent, folders, complete}. Without a path `folders` are those that frontends may choose from, with all below them, and
 * `path` and `parent` are null. With one, `folders` are the paths of the folders in it, and `parent` is the folder above it, null where
 * that may not be chosen. Hidden folders are left out. `complete` is false where there are more than 500.
 */
export interface WorkspaceFolders {
  /**
   * Chosen by the frontend; the reply repeats it. At the hub of a fleet a UUID may be sent again within an hour, on any
   * connection: the command runs once, and every copy gets its first reply.
   */
  id: string;
  type: "workspace.folders";
  /** A folder that may be chosen. */
  path?: string;
}

/**
 * List a folder of the workspace: result {entries, complete}, folders first.
 *
 * Each entry has `name`, `kind` (`folder`, `file`, `link`, `other`) and `size`, which is null but for files. `complete` is false where
 * there are more than 2000. `.git`, `.turnwire`, turnwire's own state and folders with keys are left out.
 */
export interface WorkspaceList {
  /**
   * Chosen by the frontend; the reply repeats it. At the hub of a fleet a UUID may be sent again within an hour, on any
   * connection: the command runs once, and every copy gets its first reply.
   */
  id: string;
  /** turnwire's session id, as in `welcome` and `sessions`. */
  session: string;
  type: "workspace.list";
  /** From the workspace; the workspace itself when empty. A link may not lead out of it. */
  path?: string;
}

/**
 * Read a file of the workspace: result {size, text, media_type, base64, cut}.
 *
 * `text` is null of a file that is no UTF-8. `media_type` and `base64` are of a PNG, JPEG, GIF or WebP image up to 4 MiB, else null. `cut` is
 * true where there is more: `text` ends after 1 MiB. Pipes, devices and files of the kernel are refused with `unknown_file`.
 */
export interface WorkspaceRead {
  /**
   * Chosen by the frontend; the reply repeats it. At the hub of a fleet a UUID may be sent again within an hour, on any
   * connection: the command runs once, and every copy gets its first reply.
   */
  id: string;
  /** turnwire's session id, as in `welcome` and `sessions`. */
  session: string;
  type: "workspace.read";
  /** From the workspace. A link may not lead out of it. */
  path: string;
}

/**
 * Take back the uncommitted changes of a file, or one hunk of them: result {backup, restore}.
 *
 * `backup` is the id of the git object with the file's content before, and `restore` the command that writes it back. Both are null for
 * a file that was deleted. A new file is removed.
 */
export interface WorkspaceRevert {
  /**
   * Chosen by the frontend; the reply repeats it. At the hub of a fleet a UUID may be sent again within an hour, on any
   * connection: the command runs once, and every copy gets its first reply.
   */
  id: string;
  /** turnwire's session id, as in `welcome` and `sessions`. */
  session: string;
  type: "workspace.revert";
  /** One of the files that `workspace.diff` lists. */
  path: string;
  /** Its `old_path`, if it has one. */
  old_path?: string;
  /** Its `version` there; refused with `changed` where the file was written since. Needed for a file that has one. */
  version?: string;
  /** One hunk as in `patch`, from its `@@` line on; the whole file when absent. */
  hunk?: string;
}

/**
 * Do something with a session's worktree, after a preview.
 *
 * Without `plan` nothing is done: result {plan, does, commands, warnings, refusal}. `does` has sentences that say what will be done. `commands`
 * are the same as commands of git. `warnings` has what a person should know before. `refusal` says why it cannot be done and what to do, and
 * is null where it can. With the `plan` of a preview it is done: result {done, output, backup}. `done` has sentences, `output` what git
 * said, `backup` the name under which the state before is kept, or null. `discard` copies files that git ignores into the state directory, and
 * `done` says where; more than 50 MB are refused. Where the worktree or its base has changed since the preview, it
 * is refused with `changed`.
 */
export interface WorktreeAct {
  /**
   * Chosen by the frontend; the reply repeats it. At the hub of a fleet a UUID may be sent again within an hour, on any
   * connection: the command runs once, and every copy gets its first reply.
   */
  id: string;
  /** turnwire's session id, as in `welcome` and `sessions`. */
  session: string;
  type: "worktree.act";
  /**
   * `commit` takes all changes. `merge` joins the branch into its base, `rebase` moves it onto its base. `push` sends it. `pull_request` gives the
   * command of `gh` and runs nothing. `discard` removes the worktree and its branch, of a session whose agent does not run.
   */
  action: "commit" | "merge" | "rebase" | "push" | "pull_request" | "discard";
  /** Of `commit`: the message. Of `pull_request`: the title. */
  message?: string;
  /** The `plan` of the preview that a person has agreed to. */
  plan?: string;
}

/**
 * List the worktrees that turnwire made here: result {place, worktrees}; refused with `no_worktrees` if the setting is off.
 *
 * Each has `path`, `repository`, `branch` (null when detached) and `sessions` (ids). `unsaved` has sentences about work that would be lost.
 * `ignored` names at most 200 files that git ignores, and `keeps` has sentences about where they are kept. `removable` is true without a
 * session and without unsaved work.
 */
export interface WorktreeList {
  /**
   * Chosen by the frontend; the reply repeats it. At the hub of a fleet a UUID may be sent again within an hour, on any
   * connection: the command runs once, and every copy gets its first reply.
   */
  id: string;
  type: "worktree.list";
}

/**
 * Remove a worktree that no session uses: result {path, branch, backup, left}. Refused if it has work that is saved nowhere else.
 *
 * Its branch stays. Files that git ignores are copied to the folder `backup`, in the state directory, unless a build makes them again. More
 * than 50 MB are refused. Somebody who writes into the worktree meanwhile has it refused with `changed`.
 */
export interface WorktreeRemove {
  /**
   * Chosen by the frontend; the reply repeats it. At the hub of a fleet a UUID may be sent again within an hour, on any
   * connection: the command runs once, and every copy gets its first reply.
   */
  id: string;
  type: "worktree.remove";
  /** As `worktree.list` has it. */
  path: string;
}

/**
 * Ask how a session's worktree stands: result {path, repository, branch, base, ahead, behind, uncommitted, conflicts, remote, pushed}.
 *
 * `base` is the branch that it started from, or null where it was a commit. `ahead` and `behind` count commits between branch and base.
 * `uncommitted` lists the files that differ from the last commit, at most 200. `conflicts` lists the files that a merge into the base could
 * not join. `remote` is the name of the remote that `push` sends to, or null. `pushed` is true when the remote has every commit.
 */
export interface WorktreeStatus {
  /**
   * Chosen by the frontend; the reply repeats it. At the hub of a fleet a UUID may be sent again within an hour, on any
   * connection: the command runs once, and every copy gets its first reply.
   */
  id: string;
  /** turnwire's session id, as in `welcome` and `sessions`. */
  session: string;
  type: "worktree.status";
}

/** Any command a frontend sends; `type` tells which. */
export type AnyCommand = Hello | Ping | Subscribe | Unsubscribe | SessionCreate | SessionList | SessionResume | SessionFork | SessionRetry | SessionRename | SessionClose | SessionMove | SessionDelete | NativeBegin | NativeEnd | NativeTakeBack | Prompt | PromptWithdraw | Interrupt | PermissionRespond | QuestionAnswer | SetModel | SetPermissionMode | Control | PayloadGet | EventsGet | WorkspaceDiff | WorkspaceFiles | WorkspaceList | WorkspaceRead | WorkspaceRevert | WorktreeStatus | WorktreeAct | WorktreeList | WorktreeRemove | PortList | PortOpen | PortClose | ShellOpen | ShellWrite | ShellResize | ShellAck | ShellClose | WorkspaceFolders | LibraryList | LibrarySearch | LibraryOpen | LibraryRename | LibraryExport | LibraryUsage | PushKey | PushSubscribe | PushUnsubscribe | AccessInvite | FleetList | FleetLead | FleetTake | ReplayControl;

/** How the hub knows this frontend. */
export interface HelloResult {
  /** Shown as `by` in the decisions it takes. */
  name: string;
  /** What it may do. */
  role: "control" | "view";
}

/** A session is followed. */
export interface SubscribeResult {
  /** The life of the log, which goes with every cursor. */
  epoch: string;
  /** Newest number of the log. */
  last: number;
}

/** Something is told no more. */
export interface UnsubscribeResult {
  /** Whether it was told before. */
  subscribed: boolean;
}

/** The session that began, or goes on. */
export interface SessionResult {
  /** Its id. */
  session: string;
}

/** A prompt was sent. */
export interface PromptResult {
  /** Its UUID: `queued` and `complete` name it. */
  prompt: string;
}

/** Where the session goes on. */
export interface MoveResult {
  /** Name of the worker that has it. */
  worker: string;
}

/** What to run in the terminal. Nothing is in it where the process that began it says which program runs. */
export interface NativeProgram {
  /** The Unix socket where the process that is to run it gets a ticket. Alone, of a command without one. */
  door?: string;
  /** The agent's own interface, with its arguments. */
  argv?: string[];
  /** The folder to run it in. */
  workspace?: string;
  /** Which agent it is. */
  agent?: string;
}

/** Whether a prompt was taken back. */
export interface WithdrawalResult {
  /** False when it no longer waited. */
  withdrawn: boolean;
}

/** An event uncut, and the line it came from. */
export interface WholePayload {
  /** The event. */
  event: TurnStarted | UserMessage | MessageChunk | Reasoning | ToolCall | ToolUpdate | Complete | Error | Retraction | Queued | Injected | Withdrawn | PermissionRequest | PermissionResolved | PermissionCancelled | QuestionRequest | SandboxDenied | SessionMode | AgentPlan | HookActivity | SessionStatus | AvailableCommands | SessionInfo | SessionOptions | ContextWindow | RateLimit | TaskUpdate | CompactBoundary | Cut | History | ApiRetry | Consolidation | ProcessStatus | Notice | TraceContext | Unknown | Malformed;
  /** The line; null where it is not kept. */
  raw: string | null;
}

/** A page of a session's log. */
export interface EventsPage {
  /** In order, without holes. */
  events: EventFrame[];
  /** Numbers before these events that are gone; null when none is. */
  gap: PageGap | null;
  /** Where the page ends: `after` of the next page. There is none when it is `last`. */
  seq: number;
  /** The newest number of the log, or the one before `before`. */
  last: number;
  /** The life of the log. */
  epoch: string;
}

/** Numbers of a log that are gone. */
export interface PageGap {
  /** First number that is gone. */
  from: number;
  /** Last number that is gone. */
  to: number;
}

/** What differs in a workspace from the last commit; of a command with a path, what differs in that file. */
export interface WorkspaceDifference {
  /** Without a path: that commit; null before the first. */
  base?: string | null;
  /** Without a path: what differs, by path. */
  files?: ChangedFile[];
  /** Without a path: whether these are all. */
  complete?: boolean;
  /** With a path: the hunks of a unified diff. */
  patch?: string;
  /** With a path: whether there is more. */
  cut?: boolean;
  /** With a path: a binary file, or one that is too large to compare. */
  binary?: boolean;
}

/** A file of a workspace that differs from the last commit. */
export interface ChangedFile {
  /** From the workspace. */
  path: string;
  /** How it differs. */
  status: "added" | "copied" | "deleted" | "modified" | "renamed" | "retyped" | "unmerged" | "untracked";
  /** The old path of a renamed or copied file. */
  old_path: string | null;
  /** Lines; null where nobody counted them. */
  added: number | null;
  /** Lines; null where nobody counted them. */
  removed: number | null;
  /** A binary file, or one that is too large to compare. */
  binary: boolean;
  /** Only a filter such as LFS could tell whether it differs. */
  filtered: boolean;
  /** Another one whenever the file was written; null when there is none. */
  version: string | null;
}

/** Files whose names fit. */
export interface WorkspaceNames {
  /** Paths from the workspace, the best first. */
  files: string[];
  /** False where there are too many files to look at. */
  complete: boolean;
}

/** A folder of a workspace. */
export interface WorkspaceFolder {
  /** Folders first, by name. */
  entries: WorkspaceEntry[];
  /** False where there are more. */
  complete: boolean;
}

/** What is in a folder of a workspace. */
export interface WorkspaceEntry {
  /** Its own name. */
  name: string;
  /** A link may lead to a folder or a file, or out of the workspace. */
  kind: "folder" | "file" | "link" | "other";
  /** Bytes of a file. */
  size: number | null;
}

/** What is in a file of a workspace. */
export interface WorkspaceContent {
  /** Bytes. */
  size: number;
  /** Its text; null of a file that is no UTF-8. */
  text: string | null;
  /** The type of an image; null of other files, and of one that is too large. */
  media_type: string | null;
  /** The bytes of an image. */
  base64: string | null;
  /** Whether there is more than is sent. */
  cut: boolean;
}

/** Folders that a session may begin in. */
export interface WorkspaceFolderList {
  /** The folder that was asked for; null of a command without a path. */
  path: string | null;
  /** The folder above it; null where that may not be chosen. */
  parent: string | null;
  /** Paths, at most 500. */
  folders: string[];
  /** False where there are more. */
  complete: boolean;
}

/** Changes of a file were taken back. */
export interface RevertResult {
  /** Id of the git object with the content before; null for a file that was deleted. */
  backup: string | null;
  /** The command that writes it back, in the workspace. */
  restore: string | null;
}

/** How a session's worktree stands. */
export interface WorktreeStanding {
  /** Its folder. */
  path: string;
  /** The folder that the session was asked for. */
  repository: string;
  /** What is checked out; null when detached. */
  branch: string | null;
  /** The branch that it started from; null where that was a commit, or the branch is gone. */
  base: string | null;
  /** Commits that the base has not. */
  ahead: number;
  /** Commits that only the base has. */
  behind: number;
  /** Files that differ from the last commit, at most 200. */
  uncommitted: string[];
  /** Files that a merge into the base could not join. */
  conflicts: string[];
  /** Name of the remote that `push` sends to. */
  remote: string | null;
  /** Whether the remote has every commit. */
  pushed: boolean;
}

/** Without `plan` a preview, with it what was done. */
export interface WorktreeOutcome {
  /** Of a preview: what to send back to have it done. */
  plan?: string;
  /** Of a preview: sentences that say what will be done. */
  does?: string[];
  /** Of a preview: the same as commands of git. */
  commands?: string[];
  /** Of a preview: what to know before. */
  warnings?: string[];
  /** Of a preview: why it cannot be done, and what to do; null where it can. */
  refusal?: string | null;
  /** What was done, as sentences. */
  done?: string[];
  /** What git said. */
  output?: string;
  /** The commit or ref with the state before; null where there is none. */
  backup?: string | null;
}

/** The worktrees that turnwire made here. */
export interface WorktreeListing {
  /** The folder that the setting `worktrees` names. */
  place: string;
  /** By path. */
  worktrees: ListedWorktree[];
}

/** A worktree that turnwire made. */
export interface ListedWorktree {
  /** Its folder. */
  path: string;
  /** The main working tree of its repository, or the bare repository. */
  repository: string;
  /** What is checked out; null when detached. */
  branch: string | null;
  /** What would be lost by removing it, as sentences. */
  unsaved: string[];
  /** Files that git ignores, and folders among them that a build makes again: at most 200. */
  ignored: string[];
  /** What becomes of these when it is removed, as sentences. */
  keeps: string[];
  /** Ids of the sessions that use it. */
  sessions: string[];
  /** Whether no session uses it and nothing would be lost. */
  removable: boolean;
}

/** A worktree was removed. */
export interface RemovedWorktree {
  /** Its folder. */
  path: string;
  /** Its branch, which stays. */
  branch: string | null;
  /** The folder that has copies of the files that git ignores; null where there were none. */
  backup: string | null;
  /** What could not be deleted, as a sentence; null where all was. */
  left: string | null;
}

/** The ports of a session's sandbox. */
export interface SandboxPortList {
  /** By number. */
  ports: SandboxPort[];
}

/** A port that a server in a sandbox listens on. */
export interface SandboxPort {
  /** Which. */
  port: number;
  /** Whether browsers may reach it. */
  open: boolean;
}

/** A link to a port of a sandbox. */
export interface OpenedPort {
  /** For a browser on the hub's machine. */
  url: string;
  /** Where turnwire serves it. */
  port: number;
  /** Path and query of the link, which is good once. */
  path: string;
}

/** A shell that was opened. */
export interface OpenedShell {
  /** Its name on this connection. */
  shell: string;
}

/** A page of conversations, the newest first. */
export interface ConversationList {
  /** The conversations. */
  conversations: ListedConversation[];
  /** Goes into `before` for the next page; null of the last page. */
  next: string | null;
  /** False during the first look at the folders, or where a worker did not answer in time. */
  complete: boolean;
  /** Another one with each other list. Not of a fleet. */
  version?: string;
  /** Of a fleet: workers that did not answer in time. */
  missing?: string[];
}

/** A conversation that an agent has kept. */
export interface ListedConversation {
  /** Its id. */
  id: string;
  /** The agent that kept it. */
  agent: string;
  /** Where it was held. */
  folder: string | null;
  /** What to call it. */
  title: string;
  /** Whether a human or its agent gave it that title. */
  named: boolean;
  /** Its first prompt, shortened. */
  first_prompt: string | null;
  /** RFC 3339. */
  began: string | null;
  /** RFC 3339. */
  ended: string | null;
  /** How many. */
  turns: number | null;
  /** Dollars, as far as they are known or can be estimated. */
  cost_usd: number | null;
  /** The part of the cost that is an estimate by the prices of models. */
  estimated_usd: number;
  /** False: it cost that much, or more. */
  cost_is_whole: boolean;
  /** The branch it was held on. */
  git_branch: string | null;
  /** The main model. */
  model: string | null;
  /** The agent's version. */
  version: string | null;
  /** Size of its file. */
  bytes: number;
  /** How many branches its file has. */
  branches: number;
  /** Somebody's CLI has it open. */
  running: boolean;
  /** turnwire's own session with it. */
  session: string | null;
  /** Goes into `before` for what follows it. */
  cursor: string;
  /** Of a fleet: the worker that has it. */
  worker?: string;
}

/** What a search has found. */
export interface SearchHits {
  /** The best first. */
  hits: SearchHit[];
  /** False during the first look at the folders, or where a worker did not answer in time. */
  complete: boolean;
  /** Of a fleet: workers that did not answer in time. */
  missing?: string[];
}

/** Where a text was found. */
export interface SearchHit {
  /** In a kept conversation, or in a session of turnwire's own. */
  source: "library" | "live";
  /** The conversation's id, or the session's. */
  id: string;
  /** The message it is in. */
  message: string | null;
  /** Its number in the log of a live session. */
  seq: number | null;
  /** What it is: title, prompt, text, command, path. */
  kind: string;
  /** What the conversation is called. */
  title: string | null;
  /** Where it was held. */
  folder: string | null;
  /** RFC 3339. */
  at: string | null;
  /** The text around it. */
  snippet: SnippetPart[];
  /** Of a fleet: the worker that has it. */
  worker?: string;
}

/** A part of a text in which something was found. */
export interface SnippetPart {
  /** The text. */
  text: string;
  /** Whether it is what was searched. */
  hit: boolean;
}

/** A conversation as a document. */
export interface ExportedDocument {
  /** A file name for it. */
  name: string;
  /** The document. */
  content: string;
}

/** What was used. */
export interface Usage {
  /** By group. */
  usage: UsageSum[];
  /** False during the first look at the folders, or where a worker did not answer in time. */
  complete: boolean;
  /** Of a fleet: workers that did not answer in time. */
  missing?: string[];
}

/** What was used, of one group. */
export interface UsageSum {
  /** What it was summed up by, such as `day`, with its value. */
  group: Record<string, string | null>;
  /** Answers of models. */
  answers: number;
  /** Tokens read. */
  input_tokens: number;
  /** Tokens written. */
  output_tokens: number;
  /** Tokens read from the cache. */
  cache_read_input_tokens: number;
  /** Tokens written to the cache. */
  cache_creation_input_tokens: number;
  /** Dollars, as far as they are known or can be estimated. */
  cost_usd: number | null;
  /** The part of the cost that is an estimate by the prices of models. */
  estimated_usd: number;
  /** False: it cost that much, or more. */
  cost_is_whole: boolean;
}

/** What a browser subscribes with. */
export interface PushPublicKey {
  /** Its `applicationServerKey`. */
  key: string;
}

/** A code that logs one more browser in. */
export interface Invitation {
  /** Good once, in the place of a token. */
  code: string;
  /** How long it is good. */
  seconds: number;
}

/** The workers of a fleet. */
export interface FleetListing {
  /** Address without a password. */
  redis: string;
  /** The life of the logs; empty before the first one. */
  epoch: string;
  /** How long Redis took to answer, in seconds. */
  round_trip_s: number;
  /** All that were ever there, by name, unless `turnwire fleet forget` has removed them. */
  workers: FleetWorker[];
}

/** A worker of the fleet. */
export interface FleetWorker {
  /** Its name. */
  worker: string;
  /** `serving`, `cordoned`, `draining`; `gone` where it has no lease; `unknown` where this release cannot read what it says. */
  state: string;
  /** What an operator wants of it: `cordon`, `drain`, or empty. */
  wish: string;
  /** What its machine calls itself. */
  host: string;
  /** turnwire's. */
  version: string;
  /** Whose workers see the same files. */
  group: string | null;
  /** By what frontends may choose it. */
  labels: string[];
  /** Id of the directory with the events of its quiet sessions; empty where it moves none. */
  archive: string;
  /** Seconds that its lease is good unless it is renewed. */
  lease_left_s: number;
  /** How many sessions are its own, also of one that is gone. */
  sessions: number;
  /** How many it may have. */
  max_sessions: number;
  /** How many agents run. */
  processes: number;
  /** Commands that it has not answered yet. */
  orders: number;
}

/** The `result` of each command's reply, by the command's `type`. */
export interface CommandResults {
  hello: HelloResult;
  ping: null;
  subscribe: SubscribeResult;
  unsubscribe: UnsubscribeResult;
  "session.create": SessionResult;
  "session.list": SessionSummary[];
  "session.resume": SessionResult;
  "session.fork": SessionResult;
  "session.retry": PromptResult;
  "session.rename": null;
  "session.close": null;
  "session.move": MoveResult;
  "session.delete": null;
  "native.begin": NativeProgram;
  "native.end": null;
  "native.take_back": null;
  prompt: PromptResult;
  "prompt.withdraw": WithdrawalResult;
  interrupt: Record<string, JsonValue>;
  "permission.respond": null;
  "question.answer": null;
  set_model: null;
  set_permission_mode: null;
  control: Record<string, JsonValue>;
  "payload.get": WholePayload;
  "events.get": EventsPage;
  "workspace.diff": WorkspaceDifference;
  "workspace.files": WorkspaceNames;
  "workspace.list": WorkspaceFolder;
  "workspace.read": WorkspaceContent;
  "workspace.folders": WorkspaceFolderList;
  "workspace.revert": RevertResult;
  "worktree.status": WorktreeStanding;
  "worktree.act": WorktreeOutcome;
  "worktree.list": WorktreeListing;
  "worktree.remove": RemovedWorktree;
  "port.list": SandboxPortList;
  "port.open": OpenedPort;
  "port.close": null;
  "shell.open": OpenedShell;
  "shell.write": null;
  "shell.resize": null;
  "shell.ack": null;
  "shell.close": null;
  "library.list": ConversationList;
  "library.search": SearchHits;
  "library.open": SessionResult;
  "library.rename": null;
  "library.export": ExportedDocument;
  "library.usage": Usage;
  "push.key": PushPublicKey;
  "push.subscribe": null;
  "push.unsubscribe": UnsubscribeResult;
  "access.invite": Invitation;
  "fleet.list": FleetListing;
  "fleet.lead": null;
  "fleet.take": null;
  "replay.control": SessionResult;
}

/** Any event of a session; `type` tells which. */
export type AgentEvent = TurnStarted | UserMessage | MessageChunk | Reasoning | ToolCall | ToolUpdate | Complete | Error | Retraction | Queued | Injected | Withdrawn | PermissionRequest | PermissionResolved | PermissionCancelled | QuestionRequest | SandboxDenied | SessionMode | AgentPlan | HookActivity | SessionStatus | AvailableCommands | SessionInfo | SessionOptions | ContextWindow | RateLimit | TaskUpdate | CompactBoundary | Cut | History | ApiRetry | Consolidation | ProcessStatus | Notice | TraceContext | Unknown | Malformed;

/** What a tool call does and what came of it; `kind` tells which field is populated. */
export type NormalizedPayload = ReadFilePayload | ModifyFilePayload | ShellExecPayload | CodeSearchPayload | HttpRequestPayload | SubagentTaskPayload | CreateTaskPayload | ManageTodosPayload | ShowPlanPayload | AskUserPayload | McpToolPayload | GenericPayload | MiscPayload;
