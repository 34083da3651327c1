import { valueAt } from '../../../../src/contract/index.ts';
import { type Exchange, accepted } from '../../../engine/transcript/reading.ts';
import { cost, type Scenario } from '../../../engine/probe.ts';
import { about, admin, manyOf } from '../control-probes.ts';
import { filtersOf } from './filters.ts';
import type { World } from '../../../engine/probe-context.ts';
import { read, windowOf } from '../waiting.ts';

type Endpoint = 'production' | 'simulations';

const PAGES_MAX = 10;

/** Every filter and page of an endpoint, within the window of the run. */
async function readAll(world: World, endpoint: Endpoint): Promise<void> {
  const window = windowOf(world.service);
  const get = (step: string, query: Record<string, string>): Promise<Exchange | undefined> =>
    world.send(read(world, endpoint, step, query));
  await get('defaults', {});
  const whole = await get('whole', { ...window, limit: '500' });
  if (!whole || !accepted(whole)) return;
  await pages(world, endpoint, totalOf(whole));
  const all = { ...window, limit: '500' };
  const queries: Record<string, Record<string, string>> = {
    'traces asked for': { include_traces: 'true' },
    'traces declined': { include_traces: 'false' },
    'failed only': { failed_only: 'true' },
    ...filtersOf(world, endpoint, whole),
  };
  await Promise.all(
    Object.entries(queries)
      .filter(([, query]) => Object.values(query).every((value) => value !== ''))
      .map(([step, query]) => get(step, { ...all, ...query })),
  );
  // Where more than the cap can be put there, that is read over the cap instead.
  const { intrusive, control } = world.service;
  if (!intrusive || !control) await get('over the cap', { limit: '501' });
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
async function pages(world: World, endpoint: Endpoint, total: number): Promise<void> {
  const limit = Math.max(1, Math.ceil(total / 4));
  for (let page = 0; page < PAGES_MAX && (page === 0 || page * limit < total); page++) {
    await world.send(
      read(world, endpoint, 'page', {
        ...windowOf(world.service),
        limit: String(limit),
        skip: String(page * limit),
      }),
    );
  }
}

const production: Scenario = {
  id: 'service/production',
  area: 'service',
  phase: 'after',
  needs: ['service/conversations'],
  exercises: ['SERVICE-070', 'SERVICE-080', 'SERVICE-112'],
  cost: cost(23),
  async drive(world) {
    if (world.service.control) await world.send(admin('drain', '/drain'));
    await readAll(world, 'production');
    if (!world.service.control) return;
    // The bare owner has sessions of its own to be left out, and none of its neighbour's.
    await world.send(read(world, 'production', 'another owner', {}, 'limits'));
  },
};

const simulations: Scenario = {
  id: 'service/simulations',
  area: 'service',
  phase: 'after',
  exercises: ['SERVICE-130'],
  cost: cost(23),
  async drive(world) {
    await readAll(world, 'simulations');
    if (!world.service.control) return;
    const url = { agent: `FIRST-${world.service.marker}.example` };
    await world.send(read(world, 'simulations', 'agent by URL', url));
    await world.send(read(world, 'simulations', 'another owner', {}, 'limits'));
  },
};

/** More sessions than the largest page holds, which only a run that may be large puts there. */
const many: Scenario = {
  id: 'service/many',
  area: 'service',
  phase: 'after',
  intrusive: true,
  exercises: ['SERVICE-075', 'SERVICE-077', 'SERVICE-132', 'SERVICE-133'],
  cost: cost(5),
  async drive(world) {
    const { service } = world;
    if (!service.control) return;
    await world.send(admin('many', `/seed${about(service, 'paged')}`, manyOf(service)));
    for (const endpoint of ['production', 'simulations'] as const) {
      await world.send(read(world, endpoint, 'over the cap', { limit: '501' }, 'paged'));
      await world.send(read(world, endpoint, 'many', {}, 'paged'));
    }
  },
};

/** What came to nothing on the way, from the service's own log; for people who read a recording. */
const log: Scenario = {
  id: 'service/log',
  area: 'service',
  phase: 'after',
  needs: ['service/conversations'],
  exercises: [],
  cost: cost(1),
  async drive(world) {
    const { service } = world;
    if (!service.control) return;
    const path = `/ingest-log${about(service, 'main')}`;
    await world.send(admin('ingest log', path, undefined, 'GET'));
  },
};

/** The scenarios in which results are read. */
export const resultScenarios: readonly Scenario[] = [production, simulations, many, log];
