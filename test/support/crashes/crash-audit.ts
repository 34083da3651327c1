/** Compares what the database contains with what clients sent, and watches for forbidden changes. */
import type { Test } from 'tap';
import type { PlannedConversation } from './crash-clients.ts';
import { execute } from '../database/postgres.ts';

/**
 * Lets the database record each change that a correct service never makes: a job that is finished again
 * or taken before its lease ends, and rows that are changed or deleted although they are final.
 */
const WATCH_CHANGES = `
create table violations (problem text, about text);
create function record_violation() returns trigger language plpgsql as $$
  begin
    insert into violations values (tg_argv[0] || ': ' || tg_table_name, to_jsonb(old)::text);
    return null;
  end $$;
create trigger finished_again after update on jobs for each row
  when (old.state = 'done') execute function record_violation('a finished job was changed');
create trigger taken_early after update on jobs for each row
  when (old.state = 'taken' and new.attempts > old.attempts
    and old.due_at_ms > new.due_at_ms - 60000)
  execute function record_violation('a job was taken before its lease ended');
create trigger reopened after update on sessions for each row
  when (old.status = 'completed' and new.status <> 'completed'
    or old.run_key is distinct from new.run_key
    or old.simulation_key is distinct from new.simulation_key)
  execute function record_violation('a session was scored again or moved');
create trigger moved after update on conversations for each row
  when (old.state = 'closed' and new.state = 'open' or old.run_key <> new.run_key
    or old.session_key <> new.session_key)
  execute function record_violation('a closed conversation was changed');
`;

const FINAL_TABLES = ['outcomes', 'spans', 'turns', 'runs'];
const KEPT_TABLES = ['jobs', 'sessions', 'simulations'];

/** Starts to watch. Call it when the tables exist. */
export async function watchChanges(databaseUrl: string): Promise<void> {
  const triggers = [
    ...FINAL_TABLES.map(
      // Whether a session failed is known only after its first outcomes are stored.
      (table) => `update on ${table} for each row when
        (to_jsonb(old) - 'session_failed' is distinct from to_jsonb(new) - 'session_failed')`,
    ),
    ...[...FINAL_TABLES, ...KEPT_TABLES].map((table) => `delete on ${table} for each row`),
  ].map(
    (event, nth) =>
      `create trigger final_${nth} after ${event}
         execute function record_violation('a final row was changed or deleted')`,
  );
  await execute(databaseUrl, WATCH_CHANGES, ...triggers);
}

/** Returns the forbidden changes so far. */
export function listViolations(databaseUrl: string): Promise<Record<string, unknown>[]> {
  return execute(databaseUrl, 'select problem, about from violations limit 20');
}

/** Runs a statement on the database of a service, SQLite or PostgreSQL, and returns its rows. */
export type Query = (statement: string) => Promise<Record<string, unknown>[]>;

/** The fields of a span that a client sent and the service must store. */
interface ComparedSpan {
  conversation_id: string;
  trace_id: string;
  name: string;
  start_ns: string;
  end_ns: string;
  input: string;
  output: string;
  late: number;
}

/** Returns what is wrong with the stored spans of conversations, and the number of correct ones. */
async function compareSpans(
  query: Query,
  planned: readonly PlannedConversation[],
): Promise<{ correct: number; wrong: unknown[] }> {
  const rows = await query(
    `select span_id, conversation_id, trace_id, name, cast(start_ns as text) as start_ns,
       cast(end_ns as text) as end_ns, input_messages as input, output_messages as output, late
     from spans join conversations using (owner_id)
     where conversations.key = conversation_key
       and conversation_id in (${planned.map(({ conversationId: id }) => `'${id}'`).join()})`,
  );
  const stored = new Map<string, unknown>();
  const wrong: unknown[] = [];
  for (const { span_id: id, ...span } of rows) {
    if (stored.has(String(id))) wrong.push({ id, problem: 'is stored twice' });
    stored.set(String(id), span);
  }
  const sent = new Map(planned.flatMap(listSentSpans));
  for (const [id, span] of sent) {
    const found = stored.get(id);
    const isSame = found instanceof Object && stringifySorted(found) === stringifySorted(span);
    if (!isSame) wrong.push({ id, span, found });
  }
  for (const id of stored.keys()) if (!sent.has(id)) wrong.push({ id, problem: 'was never sent' });
  return { correct: sent.size - wrong.length, wrong };
}

interface SentSpan {
  spanId: string;
  traceId: string;
  name: string;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: { key: string; value: { stringValue?: string } }[];
}

function listSentSpans({ conversationId, traces }: PlannedConversation): [string, ComparedSpan][] {
  return traces.flatMap(({ body = '' }) => {
    const { resourceSpans } = JSON.parse(body) as {
      resourceSpans: { scopeSpans: { spans: SentSpan[] }[] }[];
    };
    const spans = resourceSpans.flatMap((each) => each.scopeSpans).flatMap((each) => each.spans);
    return spans.map((span): [string, ComparedSpan] => {
      const read = (name: string): string =>
        span.attributes.find(({ key }) => key === name)?.value.stringValue ?? '';
      return [
        span.spanId,
        {
          conversation_id: conversationId,
          trace_id: span.traceId,
          name: span.name,
          start_ns: span.startTimeUnixNano,
          end_ns: span.endTimeUnixNano,
          input: read('gen_ai.input.messages'),
          output: read('gen_ai.output.messages'),
          late: 0,
        },
      ];
    });
  });
}

const stringifySorted = (value: object): string =>
  JSON.stringify(Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1)));

/**
 * Counts the runs that have conversations or sessions, and their names. A conversation and its session
 * in two runs count twice.
 */
export async function countRuns(databaseUrl: string): Promise<Record<string, unknown> | undefined> {
  const [counts] = await execute(
    databaseUrl,
    `select count(distinct (runs.key, sessions.run_key))::int as runs,
       count(distinct lower(runs.name))::int as names
     from conversations left join runs on runs.key = conversations.run_key
     left join sessions on sessions.key = conversations.session_key`,
  );
  return counts;
}

/** The rows that belong to conversations, by the number that each should have. */
interface StoredCounts {
  sessions: number;
  jobs: number;
  finished: number;
  outcomes: number;
  /** How often jobs of a judge were taken, by the conversation. */
  judgeAttempts: ReadonlyMap<string, number>;
}

/**
 * Asserts that the database has each span and session of conversations once, and each job and outcome of
 * their evals. Returns the number of spans, and how often the judge was asked about each conversation.
 * @param prefix What the ids of all these conversations begin with, and no others.
 */
export async function assertStoredOnce(
  t: Test,
  query: Query,
  planned: readonly PlannedConversation[],
  { prefix, evalCount }: { prefix: string; evalCount: number },
): Promise<{ spans: number; judgeAttempts: StoredCounts['judgeAttempts'] }> {
  const { correct: spans, wrong } = await compareSpans(query, planned);
  t.same(wrong, [], 'every acknowledged span is stored once, unchanged');
  const { judgeAttempts, ...counts } = await countStored(query, prefix);
  const scored = planned.length * evalCount;
  t.same(
    counts,
    { sessions: planned.length, jobs: scored, finished: scored, outcomes: scored },
    'each conversation has one session, and each eval one job and one outcome',
  );
  return { spans, judgeAttempts };
}

/** Counts the rows that belong to the conversations whose ids have a prefix. */
async function countStored(query: Query, prefix: string): Promise<StoredCounts> {
  const of = `from sessions where source_session_id like '${prefix}%'`;
  const count = 'select cast(count(*) as integer)';
  const [counts] = await query(
    `select (${count} ${of}) as sessions,
       (${count} from jobs where session_key in (select key ${of})) as jobs,
       (${count} from jobs where state = 'done' and session_key in (select key ${of})) as finished,
       (${count} from outcomes where session_key in (select key ${of})) as outcomes`,
  );
  const judged = await query(
    `select source_session_id as id, cast(sum(attempts) as integer) as attempts
     from jobs join sessions on sessions.key = session_key
     where source_session_id like '${prefix}%' and definition like '%"judge"%' group by 1`,
  );
  const attempts = judged.map(({ id, attempts }): [string, number] => [
    String(id),
    Number(attempts),
  ]);
  return { ...(counts as unknown as StoredCounts), judgeAttempts: new Map(attempts) };
}
