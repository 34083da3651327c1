import { formatValue } from '../../src/contract/index.ts';
import { isObject } from '../../src/platform/json.ts';
import { didYouMean } from '../../src/platform/suggest.ts';
import { formatCount } from '../../src/report-kit/format.ts';
import { describeProblems, labelLines, rejectPromise, type Judgment } from './judgment.ts';

/** The outcome of an eval in one session. */
interface Outcome {
  /** The id and the name of the eval, as far as the session has them. */
  names: string[];
  outcome: string;
  reasoning: string;
  session: string;
}

/**
 * Judges whether an eval passed in every session that has it, and in at least one.
 *
 * @throws {TypeError} if the value has no sessions.
 */
export function judgeEval(caller: string, value: unknown, name: string): Judgment {
  rejectPromise(caller, value);
  const outcomes = listSessions(caller, value).flatMap(listOutcomes);
  const named = outcomes.filter(({ names }) => names.includes(name));
  const title = `the eval ${formatValue(name)}`;
  if (named.length === 0) {
    const known = [...new Set(outcomes.flatMap(({ names }) => names.slice(-1)))];
    const list = known.length === 0 ? 'No eval has an outcome.' : `Evals: ${known.join(', ')}.`;
    const hint = didYouMean(name, known, list);
    return {
      pass: false,
      message: () => `Expected ${title} to pass, but no session has an outcome for it. ${hint}`,
    };
  }
  const missed = named.filter(({ outcome }) => outcome !== 'pass');
  const sessions = formatCount(named.length, 'session');
  if (missed.length === 0) {
    return {
      pass: true,
      message: () => `Expected ${title} not to pass, but it passed in ${sessions}.`,
    };
  }
  const sentence = `Expected ${title} to pass, but it did not in ${missed.length} of ${sessions}.`;
  return { pass: false, message: () => describeProblems(sentence, missed.map(describeOutcome)) };
}

function describeOutcome({ session, outcome, reasoning }: Outcome): string {
  return [session, ...labelLines([[outcome, reasoning]])].join('\n');
}

/** Returns the sessions of a report, a page, or a list; a single session is a list of one. */
function listSessions(caller: string, value: unknown): Record<string, unknown>[] {
  const list = isObject(value) ? (value['sessions'] ?? value['items'] ?? [value]) : value;
  const sessions = Array.isArray(list) ? list.filter(isObject) : [];
  if (Array.isArray(list) && list.length === 0) {
    throw new TypeError(`${caller}: There are no sessions to judge. ${explainNoSessions(value)}`);
  }
  if (sessions.length === 0 || sessions.some((session) => !hasOutcomes(session))) {
    throw new TypeError(
      `${caller} takes a report of simulate(), sessions of service.sessions() or of the results endpoints, or one of them.`,
    );
  }
  return sessions;
}

/** Returns why there may be no sessions, and how to fix it. */
function explainNoSessions(value: unknown): string {
  const cause: unknown = isObject(value) ? value['blockedBy'] : undefined;
  if (isObject(cause)) return `${textOf(cause['message'])} ${textOf(cause['cure'])}`;
  return 'If they come from service.sessions(), close the conversations and await service.drain() first. If they come from the results endpoints, check the filters of the request.';
}

const hasOutcomes = (session: Record<string, unknown>): boolean =>
  Array.isArray(session['outcomes']) || Array.isArray(session['eval_outcomes']);

function listOutcomes(session: Record<string, unknown>): Outcome[] {
  const rows = [
    ...listAt(session, 'outcomes'),
    ...listAt(session, 'eval_outcomes'),
    ...listAt(session, 'errored_evals').map((row) => ({ ...row, outcome: 'error' })),
  ];
  return rows.map((row: Record<string, unknown>) => ({
    names: [row['eval'], row['eval_name']].filter((name) => typeof name === 'string'),
    outcome: textOf(row['outcome']),
    reasoning: textOf(row['reasoning']),
    session: describeSession(session),
  }));
}

function listAt(session: Record<string, unknown>, key: string): Record<string, unknown>[] {
  const list = session[key];
  return Array.isArray(list) ? list.filter(isObject) : [];
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** Returns a name for a session: its scenario, its conversation, or its id. */
function describeSession(session: Record<string, unknown>): string {
  const { scenario, sample, source_session_id: conversation, id, url } = session;
  if (typeof scenario === 'string') {
    return typeof sample === 'number' ? `${scenario}, sample ${sample}` : scenario;
  }
  if (typeof conversation === 'string') return `Conversation ${conversation}`;
  return `Session ${textOf(id) || textOf(url)}`;
}
