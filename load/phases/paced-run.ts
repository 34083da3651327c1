import type { Random } from '../../src/platform/random.ts';
import type { Transport } from '../engines/transport.ts';
import type { ShardOptions } from '../load-run.ts';
import { createResponseValidator } from '../profiles/validate-response.ts';
import { createRecorder, type RecorderOptions } from '../record/recorder.ts';
import { dueTimes } from '../schedule/due-times.ts';
import { selectPart, WHOLE_RUN } from '../schedule/shard.ts';
import { mergeByTime, pace, type Due } from '../schedule/pace.ts';
import { startMeter, type Cost } from '../self-check/meter.ts';
import { RequestSender } from './request-sender.ts';
import { createRunEnd, type RequestRun, type RequestRunParts } from './request-run.ts';
import { stretchesOf } from './plan.ts';
import { watchRun } from './watch.ts';

/** Dependencies of a paced run. */
export interface PacedRunParts extends RequestRunParts {
  random: Random;
  transport: Transport;
  /** The part of the plan to send (default: all of it). */
  shard?: ShardOptions | undefined;
  breachTests?: RecorderOptions['breachTests'];
}

/** Time to prepare before the first request. */
const LEAD_MS = 20;

/**
 * Runs ramp-up, steady state, and drain. Requests are sent when they are due, even if earlier ones
 * failed or are still in flight. The start and end of the steady state are fixed before the first
 * request.
 */
export async function runPaced(parts: PacedRunParts): Promise<RequestRun> {
  const { clock, transport, traffic, plan } = parts;
  const { main, streams } = traffic;
  const record = createRecorder({
    windowMs: plan.windowMs,
    streams,
    main,
    breachTests: parts.breachTests,
  });
  const [nowMs, startedMs] = [clock.nowMs(), clock.monotonicMs()];
  const leadMs = Math.max(LEAD_MS, (parts.shard?.startAtMs ?? nowMs) - nowMs);
  const windowStartMs = startedMs + leadMs + plan.rampMs;
  const sinceStart = (): number => clock.monotonicMs() - windowStartMs;
  const end = createRunEnd(parts.signal);
  const sender = new RequestSender({
    clock,
    transport,
    recorder: record,
    createHeaders: traffic.createHeaders,
    redact: parts.redact,
    validate: createResponseValidator(parts.validateResponse, traffic.markers),
    windowStartMs,
    onResult: ({ fault, detail }) => {
      if (fault === 'unauthorized') end.endEarly({ kind: 'unauthorized', detail });
    },
  });

  const watching = watchRun({ ...parts, record, sinceStart, end });
  let stopMeter: (() => Cost) | undefined;
  const windowStart: Due = {
    atMs: windowStartMs,
    fire: () => (stopMeter = startMeter(clock)),
  };
  const windowEnd: Due = { atMs: windowStartMs + plan.windowMs, fire: () => {} };
  const lists = [...duesOf(parts, sender, windowStartMs), [windowStart], [windowEnd]];
  await pace(mergeByTime(lists), clock, end.over);
  const ranMs = Math.max(0, Math.min(plan.windowMs, sinceStart()));
  const cost = stopMeter?.() ?? { cpuPercent: 0, loopBusy: 0 };
  sender.stopSending();
  if (end.early) sender.abandon();
  await sender.waitUntilDrained();
  end.finish();
  await watching;
  return {
    record,
    ranMs: end.early ? ranMs : plan.windowMs,
    missed: sender.missed,
    cost,
    earlyEnd: end.early,
    windowStartedAtMs: nowMs + leadMs + plan.rampMs,
  };
}

/** Lists what is due, ordered by time within each stream. */
function duesOf(
  { traffic, plan, random, shard = WHOLE_RUN }: PacedRunParts,
  sender: RequestSender,
  windowStartMs: number,
): Iterable<Due>[] {
  const beginMs = -plan.rampMs;
  const open = traffic.open.map(function* ({ stream, perSecond, nextRequest }): Generator<Due> {
    const stretches = stretchesOf(perSecond, plan.rampMs, plan.windowMs);
    const arrivals = stream === traffic.main ? plan.arrivals : 'uniform';
    const all = dueTimes(stretches, arrivals, random.fork(`arrivals of ${stream}`));
    for (const atMs of selectPart(all, shard)) {
      const dueMs = beginMs + atMs;
      yield { atMs: windowStartMs + dueMs, fire: () => sender.send(nextRequest(), dueMs) };
    }
  });
  // Simulated users start one after another during the ramp-up.
  const users = traffic.users.map((nextRequest, index): Due => {
    const dueMs = beginMs + (plan.rampMs * index) / traffic.users.length;
    return { atMs: windowStartMs + dueMs, fire: () => sender.send(nextRequest(), dueMs) };
  });
  return [...open, selectPart(users, shard)];
}
