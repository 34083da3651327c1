import type { LoadReport, WarmUp } from '../src/contract/index.ts';
import { seededChance } from '../src/shared/chance.ts';
import { autocannonTransport } from './engines/autocannon.ts';
import { closedLoop } from './engines/closed-loop.ts';
import { openTransport } from './engines/open.ts';
import type { LiveFigures, LoadOptions } from './options.ts';
import { pacedRun } from './phases/paced-run.ts';
import { planOf, WARM_UP_CONNECTIONS } from './phases/plan.ts';
import { profileOf, type Profile } from './profiles/profile.ts';
import { reportOf, reportOfGate } from './report/report.ts';

/**
 * Loads a sandbox and says whether it holds its targets. Rejects only for faults of the kit: whatever
 * a sandbox does is in the report.
 */
export async function load(options: LoadOptions): Promise<LoadReport> {
  const { clock, signal, onTick, sandbox, ca } = options;
  const startedAtMs = clock.nowMs();
  const plan = planOf(options);
  onTick(begins('preflight', plan.windowMs + plan.warmUpMs + plan.rampMs));
  const found = await options.preflight(signal);
  if (found.gate) return reportOfGate(options, { plan, startedAtMs }, found.gate);
  const chance = seededChance(options.seed);
  const profile = profileOf({
    name: options.profile,
    ratePerSecond: options.ratePerSecond,
    simulatedUsers: options.simulatedUsers,
    apiKey: options.apiKey,
    hasUsers: found.hasUsers,
    chance: chance.fork('profile'),
  });
  onTick(begins('warm-up', plan.windowMs + plan.warmUpMs + plan.rampMs));
  const warmUp = await warmedUp(options, plan.warmUpMs, profile);
  const transport =
    plan.engine === 'open'
      ? openTransport({ target: sandbox, clock, ca })
      : autocannonTransport({ target: sandbox, clock, connections: mostInFlight(profile) });
  try {
    const paced = await pacedRun({
      clock,
      chance,
      transport,
      profile,
      plan,
      judge: options.judge,
      onTick,
      signal,
    });
    return reportOf(options, {
      plan,
      startedAtMs,
      engine: transport.name,
      profile,
      warmUp,
      paced,
    });
  } finally {
    await transport.close();
  }
}

/** Longer than any deadline: so many are in flight where nothing is answered. */
const IN_FLIGHT_S = 16;
const CONNECTIONS_MAX = 5_000;

/** Connections that autocannon needs, so that no request ever waits for one. */
function mostInFlight({ open, users }: Profile): number {
  const perSecond = open.reduce((sum, stream) => sum + stream.perSecond, 0);
  const most = Math.ceil(perSecond * IN_FLIGHT_S) + users.length;
  return Math.min(CONNECTIONS_MAX, Math.max(1, most));
}

function begins(phase: LiveFigures['phase'], leftMs: number): LiveFigures {
  return { phase, perSecond: 0, inFlight: 0, p50Ms: null, p99Ms: null, errors: 0, leftMs };
}

/** A closed loop asks a slow sandbox less, and so warms it up gently. */
async function warmedUp(
  { sandbox, ratePerSecond, signal }: LoadOptions,
  durationMs: number,
  { open, main, users }: Profile,
): Promise<WarmUp | undefined> {
  const shot = open.find(({ stream }) => stream === main)?.shot ?? users[0];
  if (!shot || durationMs < 100 || signal.aborted) return undefined;
  const { connections, answers, errors, p50Ms } = await closedLoop({
    target: sandbox,
    connections: Math.max(1, Math.min(WARM_UP_CONNECTIONS, Math.floor(ratePerSecond))),
    durationMs,
    perSecondMax: Math.max(1, Math.floor(ratePerSecond)),
    next: () => shot().outgoing,
    signal,
  });
  return { connections, requests: answers, errors, p50Ms };
}
