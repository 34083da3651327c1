import type { Step } from '../../engine/probe.ts';
import type { ServiceProbeContext } from './context.ts';
import { valueAt } from '../../../src/contract/index.ts';
import { isoTime } from '../../../src/platform/clock.ts';
import { isObject } from '../../../src/platform/json.ts';
import { type Exchange, isAccepted } from '../../engine/transcript/reading.ts';
import type { OwnerName, ServiceContext } from './context.ts';

const DAY_MS = 86_400_000;

/** The window of time in which the conversations of the run lie. */
export function windowOf({ baseMs }: ServiceContext): Record<string, string> {
  return {
    started_after: isoTime(baseMs - 4 * DAY_MS),
    started_before: isoTime(baseMs + DAY_MS / 24),
  };
}

/** A read of results that must be answered. */
export function read(
  { service }: ServiceProbeContext,
  endpoint: 'production' | 'simulations',
  step: string,
  query: Record<string, string> = {},
  owner: OwnerName = 'main',
): Step {
  const base =
    endpoint === 'production' ? '/api/prod-evaluations/sessions/' : '/api/simulations/sessions/';
  const params = new URLSearchParams(query).toString();
  return {
    endpoint,
    step,
    intent: 'valid',
    path: params === '' ? base : `${base}?${params}`,
    ...service.keyFor(owner),
  };
}

/** A conversation that is waited for among the results. */
export interface Wanted {
  id: string;
  /** How many evaluations its session must have. */
  evaluations: number;
}

const POLL_FIRST_MS = 250;
const POLL_LAST_MS = 1_000;
const POLL_GROWTH = 1.3;
const WAITED_MS_MAX = 10_000;
const POLLS_MAX = 40;

/** Reads the results until all that was closed is there, for ten seconds at most. */
export async function untilScored(
  context: ServiceProbeContext,
  wanted: readonly Wanted[],
  step = 'results',
  owner: OwnerName = 'main',
): Promise<void> {
  const startedMs = context.service.monotonicMs();
  const query = { ...windowOf(context.service), include_traces: 'true', limit: '500' };
  let pauseMs = POLL_FIRST_MS;
  for (let polls = 0; polls < POLLS_MAX; polls++) {
    const page = await context.send(read(context, 'production', step, query, owner));
    const isLate = context.service.monotonicMs() - startedMs > WAITED_MS_MAX;
    if (!page || !isAccepted(page) || isLate || isWhole(page, wanted)) return;
    await context.service.pause(pauseMs);
    pauseMs = Math.min(POLL_LAST_MS, pauseMs * POLL_GROWTH);
  }
}

function isWhole({ json }: Exchange, wanted: readonly Wanted[]): boolean {
  const items = valueAt(json, '/items');
  const sessions = Array.isArray(items) ? items.filter(isObject) : [];
  const counts = new Map(
    sessions.map((item) => [
      item['source_session_id'],
      valueAt(item, '/outcome_summary/total_evaluations'),
    ]),
  );
  return wanted.every(({ id, evaluations }) => {
    const count = counts.get(id);
    return typeof count === 'number' && count >= evaluations;
  });
}
