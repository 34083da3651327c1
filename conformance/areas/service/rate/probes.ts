import type { ServiceProbe, ServiceProbeContext } from '../context.ts';
import { INGEST_REQUESTS_PER_MINUTE_MAX } from '../../../../src/contract/index.ts';
import { cost, type Step } from '../../../engine/probe.ts';
import {
  type Exchange,
  isAccepted,
  isRateLimited,
  retryAfterMsOf,
} from '../../../engine/transcript/reading.ts';
import { advanceClock } from '../clock.ts';
import { createChatSpan, createConversation, createTraceExport } from '../spans.ts';
import { createTracesStep } from '../requests.ts';
import type { TracesStep, ServiceStep } from '../steps.ts';

/** Two fixed one-minute windows let 240 requests pass; one more exceeds any way to count. */
const BURST_MAX = 2 * INGEST_REQUESTS_PER_MINUTE_MAX + 1;

/** Divides the rate, so that the first batch over the rate is refused as a whole. */
const BATCH_SIZE = 12;

/** A service that keeps the rate receives one burst, and a second if its clock can't be advanced. */
const REQUESTS = 2 * (INGEST_REQUESTS_PER_MINUTE_MAX + BATCH_SIZE);

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

/** Two bursts this far apart cannot both cross the boundary of a fixed one-minute window. */
const OUT_OF_PHASE_MS = 1.5 * MINUTE_MS;

/** Sends batches until the service returns 429. */
async function sendBurst(
  context: ServiceProbeContext,
  request: Step<TracesStep>,
): Promise<Exchange[]> {
  const sent: Exchange[] = [];
  while (sent.length < BURST_MAX && !sent.some(isRateLimited)) {
    const exchanges = await Promise.all(
      Array.from({ length: BATCH_SIZE }, () => context.send(request)),
    );
    const answered = exchanges.filter((exchange) => exchange !== undefined);
    sent.push(...answered);
    if (answered.length < BATCH_SIZE) break;
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

/**
 * Sends a burst until the service returns 429, waits as long as `Retry-After` says, and sends more.
 * If the clock can't be advanced, the probe waits at least a minute and measures the rate again,
 * because earlier requests of the run may have counted. A burst that exceeded the rate may have
 * crossed the boundary of a fixed window, so a burst out of phase with it follows.
 */
async function measureRate(context: ServiceProbeContext, request: Step<TracesStep>): Promise<void> {
  const first = await sendBurst(context, { ...request, step: 'rate' });
  const delayMs = retryDelayMs(first, context);
  if (delayMs === undefined) return;
  // `Retry-After` may be rounded, so a second is added.
  if (await advance(context, delayMs + SECOND_MS)) {
    await context.send({ ...request, step: 'after Retry-After' } satisfies Step<ServiceStep>);
    if (!isOverRate(first) || !(await advance(context, OUT_OF_PHASE_MS))) return;
    await sendBurst(context, { ...request, step: 'rate again' });
    return;
  }
  if (delayMs > OUT_OF_PHASE_MS) return;
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
  exercises: ['SERVICE-026', 'SERVICE-027', 'SERVICE-028', 'SERVICE-031'],
  cost: cost(REQUESTS),
  async run(context) {
    const conversation = createConversation(context.service, 'rate', { offsetMs: -HOUR_MS });
    const spans = createTraceExport([createChatSpan(context.service, conversation)]);
    const request = createTracesStep(context, 'rate', spans, { owner: 'rate' });
    await measureRate(context, { ...request, intent: 'open', once: true });
  },
};
