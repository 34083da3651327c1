import type { Generated } from 'kysely';
import type {
  AgentReportKind,
  DocumentKind,
  IngestLogEntry,
  Outcome,
  SessionKind,
  SessionStatus,
  Verdict,
} from './records.ts';

/** Row types for kysely. The comments in `migrations/` describe the columns. Booleans are 0 and 1. */
export interface Tables {
  owners: { id: string; name: string };
  keys: KeyRow;
  conversations: ConversationRow;
  spans: SpanRow;
  /** Only in PostgreSQL. */
  span_ids: { span_id: string; conversation_key: number };
  traces: { owner_id: string; trace_id: string; conversation_key: number };
  span_links: SpanLinkRow;
  tags: { conversation_key: number; name: string; value: string };
  runs: NameRow;
  agents: NameRow & { url: string; url_folded: string };
  simulations: SimulationRow;
  simulation_plans: SimulationPlanRow;
  /** Only in PostgreSQL. */
  simulation_leases: { simulation_key: number; token: string };
  eval_names: NameRow & { eval_id: string };
  sessions: SessionRow;
  session_texts: { session_key: number; text: string };
  session_tags: { session_key: number; name: string; value: string };
  recordings: RecordingRow;
  turns: TurnRow;
  outcomes: OutcomeRow;
  jobs: JobRow;
  evals: { key: Generated<number>; owner_id: string; id: string; definition: string };
  documents: DocumentRow;
  agent_reports: AgentReportRow;
  settings: { owner_id: string; evals: string; run_name: string };
  ingest_log: IngestLogRow;
}

interface KeyRow {
  digest: string;
  owner_id: string;
  configured: number;
  id: string | null;
  label: string | null;
  created_at_ms: number | null;
}

interface NameRow {
  key: Generated<number>;
  owner_id: string;
  name: string;
  name_folded: string;
}

interface SimulationRow {
  key: Generated<number>;
  owner_id: string;
  id: string;
  name: string;
  name_folded: string;
  deleted: number;
}

interface SimulationPlanRow {
  simulation_key: number;
  owner_id: string;
  seed: string;
  request: string;
  secret: string | null;
  state: Generated<'running' | 'ended' | 'cancelled'>;
  started_at_ms: number;
}

interface ConversationRow {
  key: Generated<number>;
  owner_id: string;
  conversation_id: string;
  state: Generated<'open' | 'closed'>;
  first_start_ns: bigint;
  last_end_ns: bigint;
  last_received_at_ms: number;
  tag_count: Generated<number>;
  closed_at_ms: number | null;
  run_key: number | null;
  session_key: number | null;
  received_day: number;
  spans_removed_at_ms: number | null;
}

interface SpanRow {
  key: Generated<number>;
  conversation_key: number;
  /** Only in PostgreSQL. */
  received_day: Generated<number>;
  owner_id: string;
  span_id: string;
  trace_id: string;
  parent_span_id: string | null;
  operation: string;
  name: string;
  start_ns: bigint;
  end_ns: bigint;
  failed: number;
  late: number;
  received_at_ms: number;
  attributes: string;
  input_messages: string | null;
  output_messages: string | null;
}

interface SpanLinkRow {
  key: Generated<number>;
  owner_id: string;
  trace_id: string;
  span_id: string;
  parent_span_id: string;
}

interface SessionRow {
  key: Generated<number>;
  owner_id: string;
  id: string;
  kind: SessionKind;
  status: SessionStatus;
  started_at_ms: number;
  ended_at_ms: number;
  run_key: number | null;
  source_session_id: string | null;
  simulation_key: number | null;
  agent_key: number | null;
  scenario: string | null;
  persona: string | null;
  end_reason: string | null;
  metadata: string | null;
  seed_digest: string | null;
  simulated: string | null;
  total: Generated<number>;
  passed: Generated<number>;
  failed: Generated<number>;
  errored: Generated<number>;
  verdict: Generated<Verdict>;
  scenario_id: string | null;
  sample: Generated<number>;
}

interface RecordingRow {
  session_key: number;
  owner_id: string;
  audio_bytes: number;
  summary: string;
  audio: Buffer | null;
}

interface TurnRow {
  session_key: number;
  sequence: number;
  user_input: string;
  user_reason: string | null;
  agent_response: string;
  evaluation_metadata: string | null;
  tool_calls: string | null;
  latency_ms: number | null;
  failed: number | null;
}

interface OutcomeRow {
  session_key: number;
  eval_id: string;
  position: number;
  eval_name_key: number;
  category: string;
  type: string;
  outcome: Outcome['outcome'];
  required: number;
  reasoning: string;
  at_ms: number | null;
  evidence: string | null;
  run_key: number | null;
  simulation_key: number | null;
  kind: SessionKind;
  started_at_ms: number;
  session_failed: number;
}

interface JobRow {
  id: Generated<number>;
  owner_id: string;
  session_key: number;
  eval_id: string;
  position: number;
  definition: string;
  state: Generated<'queued' | 'taken' | 'done'>;
  attempts: Generated<number>;
  worker: string | null;
  due_at_ms: number;
}

interface DocumentRow {
  key: Generated<number>;
  owner_id: string;
  kind: DocumentKind;
  id: string;
  document: string;
  secret: string | null;
}

interface AgentReportRow {
  key: Generated<number>;
  owner_id: string;
  agent_id: string;
  kind: AgentReportKind;
  at_ms: number;
  summary: string;
  report: string;
}

interface IngestLogRow {
  owner_id: string;
  number: Generated<number>;
  at_ms: number;
  level: IngestLogEntry['level'];
  code: string;
  message: string;
  about: string;
}
