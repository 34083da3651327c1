import { serviceApiKeyHeader } from '../../../../src/contract/index.ts';
import { changes, json, replaces, to } from '../../../engine/mutants/combinators.ts';
import { advanceOf } from '../edits.ts';
import {
  mutantsOf,
  variantsOf,
  type ProxyResponse,
  type Mutant,
  type TransformFactory,
  type Variant,
} from '../../../engine/mutants/mutant.ts';
import { httpDate } from '../../../../src/platform/clock.ts';
import type { RequirementId } from '../../../engine/requirement.ts';

const mutant = mutantsOf('service');
const variant = variantsOf('service');
const intrusive = { intrusive: true } as const;
const anyTraces = to('traces');
const putOff = ({ status }: ProxyResponse): boolean => status === 429;
const EMPTY = json(200, {});

const MINUTE_MS = 60_000;
/** What the service behind is asked to take of it; it has a rate of its own. */
const PASSED_ON_MAX = 100;

interface Limit {
  /** Requests of a key within a fixed minute. */
  max: number;
  frees?: boolean;
  retryAfter?: string;
}

/** Has a rate of its own, in minutes that begin with the first request, or when the clock is moved. */
const limited =
  ({ max, frees = true, retryAfter = '60' }: Limit): TransformFactory =>
  () => {
    const counts = new Map<string, number>();
    let movedMs = 0;
    return async (asked, forward) => {
      movedMs += advanceOf(asked);
      if (frees && movedMs >= MINUTE_MS) {
        counts.clear();
        movedMs = 0;
      }
      if (asked.endpoint !== 'traces') return forward(asked);
      const key = asked.headers[serviceApiKeyHeader] ?? '';
      const count = (counts.get(key) ?? 0) + 1;
      counts.set(key, count);
      if (count > max) return json(429, { message: 'Wait.' }, { 'retry-after': retryAfter });
      return count > PASSED_ON_MAX ? EMPTY : forward(asked);
    };
  };

const rate = (name: string, breaks: string, kills: RequirementId, limit: Limit): Mutant =>
  mutant(name, breaks, kills, limited(limit), intrusive);

const says = (name: string, breaks: string, headers: Record<string, string>): Mutant =>
  mutant(name, breaks, 'SERVICE-027', replaces(anyTraces, { headers }, putOff), intrusive);

/** Mutants of the rate of trace requests. */
export const serviceRateMutants: readonly Mutant[] = [
  mutant(
    'no-rate',
    'Puts nobody off.',
    'SERVICE-026',
    changes(anyTraces, (answer) => (putOff(answer) ? EMPTY : answer)),
    intrusive,
  ),
  mutant(
    'rate-503',
    'Puts off with 503.',
    ['SERVICE-011', 'SERVICE-026'],
    replaces(anyTraces, { status: 503 }, putOff),
    intrusive,
  ),
  rate('half-the-rate', 'Puts off after 60 requests.', 'SERVICE-028', { max: 60 }),
  rate('rate-119', 'Puts off after 119 requests.', 'SERVICE-028', { max: 119 }),
  rate('rate-150', 'Puts off after 150 requests, each time.', 'SERVICE-026', { max: 150 }),
  rate('rate-250', 'Puts off after 250 requests.', 'SERVICE-026', { max: 250 }),
  rate('rate-never-again', 'Puts off for good.', 'SERVICE-031', { max: 120, frees: false }),
  rate('retry-after-too-soon', 'Says a second, and means a minute.', 'SERVICE-031', {
    max: 120,
    retryAfter: '1',
  }),
  says('no-retry-after', 'Does not say when to come again.', {}),
  says('retry-after-soon', 'Says "soon".', { 'retry-after': 'soon' }),
  says('retry-after-0', 'Says to come again at once.', { 'retry-after': '0' }),
  says('retry-after-epoch', 'Says the Unix time of when to come again.', {
    'retry-after': '1795167000',
  }),
  says('retry-after-over', 'Says a time that is over.', {
    'retry-after': 'Thu, 01 Jan 1970 00:00:00 GMT',
  }),
];

/** Legal variants of it. */
export const serviceRateVariants: readonly Variant[] = [
  variant(
    'rate-in-fixed-minutes',
    'Counts in minutes that do not slide.',
    limited({ max: 120 }),
    intrusive,
  ),
  variant(
    'retry-after-date',
    'Gives a date in Retry-After.',
    () => async (asked, forward, clock) => {
      const answer = await forward(asked);
      const headers = { 'retry-after': httpDate(clock.nowMs() + MINUTE_MS) };
      return anyTraces(asked) && putOff(answer) ? { ...answer, headers } : answer;
    },
    intrusive,
  ),
];
