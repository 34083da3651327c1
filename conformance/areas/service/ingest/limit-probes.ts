import { cost, type Step } from '../../../engine/probe.ts';
import type { ServiceProbe, ServiceProbeContext } from '../context.ts';
import { gzipSync } from 'node:zlib';
import { moveClock } from '../clock.ts';
import { admin } from '../control-probes.ts';
import { end, traces } from '../close/probes.ts';
import { chatSpan, conversation, exportOf } from '../spans.ts';
import { read, windowOf } from '../waiting.ts';

/** Ten megabytes are so many bytes at the least, and so many at the most. */
const MEGABYTES_10_MIN = 10_000_000;
const MEGABYTES_10_MAX = 10_485_760;
const MARGIN_BYTES = 500_000;

const HOUR_MS = 3_600_000;

async function sizes(context: ServiceProbeContext, small: Step): Promise<void> {
  const text = bodyText(small);
  // White space is no part of JSON, and costs a reader nothing.
  const padded = (bytes: number): string => text.padEnd(bytes, ' ');
  const body = (step: string, bytes: number): Step => ({
    ...small,
    step,
    body: { text: padded(bytes) },
  });
  const control = await context.send(body('under 10 MB', MEGABYTES_10_MIN - MARGIN_BYTES));
  if (!control) return;
  const over = MEGABYTES_10_MAX + MARGIN_BYTES;
  await context.send({ ...body('over 10 MB', over), intent: 'refuse', control });
  await context.send({
    ...small,
    step: 'inflates to over 10 MB',
    intent: 'open',
    body: { bytes: gzipSync(padded(over)) },
    headers: { 'content-encoding': 'gzip' },
  });
}

const bodyText = ({ body }: Step): string =>
  body && 'json' in body ? JSON.stringify(body.json) : '';

/** What is idle for 24 hours is closed, and what is idle for 23 is not. */
async function idle(context: ServiceProbeContext): Promise<void> {
  const { service } = context;
  const talk = conversation(service, 'idle', {});
  const owner = 'idle' as const;
  await context.send(traces(context, 'idle', exportOf([chatSpan(service, talk)]), { owner }));
  const look = async (step: string, advanceMs: number): Promise<void> => {
    await moveClock(context, 'clock', advanceMs);
    await context.send(admin('drain', '/drain'));
    await context.send(read(context, 'production', step, windowOf(service), owner));
  };
  await look('after 23 hours', 23 * HOUR_MS);
  await look('after 24 hours', HOUR_MS + 60_000);
  await context.send(end(context, 'close idle', talk.id, owner));
}

/** What is large or slow. */
const limits: ServiceProbe = {
  id: 'service/limits',
  area: 'service',
  phase: 'cleanup',
  intrusive: true,
  exercises: ['SERVICE-023', 'SERVICE-024', 'SERVICE-058', 'SERVICE-059'],
  cost: cost(12),
  async run(context) {
    const { service } = context;
    const talk = conversation(service, 'limits', { afterMs: -HOUR_MS });
    const request = exportOf([chatSpan(service, talk)]);
    const small = traces(context, 'limits', request, { owner: 'limits' });
    await sizes(context, small);
    if (service.hasControlApi) await idle(context);
  },
};

/** The scenarios that only an intrusive run drives. */
export const limitScenarios: readonly ServiceProbe[] = [limits];
