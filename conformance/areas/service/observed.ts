import { valueAt } from '../../../src/contract/index.ts';
import { conversationIdOf, sessionsOf, findSession, turnsOf } from './reading.ts';
import {
  type Exchange,
  type Transcript,
  isAccepted,
  describeOutcome,
  printable,
  isRateLimited,
} from '../../engine/transcript/reading.ts';

type Endpoint = Exchange['endpoint'];

/** The silences of area A: what each is called, and by which steps it shows. */
const silences: readonly (readonly [name: string, endpoint: Endpoint, ...steps: string[]])[] = [
  ['POST /v1/traces with no spans', 'traces', 'no spans'],
  ['a trace request without a key', 'traces', 'none key'],
  ['a read without a key', 'production', 'none key'],
  ['a wrong key', 'traces', 'wrong key'],
  ['messages that are not JSON', 'traces', 'messages not JSON'],
  ['messages as structured values', 'traces', 'messages as values'],
  ['span ids in base64', 'traces', 'ids in base64'],
  ['spans after the close', 'traces', 'late again'],
  ['a trace body that is not JSON', 'traces', 'body not JSON'],
  ['an empty trace body', 'traces', 'body empty'],
  ['a trace body that is not protobuf', 'traces', 'body not protobuf'],
  ['a trace body that is not gzip', 'traces', 'body not gzip'],
  ['an unknown content encoding', 'traces', 'encoding unknown'],
  ['a body that inflates to over 10 MB', 'traces', 'inflates to over 10 MB'],
  ['an end call with a content type alone', 'end', 'content type alone'],
  ['an end call with a body', 'end', 'a body', 'a body that is not JSON'],
  ['limit=0', 'production', 'limit 0'],
  ['limit=many', 'production', 'limit not a number'],
  ['skip=-1', 'production', 'skip negative'],
  ['failed_only=perhaps', 'production', 'boolean unreadable'],
  ['started_after=yesterday', 'production', 'time unreadable'],
  ['an unknown parameter', 'production', 'parameter unknown'],
  ['results without the slash at the end', 'production', 'no slash at the end'],
];

const NO_BODY = 'nothing';

function bodyIn({ response, json }: Exchange): string {
  if ((response?.body ?? '') === '') return NO_BODY;
  return typeof valueAt(json, '/message') === 'string' ? '{message}' : 'a body of its own';
}

/** What a service does where the specification is silent, by name. */
export function observeService(transcript: Transcript): Record<string, string> {
  const { exchanges } = transcript;
  const card: Record<string, string> = {};
  for (const [name, endpoint, ...steps] of silences) {
    const seen = exchanges.filter(
      (one) =>
        one.endpoint === endpoint &&
        steps.includes(one.step) &&
        one.response &&
        !isRateLimited(one),
    );
    if (seen.length > 0) card[name] = [...new Set(seen.map(describeOutcome))].join(', ');
  }
  for (const status of [401, 403, 404, 413, 415, 429]) {
    const bodies = exchanges.filter(
      (one) => one.response?.status === status && one.endpoint !== 'admin',
    );
    if (bodies.length > 0) card[`body of ${status}`] = [...new Set(bodies.map(bodyIn))].join(', ');
  }
  return { ...card, ...oddities(transcript) };
}

function oddities(transcript: Transcript): Record<string, string> {
  const last = (endpoint: Endpoint, step: string): Exchange | undefined =>
    transcript.exchanges.findLast(
      (one) => one.endpoint === endpoint && one.step === step && isAccepted(one),
    );
  const again = last('end', 'close again');
  const capped = last('production', 'over the cap');
  const wrapped = findSession(transcript, 'wrapper');
  const late = last('production', 'after late spans');
  const reads = transcript.exchanges.filter(
    (one) => /^(production|simulations)$/.test(one.endpoint) && isAccepted(one),
  );
  return {
    ...(reads.length > 0 && {
      'success of a read': [...new Set(reads.map(describeOutcome))].join(', '),
    }),
    ...wordsIn(reads),
    ...(late && { 'turns after late spans': lateTurns(late, transcript) }),
    ...(again && { 'evaluations_queued of a repeat': wordOf(again, '/evaluations_queued') }),
    ...(capped && { 'limit echoed for 501': wordOf(capped, '/limit') }),
    ...(wrapped && { 'turns of a wrapped chat span': String(turnsOf(wrapped).length) }),
  };
}

const wordOf = ({ json }: Exchange, pointer: string): string => {
  const value = valueAt(json, pointer);
  return typeof value === 'number' ? String(value) : 'no number';
};

/** What is seen of words of which the specification gives no whole list; each, to a bound. */
function wordsIn(reads: readonly Exchange[]): Record<string, string> {
  const items = reads.flatMap(sessionsOf);
  const outcomes = items.flatMap(({ eval_outcomes: list }): unknown[] =>
    Array.isArray(list) ? list : [],
  );
  const seen = (values: unknown[]): string => {
    const words = [...new Set(values.filter((one) => typeof one === 'string'))].sort();
    const shown = words.slice(0, WORDS_MAX).map((word) => printable(word, 40) || '""');
    return [...shown, ...(words.length > WORDS_MAX ? ['...'] : [])].join(', ');
  };
  const entries: [name: string, words: string][] = [
    ['status of a session', seen(items.map(({ status }) => status))],
    ...['outcome', 'eval_type', 'eval_category'].map((key): [string, string] => [
      key,
      seen(outcomes.map((one) => valueAt(one, `/${key}`))),
    ]),
  ];
  return Object.fromEntries(entries.filter(([, words]) => words !== ''));
}

const WORDS_MAX = 8;

function lateTurns(page: Exchange, { exchanges }: Transcript): string {
  const sent = exchanges.find((one) => one.endpoint === 'traces' && one.step === 'late again');
  const id = sent && conversationIdOf(sent);
  const item = sessionsOf(page).find((one) => one['source_session_id'] === id);
  if (!item) return 'not listed';
  return turnsOf(item).length > 1 ? 'shown' : 'not shown';
}
