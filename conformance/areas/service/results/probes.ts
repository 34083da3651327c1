import { conversations } from '../close/probes.ts';
import { cost } from '../../../engine/probe.ts';
import type { ServiceProbe, ServiceProbeContext } from '../context.ts';
import { valueAt } from '../../../../src/contract/index.ts';
import { type Exchange, isAccepted } from '../../../engine/transcript/reading.ts';
import { about, admin, manyOf } from '../control-probes.ts';
import { filtersOf } from './filters.ts';
import { read, windowOf } from '../waiting.ts';

type Endpoint = 'production' | 'simulations';

const PAGES_MAX = 10;

/** Every filter and page of an endpoint, within the window of the run. */
async function readAll(context: ServiceProbeContext, endpoint: Endpoint): Promise<void> {
  const window = windowOf(context.service);
  const get = (step: string, query: Record<string, string>): Promise<Exchange | undefined> =>
    context.send(read(context, endpoint, step, query));
  await get('defaults', {});
  const whole = await get('whole', { ...window, limit: '500' });
  if (!whole || !isAccepted(whole)) return;
  await pages(context, endpoint, totalOf(whole));
  const all = { ...window, limit: '500' };
  const queries: Record<string, Record<string, string>> = {
    'traces asked for': { include_traces: 'true' },
    'traces declined': { include_traces: 'false' },
    'failed only': { failed_only: 'true' },
    ...filtersOf(context, endpoint, whole),
  };
  await Promise.all(
    Object.entries(queries)
      .filter(([, query]) => Object.values(query).every((value) => value !== ''))
      .map(([step, query]) => get(step, { ...all, ...query })),
  );
  // Where more than the cap can be put there, that is read over the cap instead.
  const { intrusive, hasControlApi } = context.service;
  if (!intrusive || !hasControlApi) await get('over the cap', { limit: '501' });
  await get('whole again', all);
}

/** How many sessions there are to page through; where the total is none, how many came. */
const totalOf = ({ json }: Exchange): number => {
  const total = valueAt(json, '/total');
  const items = valueAt(json, '/items');
  const came = Array.isArray(items) ? items.length : 0;
  return Math.min(typeof total === 'number' ? Math.max(total, came) : came, 500);
};

/** Pages of a quarter of what there is, until there is no more. */
async function pages(
  context: ServiceProbeContext,
  endpoint: Endpoint,
  total: number,
): Promise<void> {
  const limit = Math.max(1, Math.ceil(total / 4));
  for (let page = 0; page < PAGES_MAX && (page === 0 || page * limit < total); page++) {
    await context.send(
      read(context, endpoint, 'page', {
        ...windowOf(context.service),
        limit: String(limit),
        skip: String(page * limit),
      }),
    );
  }
}

export const production: ServiceProbe = {
  id: 'service/production',
  area: 'service',
  phase: 'after',
  needs: [conversations],
  exercises: ['SERVICE-070', 'SERVICE-080', 'SERVICE-112'],
  cost: cost(23),
  async run(context) {
    if (context.service.hasControlApi) await context.send(admin('drain', '/drain'));
    await readAll(context, 'production');
    if (!context.service.hasControlApi) return;
    // The bare owner has sessions of its own to be left out, and none of its neighbour's.
    await context.send(read(context, 'production', 'another owner', {}, 'limits'));
  },
};

const simulations: ServiceProbe = {
  id: 'service/simulations',
  area: 'service',
  phase: 'after',
  exercises: ['SERVICE-130'],
  cost: cost(23),
  async run(context) {
    await readAll(context, 'simulations');
    if (!context.service.hasControlApi) return;
    const url = { agent: `FIRST-${context.service.marker}.example` };
    await context.send(read(context, 'simulations', 'agent by URL', url));
    await context.send(read(context, 'simulations', 'another owner', {}, 'limits'));
  },
};

/** More sessions than the largest page holds, which only a run that may be large puts there. */
const many: ServiceProbe = {
  id: 'service/many',
  area: 'service',
  phase: 'after',
  intrusive: true,
  exercises: ['SERVICE-075', 'SERVICE-077', 'SERVICE-132', 'SERVICE-133'],
  cost: cost(5),
  async run(context) {
    const { service } = context;
    if (!service.hasControlApi) return;
    await context.send(admin('many', `/seed${about(service, 'paged')}`, manyOf(service)));
    for (const endpoint of ['production', 'simulations'] as const) {
      await context.send(read(context, endpoint, 'over the cap', { limit: '501' }, 'paged'));
      await context.send(read(context, endpoint, 'many', {}, 'paged'));
    }
  },
};

/** What came to nothing on the way, from the service's own log; for people who read a recording. */
const log: ServiceProbe = {
  id: 'service/log',
  area: 'service',
  phase: 'after',
  needs: [conversations],
  exercises: [],
  cost: cost(1),
  async run(context) {
    const { service } = context;
    if (!service.hasControlApi) return;
    const path = `/ingest-log${about(service, 'main')}`;
    await context.send(admin('ingest log', path, undefined, 'GET'));
  },
};

/** The scenarios in which results are read. */
export const resultScenarios: readonly ServiceProbe[] = [production, simulations, many, log];
