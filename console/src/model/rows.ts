/**
 * What the conversation shows, row by row. Rows are made by `conversation.ts` and only grow and change in place, so a
 * row's identity is stable: `rev` counts its changes, and views that hold a row compare that number.
 */
import type {
  AgentPlan,
  ApiRetry,
  CompactBoundary,
  CompleteData,
  ContentPart,
  Error as ErrorEvent,
  Malformed,
  NormalizedPayload,
  PermissionCancelled,
  PermissionRequest,
  PermissionResolved,
  ProcessStatus,
  QuestionRequest,
  RateLimit,
  SandboxDenied,
  TaskUpdate,
  ToolUpdate,
  Unknown,
} from "turnwire-client";

/** What the reader did to a row, kept with it because a virtual list unmounts rows out of sight. */
export interface RowView {
  open?: boolean;
  /** Of the first of a group: the group is open. */
  grouped?: boolean;
  /** How much of a long text is shown, in characters. */
  shown?: number;
  draft?: unknown;
}

interface RowBase {
  /** Its first event's number: no other row of the conversation has it, nor has this row another one when it is folded again. */
  readonly key: number;
  rev: number;
  /** First and last event that made it. */
  readonly seq: number;
  lastSeq: number;
  readonly ts: string;
  /** The subagent's tool call it stands under. */
  readonly parent: ToolRow | undefined;
  /** The agent took it back. */
  withdrawn: boolean;
  /** The conversation went back to before it: the agent does not know it any more. */
  voided: boolean;
  readonly view: RowView;
}

export type SpanKind = "model" | "tool" | "human";

/** A stretch of a turn's time. */
export interface Span {
  readonly kind: SpanKind;
  label: string;
  /** The file that the label names. */
  readonly path: string | undefined;
  readonly start: string;
  end: string | undefined;
  /** Milliseconds of it in which a human was waited for. */
  waited: number;
  failed: boolean;
  readonly seq: number;
  readonly nested: boolean;
}

export interface Turn {
  readonly id: string;
  /** The event that began it. */
  readonly seq: number;
  readonly origin: string;
  /** Its trace's id, where the log told it. */
  readonly trace: string | undefined;
  /** Empty where it began before all that is known. */
  readonly start: string;
  end: string | undefined;
  result: CompleteData | undefined;
  error: string | undefined;
  readonly spans: Span[];
  tools: number;
  /** All of it is known; otherwise nothing is counted. */
  whole: boolean;
  /** Since when the model has had the word. */
  boundary: string;
  model: { messageId: string | undefined; span: Span } | undefined;
}

export interface TurnRow extends RowBase {
  readonly kind: "turn";
  readonly turn: Turn;
}

/** The end of a turn: what came of it. */
export interface EndRow extends RowBase {
  readonly kind: "end";
  readonly turn: Turn;
  /** Files it changed, and lines in them. */
  readonly files: number;
  readonly added: number;
  readonly removed: number;
}

export interface UserRow extends RowBase {
  readonly kind: "user";
  text: string;
  readonly parts: readonly ContentPart[];
  readonly uuid: string | undefined;
  readonly synthetic: boolean;
  /** The message before it, which the conversation can go back to; undefined where there is none, or it joined a turn. */
  readonly back: string | undefined;
}

export interface TextRow extends RowBase {
  readonly kind: "text" | "reasoning";
  text: string;
  /** More may follow. */
  live: boolean;
  redacted: boolean;
  readonly source: string | undefined;
  /** The row of an error says it. */
  told: boolean;
}

export interface ToolRow extends RowBase {
  readonly kind: "tool";
  readonly id: string;
  name: string;
  title: string;
  status: "running" | "complete" | "error" | "unknown";
  payload: NormalizedPayload | undefined;
  update: ToolUpdate | undefined;
  plan: AgentPlan | undefined;
  task: TaskUpdate | undefined;
  readonly children: Row[];
  /** Calls right after it that only look at things, or only change the to-do list, as it does: they are shown with it. */
  readonly group: ToolRow[];
  /** Something else has come after the calls it is shown with. */
  over: boolean;
  /** The call it is shown with. */
  leader: ToolRow | undefined;
  /** The message that calls it. */
  readonly message: string | undefined;
  /** It has not begun: it waits behind a call that was asked about. */
  behind: boolean;
  /** The newest request about it. */
  request: RequestRow | undefined;
  /** Who answered its permission request changed what it was called with. */
  edited: boolean;
  /** Fields cut for size. */
  truncated: Record<string, number> | undefined;
  span: Span | undefined;
}

export interface RequestRow extends RowBase {
  readonly kind: "request";
  readonly request: PermissionRequest | QuestionRequest;
  readonly tool: ToolRow | undefined;
  resolved: PermissionResolved | undefined;
  cancelled: PermissionCancelled | undefined;
  span: Span | undefined;
}

export interface PlanRow extends RowBase {
  readonly kind: "plan";
  readonly plan: AgentPlan;
}

/** One quiet fact: a hook that ran, a mode that changed. */
export interface MinorEvent {
  readonly seq: number;
  readonly label: string;
  readonly text: string;
}

/** Quiet facts that came one after another. */
export interface MinorEventsRow extends RowBase {
  readonly kind: "minorEvents";
  readonly entries: MinorEvent[];
}

export interface NoticeRow extends RowBase {
  readonly kind: "notice";
  readonly label: string;
  readonly level: "info" | "warning" | "error";
  readonly text: string;
}

export interface FactRow extends RowBase {
  readonly kind: "fact";
  event: ApiRetry | RateLimit | CompactBoundary | ProcessStatus | SandboxDenied | ErrorEvent;
  /** Of an error that tells that the process ended: how it did. */
  exit?: ProcessStatus;
  /** The retries are over: the model spoke again. */
  over: boolean;
}

export interface UnrecognisedRow extends RowBase {
  readonly kind: "unrecognised";
  readonly event: Unknown | Malformed;
}

export interface GapRow extends RowBase {
  readonly kind: "gap";
  readonly from: number;
  readonly to: number;
}

export type Row =
  | TurnRow
  | EndRow
  | UserRow
  | TextRow
  | ToolRow
  | RequestRow
  | PlanRow
  | MinorEventsRow
  | NoticeRow
  | FactRow
  | UnrecognisedRow
  | GapRow;

type Bare<Any> = Any extends Row ? Omit<Any, keyof RowBase> : never;

/** A row as its maker gives it: without what every row begins with. */
export type NewRow = Bare<Row>;

type OfKind<Any, Kind> = Any extends Row ? (Kind extends Any["kind"] ? Any : never) : never;

/** The row that such fields make. */
export type Made<Fields extends NewRow> = OfKind<Row, Fields["kind"]>;
