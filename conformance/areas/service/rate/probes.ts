import { cost, type Step } from '../../../engine/probe.ts';
import type { ServiceProbe, ServiceProbeContext } from '../context.ts';
import { ingestRequestsPerMinuteMax } from '../../../../src/contract/index.ts';
import { type Exchange, isAccepted, isRateLimited } from '../../../engine/transcript/reading.ts';
import { retryAfterMs } from '../../../engine/transcript/retry-after.ts';
import { moveClock } from '../clock.ts';
import { traces } from '../close/probes.ts';
import { chatSpan, conversation, exportOf } from '../spans.ts';

/** Two fixed windows of a minute let 240 pass; the next is over the rate however it is counted. */
const BURST_MAX = 2 * ingestRequestsPerMinuteMax + 1;
/** It divides the rate: where that is kept, a burst ends with the first that are put off. */
const AT_ONCE = 12;

/** A service that keeps the rate is sent a burst, and one more where its clock can't be moved. */
const REQUESTS = 2 * (ingestRequestsPerMinuteMax + AT_ONCE);

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
/** Two bursts so far apart do not both run over the end of a fixed minute. */
const OUT_OF_STEP_MS = 1.5 * MINUTE_MS;

/** The bursts that may be sent, by their steps. */
const BURSTS = ['rate', 'rate again', 'rate once more'] as const;
/** The one request after the time of Retry-After was over by the service's own clock. */
const AS_TOLD = 'after Retry-After';

/** Sends until one is put off; what came of it. */
async function burst(context: ServiceProbeContext, step: Step): Promise<Exchange[]> {
  const sent: Exchange[] = [];
  while (sent.length < BURST_MAX && !sent.some(isRateLimited)) {
    const answers = await Promise.all(Array.from({ length: AT_ONCE }, () => context.send(step)));
    const came = answers.filter((one) => one !== undefined);
    sent.push(...came);
    if (came.length < AT_ONCE) break;
  }
  return sent;
}

const isOverRate = (sent: readonly Exchange[]): boolean =>
  sent.some(isRateLimited) && sent.filter(isAccepted).length > ingestRequestsPerMinuteMax;

/** Moves the clock of the service on, where it has one that can be. */
const moved = (context: ServiceProbeContext, ms: number): Promise<boolean> =>
  moveClock(context, 'clock of the rate', ms);

/** How long one that was put off is to wait; undefined where that can't be told, or waited for. */
function toldMs(sent: readonly Exchange[], context: ServiceProbeContext): number | undefined {
  const last = sent.findLast(isRateLimited);
  const ms = last && retryAfterMs(last, context.service.nowMs());
  return ms === undefined || ms <= 0 || ms > HOUR_MS ? undefined : ms;
}

/**
 * Requests until one is put off, and one more once it was waited for as long as the service said.
 * Where its clock can't be moved, a whole minute passes, and the rate is counted once more: of what
 * the run sent before, nobody knows what counted. A burst that got more than the rate through may
 * have run over the end of a fixed minute: a second one out of step with it tells.
 */
async function driveRate(context: ServiceProbeContext, step: Step): Promise<void> {
  const [rate, again, onceMore] = BURSTS;
  const first = await burst(context, { ...step, step: rate });
  const waitMs = toldMs(first, context);
  if (waitMs === undefined) return;
  // A second more than it says, which may be rounded.
  if (await moved(context, waitMs + SECOND_MS)) {
    await context.send({ ...step, step: AS_TOLD });
    if (!isOverRate(first) || !(await moved(context, OUT_OF_STEP_MS))) return;
    await burst(context, { ...step, step: again });
    return;
  }
  if (waitMs > OUT_OF_STEP_MS) return;
  await context.service.pause(Math.max(waitMs, MINUTE_MS) + SECOND_MS);
  const second = await burst(context, { ...step, step: again });
  if (!isOverRate(second)) return;
  await context.service.pause(OUT_OF_STEP_MS);
  await burst(context, { ...step, step: onceMore });
}

/** What is many; the last of all, since the key can be used no more for a minute. */
const rate: ServiceProbe = {
  id: 'service/rate',
  area: 'service',
  phase: 'last',
  intrusive: true,
  exercises: ['SERVICE-026', 'SERVICE-027', 'SERVICE-028', 'SERVICE-031'],
  cost: cost(REQUESTS),
  async run(context) {
    const talk = conversation(context.service, 'rate', { afterMs: -HOUR_MS });
    const request = exportOf([chatSpan(context.service, talk)]);
    const step = traces(context, 'rate', request, { owner: 'rate' });
    await driveRate(context, { ...step, intent: 'open', once: true });
  },
};

/** The scenario of the rate. */
export const rateScenarios: readonly ServiceProbe[] = [rate];
