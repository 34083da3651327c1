/** The probe of the request rate of `POST /v1/traces` (spec 5, 7, 8). */
import { INGEST_REQUESTS_PER_MINUTE_MAX } from '../../../../src/contract/index.ts';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../../../src/platform/clock.ts';
import { BURST_CONCURRENCY, cost, type Step } from '../../../engine/probe.ts';
import {
  type Exchange,
  isAccepted,
  isRateLimited,
  retryAfterMsOf,
} from '../../../engine/transcript/reading.ts';
import type { ServiceProbe, ServiceProbeContext } from '../context.ts';
import { advanceClock, createTracesStep } from '../requests.ts';
import { createChatSpan, createConversation, createTraceExport } from '../spans.ts';
import { AFTER_A_MINUTE, BATCH_SIZE, EARLY_MS, EARLY_STEP } from './bursts.ts';

/** Two fixed one-minute windows let 240 requests pass; one more exceeds any way to count. */
const BURST_MAX = 2 * INGEST_REQUESTS_PER_MINUTE_MAX + 1;

/** The rate and as many more as are in flight together. A service that counts too late admits more. */
const FIRST_BATCH_SIZE = INGEST_REQUESTS_PER_MINUTE_MAX + BURST_CONCURRENCY;

/** A service that keeps the rate receives one batch, and a second if its clock can't be advanced. */
const REQUESTS = 2 * FIRST_BATCH_SIZE + 3;

/** Two bursts this far apart cannot both cross the boundary of a fixed one-minute window. */
const OUT_OF_PHASE_MS = 1.5 * MINUTE_MS;

/** After a delay this short, a request finds out whether `Retry-After` is true. */
const SHORT_DELAY_MS = 10 * SECOND_MS;

/** Sends more concurrent requests than the rate, and further batches until the service returns 429. */
async function sendBurst(context: ServiceProbeContext, request: Step): Promise<Exchange[]> {
  const sent: Exchange[] = [];
  while (sent.length < BURST_MAX && !sent.some(isRateLimited)) {
    const length = sent.length === 0 ? FIRST_BATCH_SIZE : BATCH_SIZE;
    const exchanges = await Promise.all(
      Array.from({ length }, () => context.send({ ...request, order: 'burst' })),
    );
    const answered = exchanges.filter((exchange) => exchange !== undefined);
    sent.push(...answered);
    if (answered.length < length) break;
  }
  return sent;
}

const isOverRate = (burst: readonly Exchange[]): boolean =>
  burst.some(isRateLimited) && burst.filter(isAccepted).length > INGEST_REQUESTS_PER_MINUTE_MAX;

const advance = (context: ServiceProbeContext, ms: number): Promise<boolean> =>
  advanceClock(context, 'clock of the rate', ms);

/** Returns the delay in `Retry-After`; undefined if it is unreadable or longer than an hour. */
function retryDelayMs(
  burst: readonly Exchange[],
  context: ServiceProbeContext,
): number | undefined {
  const refused = burst.findLast(isRateLimited);
  const ms = refused && retryAfterMsOf(refused, context.service.nowMs());
  return ms === undefined || ms <= 0 || ms > HOUR_MS ? undefined : ms;
}

/** Sends a burst until the service returns 429, and more when the key should be admitted again. */
async function measureRate(context: ServiceProbeContext, request: Step): Promise<void> {
  const { service } = context;
  const first = await sendBurst(context, { ...request, step: 'rate' });
  if (service.hasControlApi && first.some(isRateLimited)) {
    await context.send({ ...request, step: 'another key', ...service.secondKeyFor('rate') });
  }
  if (retryDelayMs(first, context) === undefined) return;
  if (await advance(context, EARLY_MS)) await measureWithClock(context, request, first);
  else await measureInRealTime(context, request, first);
}

/**
 * Sends a request some seconds after a 429, and bursts if it is admitted: the minute may have ended, but
 * not twice. Then the clock is advanced as far as the last `Retry-After` says.
 */
async function measureWithClock(
  context: ServiceProbeContext,
  request: Step,
  first: readonly Exchange[],
): Promise<void> {
  const sent = [...first];
  const early: Step = { ...request, step: EARLY_STEP };
  const single = await context.send(early);
  if (single) sent.push(single);
  if (single && isAccepted(single)) {
    sent.push(...(await sendBurst(context, early)));
    if (await advance(context, EARLY_MS)) sent.push(...(await sendBurst(context, early)));
  }
  let delayMs = retryDelayMs(sent, context) ?? MINUTE_MS;
  if (delayMs > MINUTE_MS + SECOND_MS && (await advance(context, MINUTE_MS + SECOND_MS))) {
    await context.send({ ...request, step: AFTER_A_MINUTE });
    delayMs -= MINUTE_MS;
  }
  // `Retry-After` may be rounded, so a second is added.
  if (!(await advance(context, delayMs + SECOND_MS))) return;
  const retry: Step = { ...request, step: 'after Retry-After' };
  const retried = await context.send(retry);
  if (retried && isRateLimited(retried) && delayMs <= OUT_OF_PHASE_MS) {
    // The limit may follow real time instead of the clock that can be advanced.
    const realMs = retryDelayMs([retried], context) ?? MINUTE_MS;
    await context.service.pause(Math.min(realMs, OUT_OF_PHASE_MS) + SECOND_MS);
    await context.send(retry);
  }
  if (!isOverRate(first) || !(await advance(context, OUT_OF_PHASE_MS))) return;
  await sendBurst(context, { ...request, step: 'rate again' });
}

/**
 * Waits at least a minute and measures the rate again, because earlier requests of the run may have counted.
 * A burst that exceeded the rate may have crossed the boundary of a fixed window, so a burst out of phase
 * with it follows.
 */
async function measureInRealTime(
  context: ServiceProbeContext,
  request: Step,
  first: readonly Exchange[],
): Promise<void> {
  const delayMs = retryDelayMs(first, context) ?? Infinity;
  if (delayMs > OUT_OF_PHASE_MS) return;
  if (delayMs <= SHORT_DELAY_MS) {
    await context.service.pause(delayMs + SECOND_MS);
    await context.send({ ...request, step: 'after Retry-After' });
  }
  await context.service.pause(Math.max(delayMs, MINUTE_MS) + SECOND_MS);
  const second = await sendBurst(context, { ...request, step: 'rate again' });
  if (!isOverRate(second)) return;
  await context.service.pause(OUT_OF_PHASE_MS);
  await sendBurst(context, { ...request, step: 'rate once more' });
}

/** Exceeds the request rate. It runs last because its key is blocked for a minute afterward. */
export const rate: ServiceProbe = {
  id: 'service/rate',
  area: 'service',
  phase: 'last',
  intrusive: true,
  cost: cost(REQUESTS),
  async run(context) {
    const conversation = createConversation(context.service, 'rate', { offsetMs: -HOUR_MS });
    const spans = createTraceExport([createChatSpan(context.service, conversation)]);
    const request = createTracesStep(context, 'rate', spans, { owner: 'rate' });
    await measureRate(context, { ...request, intent: 'open', once: true });
  },
};
