/** What the store holds: one type per kind of record. The calls that read and write them are in `store.ts`. */
import type {
  EvalDefinition,
  HeardReplies,
  LiveSettings,
  OutcomeEvidence,
  Persona,
  Scenario,
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

/** An API key of an owner, without the key. */
export interface StoredKey {
  /** Names the key to callers. Random: it reveals nothing about the key. */
  id: string;
  label: string | undefined;
  /** Undefined if the key is from the configuration, or from an older release. */
  createdAtMs: number | undefined;
  /** Whether it is from the configuration of the service. */
  isConfigured: boolean;
}

/** What is stored with an added key. */
export type NewKey = Partial<Pick<StoredKey, 'label' | 'createdAtMs'>>;

/** Something that ingest noticed, and how to fix it. */
export interface IngestLogEntry {
  level: 'info' | 'warn' | 'error';
  /** Stable, for example `no_conversation_id`. */
  code: string;
  message: string;
  /** Conversation, trace and span ids, attribute names, counts, and the exporter. Never conversation text. */
  about: Readonly<Record<string, string | number>>;
}

/** What solves a problem of the ingest log, if it is not any later trace: traces with text, or nothing. */
export type ProblemSolution = 'text' | 'nothing';

/** A message of the ingest log. */
export interface LogMessage extends Pick<IngestLogEntry, 'level' | 'message'> {
  solvedBy?: ProblemSolution;
}

/** A conversation built from live traces (spec 3.1). */
export interface Conversation {
  conversationId: string;
  state: 'open' | 'closed';
  /** Start of its first span, in nanoseconds since the Unix epoch. */
  firstStartNs: bigint;
  /** End of its last span. */
  lastEndNs: bigint;
  /** Server time when its most recent span was received. */
  lastReceivedAtMs: number;
  spanCount: number;
  closedAtMs: number | undefined;
  /** Name of the daily run that it joined when it was closed. */
  run: string | undefined;
  /** The session that scores it; undefined while it is unscored. */
  sessionId: string | undefined;
  /** When its spans were removed because of their age, and how many days after the first one. */
  spansRemoved: { atMs: number; afterDays: number } | undefined;
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
   * between `listIdle` and `close`.
   */
  idleBeforeMs?: number;
}

/** The result of closing a conversation. */
export interface CloseResult {
  run: string;
  evaluationsQueued: number;
  alreadyClosed: boolean;
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

/** What a person thinks of an outcome. An extension of ours. */
export interface Review {
  evalId: string;
  mark: 'right' | 'wrong';
  /** Why; empty if the person did not say. */
  note: string;
  atMs: number;
}

/** A review of an outcome of an eval, with the outcome and its session. */
export interface ReviewedOutcome extends Review {
  session: Session;
  outcome: 'pass' | 'fail';
  /** See `versionOf`; undefined if the outcome was uploaded. */
  evalVersion: string | undefined;
}

/** How many outcomes of an eval were marked right and wrong, by the outcome. */
export type ReviewCounts = Record<'pass' | 'fail', Record<Review['mark'], number>>;

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
  agent: { name: string; url: string } | undefined;
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

/** A conversation without a session, in a list. */
export interface WaitingConversation {
  conversationId: string;
  spans: number;
  lastReceivedAtMs: number;
  closedAtMs: number | undefined;
  /** The first tags. */
  tags: { key: string; value: string }[];
}

/** The levels of a call, and when the user spoke. Times count from the start of the recording. */
export interface CallSummary {
  durationMs: number;
  /** The time that each level covers. */
  levelMs: number;
  /** Peaks of both sides, from 0 to 100. */
  user: readonly number[];
  agent: readonly number[];
  /** The spoken lines of the user. */
  lines: readonly { turn: number; startMs: number; endMs: number }[];
}

/** A recording to add. */
export interface NewRecording {
  /** An Ogg file; undefined if the audio can't be played. */
  audio: Buffer | undefined;
  summary: CallSummary;
}

/** A recording without its audio. */
export interface Recording {
  summary: CallSummary;
  hasAudio: boolean;
}

/** The newest outcomes of an eval. */
export interface RecentOutcomes {
  outcomes: number;
  passed: number;
  /** Whether other versions of the eval have outcomes, too. */
  hasOtherVersions: boolean;
}

/** A part of a list. */
export type Page = Pick<SessionFilter, 'skip' | 'limit'>;

/** Counts of the data of an owner. */
export interface OwnerCounts {
  openConversations: number;
  /** Closed conversations that no session scores, because no evals were chosen. */
  unscoredConversations: number;
  /** Sessions that wait for evals. */
  evaluatingSessions: number;
  production: SessionCounts;
  simulation: SessionCounts;
}

/** Sessions of one kind, and those with a failed eval. */
export interface SessionCounts {
  total: number;
  failed: number;
}

/** A production run or a simulation. */
export interface RunRef {
  ownerId: string;
  kind: SessionKind;
  /** The id in deep links. */
  id: string;
}

/** Which runs to list. A run matches a time if one of its sessions started then. */
export interface RunFilter extends Page {
  ownerId: string;
  kind: SessionKind;
  /** Part of the name, in any case. */
  name?: string;
  startedAfterMs?: number;
  startedBeforeMs?: number;
  /** How many of the listed simulations get the counts of their scenarios (default: 0). */
  judgedMax?: number;
}

/** The sessions of a production run or a simulation. */
export interface RunSummary {
  id: string;
  name: string;
  /** Undefined for a production run, and for a simulation that was seeded. */
  state: SimulationPlan['state'] | undefined;
  /** The name of the tested agent, and the channel, such as `voice`: only in lists of simulations. */
  agent?: string;
  channel?: string;
  /** Production: sessions with results, as in the results endpoint (spec 4.4). */
  sessions: number;
  /** Sessions with a failed eval. */
  failedSessions: number;
  /** Sessions with an eval that errored; it counts neither as passed nor as failed. */
  erroredSessions: number;
  /** Sessions that are neither completed nor being scored. */
  incompleteSessions: number;
  scoringSessions: number;
  /** Outcomes that pass or fail. */
  evaluations: number;
  passedEvaluations: number;
  /** Start of the oldest session. */
  oldestStartMs?: number;
  newestStartMs?: number;
  /** End of the session that ended last. */
  newestEndMs?: number;
  /** Only of some simulations (see `RunFilter`). */
  scenarios?: readonly ScenarioCounts[];
}

/** The runs next to a run in their list. */
export interface RunNeighbors {
  older?: Pick<RunSummary, 'id' | 'name'> | undefined;
  newer?: Pick<RunSummary, 'id' | 'name'> | undefined;
}

/** A simulation with an agent. */
export interface SimulationOfAgent extends RunSummary {
  /** The URL that was tested. */
  agentUrl: string;
  scenarios: readonly ScenarioCounts[];
}

/** The outcomes of an eval in a run. */
export interface EvalCounts {
  /** The name if the outcomes were seeded without an id. Evals of simulations may share an id. */
  id: string;
  /** The newest name. */
  name: string;
  /** Outcomes of an edited eval count for the version that scored them; empty if they were uploaded. */
  version: string;
  passed: number;
  failed: number;
  errored: number;
}

/** The stored sessions of a scenario in a simulation, by verdict. */
export type ScenarioCounts = { scenarioId: string } & Record<Verdict, number>;

/** What the pages show about one run. */
export interface RunDetails {
  run: RunSummary;
  /** By name. */
  evals: EvalCounts[];
  /** Empty for a production run. */
  scenarios: readonly ScenarioCounts[];
}

/** What may explain a difference between two runs, from the newest sessions of a run. */
export interface RunTraits {
  /** How many sessions were read. */
  sessions: number;
  agents: { name: string; url: string }[];
  /** Models that the spans name, sorted. */
  models: string[];
  /** Tags and metadata: the distinct values of each key, sorted. */
  tags: { key: string; values: string[] }[];
  /** The evals that scored the sessions, as defined then. */
  evals: EvalDefinition[];
}

/** One eval that has to score one session. */
export interface Job {
  id: number;
  ownerId: string;
  sessionId: string;
  /** The eval as defined when the job was queued. */
  definition: EvalDefinition;
  /** 1 for the first attempt. */
  attempt: number;
}

/** A job with its outcome. */
export interface FinishedJob {
  job: Job;
  outcome: Outcome;
}

/** The request that started a simulation, with everything it refers to copied into it. */
export interface StoredSimulationRequest {
  agent: { name: string; url: string; voice_url?: string };
  /** Overrides the channel of the scenarios. */
  channel?: 'chat' | 'voice';
  /** Sessions for each scenario; without it, each scenario decides. */
  samples?: number;
  /** Sessions that run concurrently. */
  concurrency: number;
  scenarios: { scenario: Scenario; persona: Persona; evals: EvalDefinition[] }[];
}

/** A simulation. */
export interface SimulationPlan extends StoredSimulationRequest {
  id: string;
  ownerId: string;
  name: string;
  deleted: boolean;
  seed: string;
  /** How many earlier simulations of the owner used the same random seed. */
  repeat: number;
  /** `running` until every session has ended. */
  state: 'running' | 'ended' | 'canceled';
  startedAtMs: number;
}

/** A simulation to insert. */
export interface NewSimulation extends StoredSimulationRequest {
  ownerId: string;
  name: string;
  seed: string;
  startedAtMs: number;
  /** The API key of the agent's sandbox. */
  secret: string | undefined;
  /** Returns the simulation id, given how many earlier simulations used the same random seed. */
  makeId: (repeat: number) => string;
}

/** An agent that simulations test. Its API key is stored separately, so no list can expose it. */
export interface StoredAgent {
  id: string;
  name: string;
  /** Base URL of its sandbox. */
  url: string;
  /** URL of its voice WebSocket; `/voice` below `url` if absent. */
  voice_url?: string;
  has_api_key: boolean;
}

/** The documents that simulations refer to, by kind. */
export interface Documents {
  agent: StoredAgent;
  persona: Persona;
  scenario: Scenario;
}

export type DocumentKind = keyof Documents;

/** A document to insert. */
export type NewDocument =
  | { kind: 'agent'; document: StoredAgent; secret: string | undefined }
  | { kind: 'persona'; document: Persona }
  | { kind: 'scenario'; document: Scenario };

/** What a report about an agent describes. */
export type AgentReportKind = 'connection' | 'check' | 'load';

/** What lists show of a report about an agent. */
export interface AgentReportSummary {
  standing: 'pass' | 'fail' | 'warn';
  /** The verdict in a few words. */
  verdict: string;
  /** Counts or the reason, in a sentence or a list. */
  detail: string;
  /** What was tested, usually a URL. */
  target: string;
  /** ISO 8601 time when the run ended. */
  endedAt: string;
  /** The version of the kit that wrote it. */
  kitVersion: string;
  /** The targets that a load test measured. */
  targets?: readonly MeasuredTarget[];
  /** Whether the run judged nothing; an earlier report that judged something then counts. */
  judgesNothing?: boolean;
  /** Whether the sandbox could not be reached, or did not let the run in. */
  isBlocked?: boolean;
  /** Whether a connection check opened the voice WebSocket; undefined if it did not try. */
  hasVoice?: boolean;
}

/** A target of a load test with its measurement. */
export interface MeasuredTarget {
  statement: string;
  measured: number;
  verdict: string;
}

/** A report about an agent, without its content. */
export interface AgentReport {
  id: number;
  agentId: string;
  kind: AgentReportKind;
  /** When it was attached. */
  atMs: number;
  summary: AgentReportSummary;
}

/** The report of a kind that counts. */
export interface CountingReport extends AgentReport {
  /** A run of its kind that ended later, and judged nothing. */
  attempt?: AgentReport;
}

/** A report about an agent to insert. */
export type NewAgentReport = Omit<AgentReport, 'id'> & { report: object };

/** An agent with the URL that its reports are to be about. */
export interface ReportedAgent {
  id: string;
  url: string;
}

/** Which reports of an agent are kept. */
export interface ReportLimits {
  agent: ReportedAgent;
  keep: number;
}

/** Seed data of one owner. */
export interface SeedData {
  ownerId: string;
  /** Whether to delete all existing data of the owner, except its keys, first. */
  replaceAll: boolean;
  /**
   * Keys and the owners they belong to; without an owner name, the key is for `ownerId`. An entry
   * without a key only creates the owner.
   */
  keys: readonly (NewKey & {
    keyDigest: string | undefined;
    ownerName: string | undefined;
  })[];
  evals: readonly EvalDefinition[];
  /** Settings to change; the others keep their values. */
  settings: LiveSettings;
  documents: readonly NewDocument[];
  /** A session that exists with the same digest is left as it is, with its outcomes. */
  sessions: readonly NewSession[];
  /** When their evals are due. */
  dueAtMs: number;
  /** Ids of simulations to mark as deleted; their sessions stay. */
  deletedSimulations: readonly string[];
  onProgress?: OnSeedProgress | undefined;
}

/** Called now and then with the number of sessions done and their total. */
export type OnSeedProgress = (done: number, total: number) => void;
