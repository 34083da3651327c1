/** What comes before the ramp-up: a shard waits for its start, and the sandbox is warmed up. */
import type { LoadBlocker, LoadPlan, WarmUp } from '../../src/contract/index.ts';
import { formatDuration } from '../../src/report-kit/format.ts';
import { createOpenTransport } from '../engines/open.ts';
import { withHeaders, type OutgoingRequest } from '../engines/transport.ts';
import { runWarmUpLoop, type WarmUpFigures } from '../engines/warm-up-loop.ts';
import type { LoadRun } from '../load-run.ts';
import type { Traffic } from '../profiles/traffic.ts';
import { describeShard, WHOLE_RUN } from '../schedule/shard.ts';

/** Called now, and every second, with the milliseconds that are left. */
type OnLeft = (leftMs: number) => void;

/**
 * Waits until the warm-up must start, so that the ramp-up starts at the requested time. Returns the
 * milliseconds that are left for the warm-up.
 */
export async function waitForStart(
  { clock, shard, signal }: LoadRun,
  { warmUpMs }: LoadPlan,
  onTick: OnLeft,
): Promise<number> {
  const { startAtMs } = shard ?? {};
  if (startAtMs === undefined) return warmUpMs;
  const leftMs = (): number => startAtMs - clock.nowMs();
  const waiting = clock.sleep(Math.max(0, leftMs() - warmUpMs), signal).catch(() => undefined);
  await tickWhile(clock, waiting, () => onTick(Math.max(0, leftMs() - warmUpMs)));
  return Math.min(warmUpMs, Math.max(0, leftMs()));
}

/** A shard that starts later would leave a part of the schedule without its requests. */
const START_LATE_MS_MAX = 500;

/** Returns why a shard can't start at the requested time; undefined if it can. */
export function findLateStart({ clock, shard }: LoadRun): LoadBlocker | undefined {
  const lateMs = clock.nowMs() - (shard?.startAtMs ?? Infinity);
  if (!shard || lateMs <= START_LATE_MS_MAX) return undefined;
  return {
    message: `The start time passed ${formatDuration(lateMs)} before ${describeShard(shard)} was ready.`,
    cure: 'Choose a later start time for all shards: the preflight and the warm-up come before it.',
  };
}

/** Connections of the warm-up of a run that keeps its rate. */
const WARM_UP_CONNECTIONS = 10;

/**
 * Warms up the sandbox in a closed loop, which sends fewer requests to a slow sandbox. Returns
 * undefined if there was no time for it, or the run was stopped.
 */
export async function runWarmUp(
  options: LoadRun,
  { warmUpMs: durationMs, ratePerSecond, connections }: LoadPlan,
  traffic: Traffic,
  onTick: OnLeft,
): Promise<WarmUp | undefined> {
  const { clock, shard = WHOLE_RUN } = options;
  const perSecondMax = Math.max(1, Math.floor(ratePerSecond / shard.count));
  const pacedConnections = Math.min(Math.ceil(WARM_UP_CONNECTIONS / shard.count), perSecondMax);
  const endMs = clock.monotonicMs() + durationMs;
  const looping = runLoop(
    options,
    traffic,
    connections === undefined
      ? { connections: pacedConnections, durationMs, perSecondMax }
      : { connections, durationMs },
  );
  const loop = await tickWhile(clock, looping, () =>
    onTick(Math.max(0, endMs - clock.monotonicMs())),
  );
  return (
    loop && {
      connections: loop.connections,
      requests: loop.responses,
      errors: loop.errors,
      p50Ms: loop.p50Ms,
    }
  );
}

/** A shorter closed loop gives no useful measurement. */
const LOOP_MS_MIN = 100;

/**
 * Sends requests of the main stream in a closed loop. Returns undefined if it would be too short, or
 * the run was stopped.
 */
export async function runLoop(
  { sandbox, clock, ca, connection, signal }: LoadRun,
  { open, users, main, createHeaders }: Traffic,
  bounds: { connections: number; durationMs: number; perSecondMax?: number },
): Promise<WarmUpFigures | undefined> {
  const nextRequest = open.find(({ stream }) => stream === main)?.nextRequest ?? users[0];
  if (!nextRequest || bounds.durationMs < LOOP_MS_MIN || signal.aborted) return undefined;
  const next = (): OutgoingRequest => {
    const { outgoing, name } = nextRequest();
    return withHeaders(outgoing, createHeaders(name));
  };
  const transport = createOpenTransport({ target: sandbox, clock, ca, connection });
  try {
    return await runWarmUpLoop({ ...bounds, next, signal, transport, clock });
  } finally {
    await transport.close();
  }
}

/** Calls a function now, and every second until a promise settles. */
async function tickWhile<Result>(
  clock: LoadRun['clock'],
  running: Promise<Result>,
  tick: () => void,
): Promise<Result> {
  const over = new AbortController();
  const ticking = (async () => {
    while (!over.signal.aborted) {
      tick();
      await clock.sleep(1000, over.signal).catch(() => undefined);
    }
  })();
  try {
    return await running;
  } finally {
    over.abort(new Error('over'));
    await ticking;
  }
}
