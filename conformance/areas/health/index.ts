import { formatValue, resolvePointer } from '../../../src/contract/index.ts';
import { createArea } from '../../engine/area.ts';
import { isAcceptedAt, observeEach } from '../../engine/judge/observed.ts';
import { describeOutcome, toPrintable, type Transcript } from '../../engine/transcript/reading.ts';
import { fields } from './fields.ts';
import { healthProbes } from './probes.ts';
import { responses } from './responses.ts';
import { times } from './times.ts';

/** Returns the health status that a sandbox reports. */
const observeHealth = observeEach([
  {
    name: 'health',
    of: isAcceptedAt('health'),
    describe: ({ json }) => {
      const status = resolvePointer(json, '/status');
      return toPrintable(typeof status === 'string' ? status : formatValue(status), 40);
    },
  },
]);

/** Warns that the sandbox is unhealthy now, which is legal but ends a simulation before it starts. */
function healthNotices({ exchanges }: Transcript): readonly string[] {
  const last = exchanges.findLast(({ endpoint, response }) => endpoint === 'health' && response);
  const status = resolvePointer(last?.json, '/status');
  const isFailing = last?.response?.status === 500;
  if (!last || (status !== 'unhealthy' && !isFailing)) return [];
  const detail = resolvePointer(last.json, '/error/message');
  const reason = typeof detail === 'string' ? ` (${toPrintable(detail)})` : '';
  const state = isFailing ? 'The health check fails now' : 'The sandbox is unhealthy now';
  return [
    `${state}: GET /health responds with ${describeOutcome(last)}${reason}. The service checks health before each simulation.`,
  ];
}

/** `GET /health`. */
export const health = createArea({
  name: 'health',
  endpoints: ['health'],
  subjects: [responses, fields, times],
  probes: healthProbes,
  observe: observeHealth,
  notices: healthNotices,
});
