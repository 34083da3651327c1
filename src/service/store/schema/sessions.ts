import type { Outcome, SessionKind, SessionStatus, Verdict } from '../records.ts';
import {
  bytes,
  databaseTime,
  integer,
  keyOf,
  long,
  nullable,
  oneOf,
  owner,
  real,
  rowKey,
  sortedText,
  table,
  text,
  textOf,
  withDefault,
} from './table.ts';

const sessionKinds: readonly SessionKind[] = ['simulation', 'production'];
const outcomes: readonly Outcome['outcome'][] = ['pass', 'fail', 'error'];

/** What the sessions of a row of `session_counts` have in common. */
const sessionGroup = [
  'owner_id',
  'kind',
  'run_key',
  'simulation_key',
  'agent_key',
  'eval_set_key',
  'day',
] as const;

/** The tables of sessions, of what they belong to, and of their results. */
export const sessionTables = {
  /** A group of production sessions; its key is the evaluation id of deep links. */
  runs: table(
    { key: rowKey, owner_id: sortedText, name: sortedText, name_folded: sortedText },
    { primaryKey: ['key'], unique: [['owner_id', 'name']] },
  ),

  agents: table(
    {
      key: rowKey,
      owner_id: sortedText,
      name: sortedText,
      url: sortedText,
      name_folded: sortedText,
      url_folded: sortedText,
      /** Id of the agent in `documents`; empty if the agent was not stored. */
      agent_id: sortedText,
    },
    {
      primaryKey: ['key'],
      unique: [['owner_id', 'name', 'url', 'agent_id']],
      indexes: { agents_stored: { on: ['owner_id', 'agent_id', 'url'] } },
    },
  ),

  simulations: table(
    {
      key: rowKey,
      owner_id: sortedText,
      id: sortedText,
      name: sortedText,
      name_folded: sortedText,
      /** 1: deleted; its sessions are kept. */
      deleted: integer,
    },
    { primaryKey: ['key'], unique: [['owner_id', 'id']] },
  ),

  /** The request of a simulation; its finished sessions are rows of `sessions`. */
  simulation_plans: table(
    {
      simulation_key: keyOf('simulations'),
      owner_id: sortedText,
      seed: text,
      /** JSON: agent, samples, concurrency, and copies of the scenarios with their personas and evals. */
      request: text,
      /** API key of the agent's sandbox in plain text, because it has to be sent; null after the end. */
      secret: nullable(text),
      state: withDefault(oneOf(['running', 'ended', 'canceled']), 'running'),
      started_at_ms: long,
      /** Id of the tested agent in `documents`; null if it is not stored. */
      agent_id: nullable(sortedText),
      /** What the page sent that started it, the same with every click; null if no page did. */
      request_id: nullable(sortedText),
    },
    {
      primaryKey: ['simulation_key'],
      indexes: {
        simulation_plans_running: { on: ['simulation_key'], where: "state = 'running'" },
        simulation_plans_requested: {
          on: ['owner_id', 'request_id'],
          where: 'request_id is not null',
        },
      },
    },
  ),

  /** The process that runs a simulation. */
  simulation_leases: table(
    {
      simulation_key: keyOf('simulations'),
      token: sortedText,
      ends_at: databaseTime,
      /** JSON: its running sessions. */
      running: text,
    },
    { primaryKey: ['simulation_key'], only: 'postgres' },
  ),

  /** All distinct evals of outcomes, once for each name and version they had, so that a search reads few rows. */
  eval_names: table(
    {
      key: rowKey,
      owner_id: sortedText,
      /** The name if the outcome was seeded without an id. */
      eval_id: sortedText,
      name: sortedText,
      name_folded: sortedText,
      /** See `versionOf`; empty if the outcome was uploaded. */
      version: sortedText,
    },
    { primaryKey: ['key'], unique: [['owner_id', 'eval_id', 'name', 'version']] },
  ),

  /**
   * The evals that passed or failed a session, once for each combination: sessions with the same evals
   * are counted together, for any filter by eval.
   */
  eval_sets: table(
    {
      key: rowKey,
      owner_id: sortedText,
      /** SHA-256 of the keys of its members, in lower-case hexadecimal. */
      digest: sortedText,
    },
    { primaryKey: ['key'], unique: [['owner_id', 'digest']] },
  ),

  eval_set_members: table(
    { eval_set_key: keyOf('eval_sets'), eval_name_key: long },
    {
      primaryKey: ['eval_set_key', 'eval_name_key'],
      isClustered: true,
      indexes: { eval_sets_of_name: { on: ['eval_name_key', 'eval_set_key'] } },
    },
  ),

  sessions: table(
    {
      key: rowKey,
      owner_id: owner,
      id: sortedText,
      kind: oneOf(sessionKinds),
      status: textOf<SessionStatus>(),
      started_at_ms: long,
      ended_at_ms: long,
      run_key: nullable(long),
      /** The client's own conversation id. */
      source_session_id: nullable(sortedText),
      simulation_key: nullable(long),
      agent_key: nullable(long),
      scenario: nullable(text),
      /** Simulation only: id of the scenario (its name if the session was seeded). */
      scenario_id: nullable(sortedText),
      /** Number within the scenario. */
      sample: withDefault(long, 1),
      persona: nullable(text),
      end_reason: nullable(text),
      /** Numbers of outcomes that pass or fail, that pass, that fail, and that errored. */
      total: withDefault(integer, 0),
      passed: withDefault(integer, 0),
      failed: withDefault(integer, 0),
      errored: withDefault(integer, 0),
      verdict: withDefault(textOf<Verdict>(sortedText), 'undecided'),
      /**
       * The set of evals that passed or failed it; 0 for the empty set. Null while it is not in
       * `session_counts`: while its evals finish one after the other, which would count it with many
       * sets, and until a session of an earlier version is counted.
       */
      eval_set_key: nullable(long),
      /** SHA-256 of the seed data of the session, in lower-case hexadecimal; null if it was not seeded. */
      seed_digest: nullable(text),
      /** JSON object or null: metadata that was uploaded with the session. */
      metadata: nullable(text),
      /** JSON object or null: details of a simulated session. */
      simulated: nullable(text),
    },
    {
      primaryKey: ['key'],
      unique: [['owner_id', 'id']],
      // SQLite reads the row to check a condition whose column is not in the index.
      indexes: {
        sessions_newest: {
          on: ['owner_id', 'kind', 'started_at_ms desc', 'id'],
          include: ['key'],
        },
        sessions_scored: {
          on: ['owner_id', 'kind', 'started_at_ms desc', 'id'],
          include: ['key', 'eval_set_key'],
          where: 'total > 0',
          sqlite: { include: ['total', 'eval_set_key'] },
        },
        sessions_failed: {
          on: ['owner_id', 'kind', 'started_at_ms desc', 'id'],
          include: ['key', 'eval_set_key'],
          where: 'failed > 0',
          sqlite: { include: ['failed', 'eval_set_key'] },
        },
        sessions_errored: {
          on: ['owner_id', 'kind', 'started_at_ms desc', 'id'],
          include: ['key'],
          where: 'errored > 0',
        },
        sessions_unfinished: {
          on: ['owner_id', 'kind', 'started_at_ms desc', 'id'],
          include: ['key'],
          where: "status <> 'completed'",
        },
        sessions_uncounted: {
          on: ['owner_id', 'kind', 'started_at_ms desc', 'id'],
          where: 'eval_set_key is null',
        },
        // The indexes of runs and simulations have all columns that a page counts.
        sessions_of_run: {
          on: ['run_key', 'started_at_ms desc', 'id'],
          include: [
            'key',
            'kind',
            'status',
            'total',
            'passed',
            'failed',
            'errored',
            'ended_at_ms',
            'eval_set_key',
          ],
          where: 'run_key is not null',
        },
        sessions_of_simulation: {
          on: ['simulation_key', 'scenario_id', 'verdict', 'sample', 'id'],
          include: [
            'status',
            'total',
            'passed',
            'failed',
            'errored',
            'started_at_ms',
            'ended_at_ms',
          ],
          where: 'simulation_key is not null',
        },
        sessions_newest_of_simulation: {
          on: ['simulation_key', 'started_at_ms desc'],
          where: 'simulation_key is not null',
        },
        sessions_of_agent: {
          on: ['agent_key', 'started_at_ms desc', 'id'],
          postgres: { include: ['key', 'kind'], where: 'agent_key is not null' },
        },
        sessions_of_agent_simulation: {
          on: ['agent_key', 'simulation_key', 'started_at_ms'],
          where: 'simulation_key is not null',
        },
      },
    },
  ),

  /**
   * How many sessions there are of each kind, run, simulation, agent, set of evals, and day of their
   * start, so that lists need not count their matches. Triggers keep it, in the transaction that changes
   * a session. Keys are 0 where a session has none.
   */
  session_counts: table(
    {
      key: rowKey,
      owner_id: sortedText,
      kind: textOf<SessionKind>(sortedText),
      run_key: long,
      simulation_key: long,
      agent_key: long,
      eval_set_key: long,
      /** Days since the Unix epoch, rounded towards it. */
      day: integer,
      sessions: integer,
      /** Sessions with an outcome that passed or failed, with a failed one, and with one that errored. */
      scored: integer,
      failed: integer,
      errored: integer,
      /** Sessions that are not completed, and those of them whose evals are not finished. */
      unfinished: integer,
      evaluating: integer,
      /** Outcomes that passed or failed, and those that passed. */
      evaluations: integer,
      passed_evaluations: integer,
    },
    {
      primaryKey: ['key'],
      isDerived: true,
      // PostgreSQL can have several rows of the same sessions, so that transactions never wait.
      sqlite: { unique: [sessionGroup] },
      indexes: { session_counts_of: { on: sessionGroup, only: 'postgres' } },
    },
  ),

  /** The lines of the user and the agent as `foldCase` returns them, cut if they are long. */
  session_texts: table(
    { session_key: keyOf('sessions'), text: sortedText },
    { primaryKey: ['session_key'] },
  ),

  /** What the spans of a live conversation say about its session, which outlives them. */
  traced_sessions: table(
    {
      session_key: keyOf('sessions'),
      /** `gen_ai.agent.name`, and the tag `channel`. */
      agent: nullable(text),
      channel: nullable(text),
      turns: integer,
      /** JSON array: the response times of the first turns that were measured. */
      response_ms: text,
    },
    { primaryKey: ['session_key'] },
  ),

  /** The metadata of sessions without a live conversation, as text; values with parts are left out. */
  session_tags: table(
    {
      session_key: keyOf('sessions'),
      name: sortedText,
      value: { ...sortedText, isLong: true },
    },
    { primaryKey: ['session_key', 'name', 'value'], isClustered: true },
  ),

  /** The recording of a simulated call. */
  recordings: table(
    {
      session_key: keyOf('sessions'),
      owner_id: sortedText,
      audio_bytes: long,
      /** JSON object: levels of both sides, and when the user spoke. */
      summary: text,
      /** Ogg with Opus: the user on the left, the agent on the right; null if it can't be played. */
      audio: nullable(bytes),
    },
    {
      primaryKey: ['session_key'],
      indexes: {
        recordings_of_owner: { on: ['owner_id', 'session_key', 'audio_bytes'], only: 'sqlite' },
      },
    },
  ),

  /** Uploaded with a session, or simulated; sessions of live traces have spans instead. */
  turns: table(
    {
      session_key: keyOf('sessions'),
      sequence: long,
      user_input: text,
      user_reason: nullable(text),
      agent_response: text,
      /** JSON object or null: hints from the sandbox (spec 2.8). */
      evaluation_metadata: nullable(text),
      /** JSON array of tool calls, or null. */
      tool_calls: nullable(text),
      /** From the end of the user's input to the end of the response; null if it was not measured. */
      latency_ms: nullable(real),
      /** 1: no usable response; null if unknown. */
      failed: nullable(integer),
      /** Line of the scenario for a simulated turn; null for other turns. */
      scenario_line: nullable(integer),
      /** 1: the line of a simulated user interrupts the reply of the turn before; otherwise null. */
      interrupts: nullable(integer),
    },
    { primaryKey: ['session_key', 'sequence'] },
  ),

  /** The result of each eval of a session. */
  outcomes: table(
    {
      session_key: keyOf('sessions'),
      eval_id: sortedText,
      /** Order among the outcomes of its session. */
      position: integer,
      eval_name_key: long,
      category: text,
      type: text,
      outcome: oneOf(outcomes, sortedText),
      /** 0: the outcome never makes the session fail. */
      required: integer,
      /** When it was written; null if it was uploaded with the session. */
      at_ms: nullable(long),
      /** Copies from the session, so that outcomes are counted without it. */
      run_key: nullable(long),
      simulation_key: nullable(long),
      kind: textOf<SessionKind>(),
      started_at_ms: long,
      /** 1: the session has a failed outcome. */
      session_failed: integer,
      reasoning: text,
      /** JSON array or null: the places in the transcript that decided the outcome. */
      evidence: nullable(text),
    },
    {
      primaryKey: ['session_key', 'eval_id'],
      indexes: {
        outcomes_by_name: {
          on: ['eval_name_key', 'kind', 'started_at_ms desc', 'session_key desc'],
          include: ['outcome'],
          where: "outcome <> 'error'",
        },
        outcomes_of_failed: {
          on: ['eval_name_key', 'kind', 'started_at_ms desc', 'session_key desc'],
          where: "session_failed > 0 and outcome <> 'error'",
          sqlite: { include: ['session_failed', 'outcome'] },
        },
        outcomes_of_run: {
          on: ['run_key', 'eval_name_key', 'outcome'],
          include: ['session_key', 'started_at_ms'],
          where: 'run_key is not null',
        },
        outcomes_of_simulation: {
          on: ['simulation_key', 'eval_name_key', 'outcome'],
          where: 'simulation_key is not null',
        },
      },
    },
  ),

  /** What a person thinks of an outcome that passed or failed. */
  reviews: table(
    {
      session_key: keyOf('sessions'),
      owner_id: sortedText,
      eval_id: sortedText,
      mark: oneOf(['right', 'wrong']),
      at_ms: long,
      /** Why; empty if the person did not say. */
      note: text,
    },
    {
      primaryKey: ['session_key', 'eval_id'],
      indexes: { reviews_of_eval: { on: ['owner_id', 'eval_id', 'at_ms desc'] } },
    },
  ),

  /** An eval that has to score a session. */
  jobs: table(
    {
      // Never reused, so that a stale id matches no other job.
      id: { ...rowKey, rowId: { isNeverReused: true } },
      owner_id: sortedText,
      session_key: keyOf('sessions'),
      eval_id: sortedText,
      position: integer,
      /** JSON: the eval as defined when the job was queued. */
      definition: text,
      /** Queued or taken, finally done. */
      state: withDefault(oneOf(['queued', 'taken', 'done']), 'queued'),
      /** How often it was taken; together with `worker`, the fencing token. */
      attempts: withDefault(integer, 0),
      worker: nullable(text),
      /** Queued: can be taken from then on; taken: the lease ends then. */
      due_at_ms: long,
    },
    {
      primaryKey: ['id'],
      unique: [['session_key', 'eval_id']],
      indexes: {
        jobs_due: { on: ['due_at_ms', 'id'], where: "state <> 'done'", isAcrossOwners: true },
      },
    },
  ),
};
