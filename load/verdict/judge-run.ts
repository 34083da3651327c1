import type { InFlightTrend, LoadPlan, LoadTarget, StreamName } from '../../src/contract/index.ts';
import type { Random } from '../../src/platform/random.ts';
import { judgeAvailability } from './availability.ts';
import type { Block } from './bootstrap.ts';
import { judgeLatency, type ResponseTimes } from './latency.ts';
import { judgeSessions } from './sessions.ts';
import { notTested, rows } from './targets.ts';
import { inFlightTrend, judgeThroughput } from './throughput.ts';

/** What was seen of a stream. */
export interface SeenStream extends ResponseTimes {
  offered: number;
  echoed: number;
  failures: readonly Block[];
  errors: Readonly<Record<string, number>>;
}

/** What was seen of a run. */
export interface SeenRun {
  plan: LoadPlan;
  /** How much of the window was run. */
  ranMs: number;
  streams: ReadonlyMap<StreamName, SeenStream>;
  /** Chat requests in flight, in steps of `stepMs`. */
  inFlight: readonly number[];
  stepMs: number;
}

/** Judges every target; those that were not asked for are not tested. */
export function judgeRun(
  run: SeenRun,
  chance: Random,
): { targets: LoadTarget[]; trend?: InFlightTrend } {
  const chat = run.streams.get('chat');
  const health = run.streams.get('health');
  const { percentile } = run.plan;
  const all = [...run.streams.values()];
  const availability = judgeAvailability(
    all.reduce((sum: Block[], { failures }) => added(sum, failures), []),
    kindsIn(all),
    chance.fork('availability'),
  );
  const rest = [
    health
      ? judgeLatency(rows.healthLatency, health, percentile, chance.fork('health'))
      : notTested(rows.healthLatency),
    notTested(rows.voiceLatency),
    notTested(rows.voiceConnections),
  ];
  if (!chat) {
    const untested = [rows.chatLatency, rows.chatThroughput].map((row) => notTested(row));
    return { targets: [...untested, availability, notTested(rows.chatSessions), ...rest] };
  }
  const latency = judgeLatency(rows.chatLatency, chat, percentile, chance.fork('chat'));
  const { target: throughput, trend } = throughputOf(run, chat, chance.fork('throughput'));
  const sessions = judgeSessions(chat.echoed, chat.errors['mixed_up'] ?? 0);
  return { targets: [latency, throughput, availability, sessions, ...rest], trend };
}

function throughputOf(
  { plan, ranMs, inFlight, stepMs }: SeenRun,
  chat: SeenStream,
  chance: Random,
): { target: LoadTarget; trend: InFlightTrend } {
  const offeredPerSecond = ranMs > 0 ? (chat.offered / ranMs) * 1000 : 0;
  const trend = inFlightTrend(inFlight, stepMs, offeredPerSecond);
  const { failures } = chat;
  const target = judgeThroughput(
    {
      plannedPerSecond: plan.ratePerSecond,
      offeredPerSecond,
      failures,
      inFlight,
      stepMs,
      closed: plan.profile === 'conversation',
    },
    trend,
    chance,
  );
  return { target, trend };
}

/** Blocks of several streams as those of one. */
function added(one: readonly Block[], other: readonly Block[]): Block[] {
  return Array.from({ length: Math.max(one.length, other.length) }, (_, index) => ({
    samples: (one[index]?.samples ?? 0) + (other[index]?.samples ?? 0),
    hits: (one[index]?.hits ?? 0) + (other[index]?.hits ?? 0),
  }));
}

/** "rate_limited 300, timeout 2": the kinds of errors, the most frequent first. */
function kindsIn(streams: readonly SeenStream[]): string {
  const counts = new Map<string, number>();
  for (const { errors } of streams) {
    for (const [kind, times] of Object.entries(errors)) {
      counts.set(kind, (counts.get(kind) ?? 0) + times);
    }
  }
  return [...counts]
    .sort(([, one], [, other]) => other - one)
    .map(([kind, times]) => `${kind} ${times}`)
    .join(', ');
}
