import { gzipSync } from 'node:zlib';
import { putOff } from '../transcript/reading.ts';
import { cost, type Scenario } from './scenario.ts';
import { admin } from './service-control.ts';
import { end, read, traces, windowOf } from './service-conversations.ts';
import { chatSpan, conversation, exportOf } from './service-spans.ts';
import type { Step, World } from './world.ts';

/** Ten megabytes are so many bytes at the least, and so many at the most. */
const MEGABYTES_10_MIN = 10_000_000;
const MEGABYTES_10_MAX = 10_485_760;
const MARGIN_BYTES = 500_000;

/** Two fixed windows of a minute let 240 pass; the next is over the rate however it is counted. */
const RATE_REQUESTS_MAX = 241;
const AT_ONCE = 12;

const HOUR_MS = 3_600_000;

async function sizes(world: World, small: Step): Promise<void> {
  const text = bodyText(small);
  // White space is no part of JSON, and costs a reader nothing.
  const padded = (bytes: number): string => text.padEnd(bytes, ' ');
  const body = (step: string, bytes: number): Step => ({
    ...small,
    step,
    body: { text: padded(bytes) },
  });
  const control = await world.send(body('under 10 MB', MEGABYTES_10_MIN - MARGIN_BYTES));
  if (!control) return;
  const over = MEGABYTES_10_MAX + MARGIN_BYTES;
  await world.send({ ...body('over 10 MB', over), intent: 'refuse', control });
  await world.send({
    ...small,
    step: 'inflates to over 10 MB',
    intent: 'open',
    body: { bytes: gzipSync(padded(over)) },
    headers: { 'content-encoding': 'gzip' },
  });
}

const bodyText = ({ body }: Step): string =>
  body && 'json' in body ? JSON.stringify(body.json) : '';

async function rate(world: World, small: Step): Promise<void> {
  const step: Step = { ...small, step: 'rate', intent: 'open', once: true };
  for (let sent = 0; sent < RATE_REQUESTS_MAX; sent += AT_ONCE) {
    const answers = await Promise.all(Array.from({ length: AT_ONCE }, () => world.send(step)));
    if (answers.some((one) => !one || putOff(one))) return;
  }
}

/** What is idle for 24 hours is closed, and what is idle for 23 is not. */
async function idle(world: World): Promise<void> {
  const { service } = world;
  const talk = conversation(service, 'idle', {});
  const owner = 'idle' as const;
  await world.send(traces(world, 'idle', exportOf([chatSpan(service, talk)]), { owner }));
  const look = async (step: string, advanceMs: number): Promise<void> => {
    await world.send(admin('clock', '/clock', { advance_ms: advanceMs }));
    await world.send(admin('drain', '/drain'));
    await world.send(read(world, 'production', step, windowOf(service), owner));
  };
  await look('after 23 hours', 23 * HOUR_MS);
  await look('after 24 hours', HOUR_MS + 60_000);
  await world.send(end(world, 'close idle', talk.id, owner));
}

/** What is large, many or slow. One after the other: the clock moves the window of the rate, too. */
const limits: Scenario = {
  id: 'service/limits',
  area: 'service',
  phase: 'cleanup',
  intrusive: true,
  exercises: [
    ...(['SERVICE-023', 'SERVICE-024', 'SERVICE-026', 'SERVICE-027', 'SERVICE-028'] as const),
    ...(['SERVICE-058', 'SERVICE-059'] as const),
  ],
  cost: cost(3 + Math.ceil(RATE_REQUESTS_MAX / AT_ONCE) * AT_ONCE + 8),
  async drive(world) {
    const { service } = world;
    const talk = conversation(service, 'limits', { afterMs: -HOUR_MS });
    const request = exportOf([chatSpan(service, talk)]);
    const small = traces(world, 'limits', request, { owner: 'limits' });
    await sizes(world, small);
    await rate(world, small);
    if (service.control) await idle(world);
  },
};

/** The scenarios that only an intrusive run drives. */
export const limitScenarios: readonly Scenario[] = [limits];
