import type { ServiceProbeContext } from '../context.ts';
import { valueAt } from '../../../../src/contract/index.ts';
import { instantMs, isoTime } from '../../../../src/platform/clock.ts';
import { isObject } from '../../../../src/platform/json.ts';
import { type Exchange } from '../../../engine/transcript/reading.ts';
import { evalsOf, middleSeedMs } from '../control-probes.ts';
import { RESENT_AFTER_MS } from '../close/probes.ts';
import { conversation } from '../spans.ts';
import type { ServiceContext } from '../context.ts';

type Endpoint = 'production' | 'simulations';
type Item = Record<string, unknown>;

/** What stands for any text in patterns, and for any character: in those of SQL, and in regular ones. */
const WILDCARDS = { name: ['%', '.'], eval: ['%', '_'] } as const;

/** The filters to read an endpoint by, from what is listed there; one by an empty word is none. */
export function filtersOf(
  { service }: ServiceProbeContext,
  endpoint: Endpoint,
  { json }: Exchange,
): Record<string, Record<string, string>> {
  const items = valueAt(json, '/items');
  const list = Array.isArray(items) ? items.filter(isObject) : [];
  const [name, other] =
    endpoint === 'production' ? (['run', 'session id'] as const) : (['agent', 'scenario'] as const);
  const own = endpoint === 'production' ? `Check upload ${service.marker}` : agentOf(service);
  const [, promise] = evalsOf(service);
  const theirs = textAt(list[0], '/eval_outcomes/0/eval_name');
  const word = inner(service.hasControlApi ? own : textAt(list[0], `/${name}`));
  const evalWord = inner(service.hasControlApi ? (promise?.name ?? '') : theirs);
  const bound = boundOf(service, endpoint, list);
  return {
    [`${name} none`]: { [name]: 'no such name' },
    'eval none': { eval: 'no such eval' },
    [name]: { [name]: word.toUpperCase() },
    eval: { eval: evalWord.toUpperCase() },
    ...withWildcards(name, word, WILDCARDS.name),
    ...withWildcards('eval', evalWord, WILDCARDS.eval),
    [`${name} by ${other}`]: { [name]: otherWord(list, name, keyOf[other]) },
    'started after': { started_after: bound },
    'started before': { started_before: bound },
  };
}

const keyOf = { 'session id': 'source_session_id', scenario: 'scenario' } as const;

const agentOf = ({ marker }: ServiceContext): string => `Check Agent ${marker}`;

function textAt(item: Item | undefined, pointer: string): string {
  const value = valueAt(item, pointer);
  return typeof value === 'string' ? value : '';
}

/** A text without its ends, so that it is found by who looks for it anywhere, and by nobody else. */
const inner = (text: string): string => (text.length > 2 ? text.slice(1, -1) : text);

/** The word with a character in its middle that stands for itself alone. */
function withWildcards(
  name: string,
  word: string,
  wildcards: readonly string[],
): Record<string, Record<string, string>> {
  const middle = Math.floor(word.length / 2);
  const put = (wildcard: string): string =>
    word.length < 2 ? '' : `${word.slice(0, middle)}${wildcard}${word.slice(middle + 1)}`;
  return Object.fromEntries(
    wildcards.map((wildcard) => [`${name} with ${wildcard}`, { [name]: put(wildcard) }]),
  );
}

/** What another field of a session says, and no name; empty where there is none such. */
function otherWord(list: readonly Item[], name: string, key: string): string {
  const names = list.map((item) => textAt(item, `/${name}`).toLowerCase());
  return (
    list
      .map((item) => inner(textAt(item, `/${key}`)))
      .find((word) => word.length > 2 && !names.some((one) => one.includes(word.toLowerCase()))) ??
    ''
  );
}

/**
 * The bound of the filters by time. It is when a session of the run started, to the millisecond: what
 * a page shows of others may be cut, or rounded. Of those it is a time at which one went on.
 */
function boundOf(service: ServiceContext, endpoint: Endpoint, list: readonly Item[]): string {
  const ownMs = ownBoundMs(service, endpoint, list);
  if (ownMs !== undefined) return isoTime(ownMs);
  const middle = Math.floor(list.length / 2);
  const lasting = [...list.slice(middle), ...list.slice(0, middle).reverse()].flatMap((item) => {
    const [from, to] = ['/started_at', '/ended_at'].map((at) => instantMs(textAt(item, at)));
    return from !== undefined && to !== undefined && to - from > LASTING_MS
      ? [(from + to) / 2]
      : [];
  });
  const [insideMs] = lasting;
  return insideMs === undefined ? textAt(list[middle], '/started_at') : isoTime(insideMs);
}

/** Long enough that its middle is neither its start nor its end in whatever precision. */
const LASTING_MS = 5_000;

/** When a session of the run started; undefined where none is listed. */
function ownBoundMs(
  service: ServiceContext,
  endpoint: Endpoint,
  list: readonly Item[],
): number | undefined {
  if (endpoint === 'simulations') return service.hasControlApi ? middleSeedMs(service) : undefined;
  const { id, startMs } = conversation(service, 're-sent', { afterMs: RESENT_AFTER_MS });
  return list.some((item) => item['source_session_id'] === id) ? startMs : undefined;
}
