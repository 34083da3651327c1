import { brief, pageLimitMax, valueAt } from '../../../../src/contract/index.ts';
import { instantMs } from '../../../../src/platform/clock.ts';
import type { Check, Finding } from '../../../engine/checks/check.ts';
import { filtered, type Wanted } from './filter-checks.ts';
import { identity, wholeOf, wrong } from './page-checks.ts';
import {
  asked,
  chatsOf,
  sessionsOf,
  lastOf,
  seedOf,
  startMs,
  type Item,
  type Results,
} from '../reading.ts';
import { isObject } from '../../../../src/platform/json.ts';
import { type Exchange, type Transcript } from '../../../engine/transcript/reading.ts';

/** A session that the control API was asked to seed. */
export interface Seeded {
  /** Tells it from all others of the run. */
  persona: unknown;
  startMs: number;
  isDeleted: boolean;
  outcomes: unknown[];
  turns: unknown[];
}

/** The simulation sessions that were seeded. */
export function seeded(transcript: Transcript): Seeded[] {
  const simulations = listAt(seedOf(transcript, 'main'), '/simulations');
  return simulations.flatMap((simulation) =>
    listAt(simulation, '/sessions').map((session) => ({
      persona: valueAt(session, '/persona'),
      startMs: instantMs(String(valueAt(session, '/started_at'))) ?? 0,
      isDeleted: valueAt(simulation, '/deleted') === true,
      outcomes: listAt(session, '/outcomes'),
      turns: listAt(session, '/turns'),
    })),
  );
}

function listAt(value: unknown, pointer: string): unknown[] {
  const list = valueAt(value, pointer);
  return Array.isArray(list) ? list : [];
}

/** The seeded session that an item is; its times may be shown in any precision. */
export function seedOfItem(item: Item, transcript: Transcript): Seeded | undefined {
  return seeded(transcript).find(({ persona }) => persona === item['persona']);
}

/** When a session of the run started, by what was sent. */
function sentStartMs(item: Item, transcript: Transcript): number | undefined {
  const id = item['source_session_id'];
  if (id === undefined) return seedOfItem(item, transcript)?.startMs;
  if (typeof id !== 'string') return undefined;
  const [first] = chatsOf(id, transcript);
  if (first) return Number(first.startNs / 1_000_000n);
  const upload = transcript.exchanges.find(
    ({ sent, step }) => step === 'upload' && isObject(sent) && sent['session_id'] === id,
  );
  const at = valueAt(upload?.sent, '/started_at');
  return typeof at === 'string' ? instantMs(at) : undefined;
}

// Precision is not said; whole seconds are the least that can be of use.
const PRECISION_MS = 1_000;

type Bound = 'started_after' | 'started_before';

/**
 * The session started at the time that was asked for, or on the side of it that was. Only of the
 * sessions of the run it is known exactly; of others, what is shown may be cut or rounded.
 */
const startedAt =
  (name: Bound): Wanted =>
  (item, page, transcript) => {
    const limitMs = startMs({ started_at: asked(page, name) });
    const shownMs = startMs(item);
    const sentMs = sentStartMs(item, transcript);
    const isExact =
      sentMs !== undefined && (shownMs === undefined || Math.abs(shownMs - sentMs) < PRECISION_MS);
    const atMs = isExact ? sentMs : shownMs;
    if (limitMs === undefined || atMs === undefined) return 'either';
    if (!isExact && Math.abs(atMs - limitMs) <= PRECISION_MS) return 'either';
    return name === 'started_after' ? atMs >= limitMs : atMs <= limitMs;
  };

/**
 * A filter by time; a bound without a zone can't be compared, nor can times without one. The window
 * of the run is one, too: what is listed without it and lies in it must be listed with it.
 */
export function byTime(endpoint: Results, name: Bound): Check {
  const wanted = startedAt(name);
  const judged = filtered(endpoint, [name.replace('_', ' ')], wanted);
  return {
    ...judged,
    evidence(transcript) {
      const whole = wholeOf(transcript, endpoint);
      const items = whole ? sessionsOf(whole) : [];
      const probes = judged
        .evidence(transcript)
        .filter((page) => items.some((item) => wanted(item, page, transcript) !== 'either'));
      return whole && within(endpoint, name, whole, transcript).length > 0
        ? [...probes, whole]
        : probes;
    },
    judge(evidence, transcript) {
      const whole = wholeOf(transcript, endpoint);
      const found = judged.judge(
        evidence.filter((page) => page !== whole),
        transcript,
      );
      return whole && evidence.includes(whole)
        ? [...found, ...leftOut(endpoint, name, whole, transcript)]
        : found;
    },
  };
}

/** What is listed without a window, and lies in it, nearer to this bound than to the other. */
function within(endpoint: Results, name: Bound, whole: Exchange, transcript: Transcript): Item[] {
  const plain = lastOf(transcript, endpoint, 'defaults');
  const [afterMs, beforeMs] = (['started_after', 'started_before'] as const).map((bound) =>
    startMs({ started_at: asked(whole, bound) }),
  );
  if (!plain || afterMs === undefined || beforeMs === undefined) return [];
  return sessionsOf(plain).filter((item) => {
    const atMs = startMs(item);
    if (atMs === undefined) return false;
    const isNearer = atMs - afterMs < beforeMs - atMs === (name === 'started_after');
    return atMs > afterMs + PRECISION_MS && atMs < beforeMs - PRECISION_MS && isNearer;
  });
}

function leftOut(
  endpoint: Results,
  name: Bound,
  whole: Exchange,
  transcript: Transcript,
): Finding[] {
  if (sessionsOf(whole).length >= pageLimitMax) return [];
  const listed = new Set(sessionsOf(whole).map(identity));
  const lost = within(endpoint, name, whole, transcript).find(
    (item) => !listed.has(identity(item)),
  );
  if (!lost) return [];
  const expected = `the session that started at ${brief(lost['started_at'])}, as without ${name}`;
  return [wrong(whole, '/items', expected, 'not listed')];
}
