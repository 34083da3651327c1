/**
 * The records that several modules of the store read or write: spans, the ingest log, and sessions. The
 * others are in the module that reads and writes them. `store.ts` exports all that the service uses.
 */
import type {
  EvalDefinition,
  HeardReplies,
  OutcomeEvidence,
  TurnTaking,
  UserAdherence,
} from '../../contract/index.ts';
import type { StoredTurn } from '../turns/turn-types.ts';

/** A JSON object with any content. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** A span that ingest has read and that is ready to be stored (spec 2.1). */
export interface NewSpan {
  conversationId: string;
  /** Lower-case hexadecimal, like all span and trace ids here. */
  traceId: string;
  spanId: string;
  parentSpanId: string | undefined;
  /** `gen_ai.operation.name`. */
  operation: string;
  name: string;
  startNs: bigint;
  endNs: bigint;
  /** True for status ERROR. UNSET is not a failure: instrumentations send it on success. */
  failed: boolean;
  /** JSON text of `gen_ai.input.messages` as received, even if it is not well-formed. */
  inputMessages: string | undefined;
  outputMessages: string | undefined;
  /** All other `gen_ai.*` attributes, and evaluation hints (`turns/evaluation-hints.ts`). */
  attributes: Readonly<Record<string, unknown>>;
}

/**
 * The ids of an ignored span, which has no operation. Its parent is kept because it can be the only
 * link between a model call and its turn.
 */
export interface SpanLink {
  traceId: string;
  spanId: string;
  parentSpanId: string;
}

/** A stored span. */
export interface StoredSpan extends NewSpan {
  receivedAtMs: number;
  /** Received after its conversation was closed: shown, but not scored. */
  late: boolean;
}

/** A tag of a conversation: an attribute outside `gen_ai.*`. */
export interface Tag {
  conversationId: string;
  key: string;
  value: string;
}

/** Everything that one accepted trace request adds to the store. */
export interface TraceRequestRows {
  ownerId: string;
  /** Server time. The idle timeout of a conversation counts from it. */
  receivedAtMs: number;
  spans: readonly NewSpan[];
  tags: readonly Tag[];
  links: readonly SpanLink[];
  logEntries: readonly IngestLogEntry[];
  /** The name of its exporter, which the log entries get. */
  exporter?: string;
}

/** How many spans of a trace request were inserted. */
export interface InsertResult {
  inserted: number;
  /** Spans that were already stored or whose id is taken; they changed nothing. */
  repeated: number;
  /** How many of the inserted spans arrived after their conversation was closed. */
  late: number;
  /** Spans beyond the limits of their conversation. They are not stored. */
  rejected: number;
}

/** Something that ingest noticed, and how to fix it. */
export interface IngestLogEntry {
  level: 'info' | 'warn' | 'error';
  /** Stable, for example `no_conversation_id`. */
  code: string;
  message: string;
  /** Conversation, trace and span ids, attribute names, counts, exporter, and SDK. Never conversation text. */
  about: Readonly<Record<string, string | number>>;
}

/** What solves a problem of the ingest log, if it is not any later trace: traces with text, or nothing. */
export type ProblemSolution = 'text' | 'nothing';

/** A message of the ingest log. */
export interface LogMessage extends Pick<IngestLogEntry, 'level' | 'message'> {
  solvedBy?: ProblemSolution;
}

/** How to close a conversation. */
export interface CloseRequest {
  ownerId: string;
  conversationId: string;
  atMs: number;
  /** Returns the name of the daily run for the UTC date of the first span, e.g. `2026-11-20`. */
  runName: (date: string) => string;
  /** The evals that score it, as currently defined; deleted evals are left out. */
  evals: readonly EvalDefinition[];
  /** An unused id for the session that is created if there is something to score. */
  sessionId: string;
  /**
   * Closes the conversation only if its last span was received before this time: a span can arrive
   * between `listIdle` and `closeAll`.
   */
  idleBeforeMs?: number;
}

/** How to close several conversations of one owner. */
export interface CloseAllRequest extends Omit<CloseRequest, 'conversationId' | 'sessionId'> {
  conversations: readonly Pick<CloseRequest, 'conversationId' | 'sessionId'>[];
}

/** Whether a session comes from a simulation or from production. */
export type SessionKind = 'simulation' | 'production';

/** The status of a session (spec 2.4, 2.5). */
export type SessionStatus =
  'pending' | 'running' | 'evaluating' | 'completed' | 'failed' | 'canceled';

/** The result of a whole session. An extension of ours: the interface only counts outcomes. */
export type Verdict = 'passed' | 'failed' | 'undecided';

/** The result of one eval. Only `pass` and `fail` are sent to clients as evaluations. */
export interface Outcome {
  evalId: string;
  evalName: string;
  /** See `versionOf`; undefined if the outcome was uploaded. */
  evalVersion?: string;
  category: string;
  type: string;
  outcome: 'pass' | 'fail' | 'error';
  /** False if it never makes the session fail. */
  required: boolean;
  reasoning: string;
  /** The places in the transcript that decided it; undefined if the eval did not say. */
  evidence?: readonly OutcomeEvidence[];
}

/** The agent of a session. */
export interface SessionAgent {
  /** The id of the agent; absent if the agent is not stored. */
  id?: string;
  /** The current one of a stored agent. */
  name: string;
  /** The URL that was tested. */
  url: string;
}

/** A session with its outcomes (spec 2.4, 2.5). */
export interface Session {
  id: string;
  kind: SessionKind;
  ownerId: string;
  status: SessionStatus;
  startedAtMs: number;
  endedAtMs: number;
  /** Production only: the run, and the client's own conversation id. */
  run: { id: string; name: string } | undefined;
  sourceSessionId: string | undefined;
  /** Simulation only. A deleted simulation keeps its name but has no page. */
  simulation: { id: string; name: string; deleted: boolean } | undefined;
  agent: SessionAgent | undefined;
  scenario: string | undefined;
  persona: string | undefined;
  endReason: string | undefined;
  /** Metadata of an uploaded or seeded session; sessions of live traces have tags instead. */
  metadata?: JsonObject | undefined;
  /** Details of a simulated session. */
  simulated?: SimulatedDetails | undefined;
  outcomes: Outcome[];
}

/** What only a simulated session has, by its names on the wire. An earlier release stored fewer of them. */
export interface SimulatedDetails {
  scenario_id?: string;
  channel?: 'chat' | 'voice';
  /** Number of the session within its scenario, starting at 1. */
  sample?: number;
  /** Whether the simulated user followed its scenario. */
  review?: UserAdherence;
  notes?: readonly string[];
  /** Absent if the sandbox has no `POST /users`. */
  user_id?: string;
  /** What went wrong, without text of the conversation. */
  error?: string;
  trace_ids?: readonly string[];
  /** How the two sides of a call took turns. */
  turn_taking?: TurnTaking;
  /** The agent's speech in a call, transcribed; absent if it was not. */
  heard?: HeardReplies;
}

/** A session to insert: seeded, uploaded or simulated. */
export interface NewSession extends Omit<Session, 'run' | 'outcomes'> {
  /** Name of the run that a production session joins. */
  runName: string | undefined;
  turns: readonly StoredTurn[];
  outcomes: readonly Outcome[];
  /** Evals that still have to score it. */
  evals: readonly EvalDefinition[];
  /** Seeded sessions only: a digest of their seed data. */
  seedDigest?: string;
}

/** Which sessions to list (spec 4.3, 4.4). Names match as case-insensitive substrings. */
export interface SessionFilter {
  ownerId: string;
  kind: SessionKind;
  agent?: string;
  run?: string;
  eval?: string;
  failedOnly: boolean;
  startedAfterMs?: number;
  startedBeforeMs?: number;
  skip: number;
  limit: number;
  /**
   * The results endpoints have no filter below. `failed`: with a failed eval. If `eval` is set, too,
   * that eval failed or errored.
   */
  outcome?: 'failed' | 'errored' | 'unfinished';
  /** Tags that all match; without a value, any value of the key matches. */
  tags?: readonly { key: string; value?: string }[];
  /** Text in a line of the user or the agent, in any case. */
  text?: string;
  /**
   * The id of the run or simulation, and the id of an eval as in `eval`, with one of its versions. All match
   * exactly.
   */
  runId?: string;
  /** The id of a scenario of the simulation with `runId`. */
  scenarioId?: string;
  evalId?: string;
  evalVersion?: string;
}

/** A page of sessions. */
export interface SessionPage {
  sessions: Session[];
  /** The number of all matches. */
  total: number;
  /** Set if a search covered only this number of the newest sessions. */
  searched?: number;
}

/** The sessions next to a session in a list. */
export interface Neighbors {
  newer?: Session;
  older?: Session;
}

/** A part of a list. */
export type Page = Pick<SessionFilter, 'skip' | 'limit'>;
