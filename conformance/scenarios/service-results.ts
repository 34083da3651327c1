import { valueAt } from '../../src/contract/index.ts';
import { isoTime } from '../../src/shared/clock.ts';
import { type Exchange, accepted } from '../transcript/reading.ts';
import { cost, type Scenario } from './scenario.ts';
import { about, admin, evalsOf, manyOf, middleSeedMs } from './service-control.ts';
import { read, RESENT_AFTER_MS, windowOf } from './service-conversations.ts';
import { conversation } from './service-spans.ts';
import type { World } from './world.ts';

type Endpoint = 'production' | 'simulations';

const PAGES_MAX = 10;

/** What of the first page is put into filters. */
interface Known {
  startedAt: string;
  evalName: string;
  /** Name of the run or of the agent. */
  name: string;
}

/** Every filter and page of an endpoint, within the window of the run. */
async function readAll(world: World, endpoint: Endpoint): Promise<void> {
  const window = windowOf(world.service);
  const get = (step: string, query: Record<string, string>): Promise<Exchange | undefined> =>
    world.send(read(world, endpoint, step, query));
  await get('defaults', {});
  const whole = await get('whole', { ...window, limit: '500' });
  if (!whole || !accepted(whole)) return;
  await pages(world, endpoint, totalOf(whole));
  const known = knownOf(world, endpoint, whole);
  const name = endpoint === 'production' ? 'run' : 'agent';
  const all = { ...window, limit: '500' };
  const queries: Record<string, Record<string, string>> = {
    'traces asked for': { ...all, include_traces: 'true' },
    'traces declined': { ...all, include_traces: 'false' },
    'failed only': { ...all, failed_only: 'true' },
    [`${name} none`]: { ...all, [name]: 'no such name' },
    'eval none': { ...all, eval: 'no such eval' },
    [name]: { ...all, [name]: known.name.toUpperCase() },
    eval: { ...all, eval: known.evalName.toUpperCase() },
    'started after': { ...all, started_after: known.startedAt },
    'started before': { ...all, started_before: known.startedAt },
  };
  await Promise.all(
    Object.entries(queries)
      .filter(([, query]) => Object.values(query).every((value) => value !== ''))
      .map(([step, query]) => get(step, query)),
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

/** Words to filter by: from the middle of what is there, so that some match and some do not. */
function knownOf({ service }: World, endpoint: Endpoint, { json }: Exchange): Known {
  const items = valueAt(json, '/items');
  const list: unknown[] = Array.isArray(items) ? items : [];
  const at = (index: number, pointer: string): string => {
    const value = valueAt(list[index], pointer);
    return typeof value === 'string' ? value : '';
  };
  const middle = Math.floor(list.length / 2);
  const own = endpoint === 'production' ? `upload ${service.marker}` : `Agent ${service.marker}`;
  const [, promise] = evalsOf(service);
  const theirs = at(0, endpoint === 'production' ? '/run' : '/agent');
  const evalName = at(0, '/eval_outcomes/0/eval_name');
  const startMs = boundMs(service, endpoint, list);
  return {
    startedAt: startMs === undefined ? at(middle, '/started_at') : isoTime(startMs),
    evalName: service.control ? (promise?.name ?? '').slice(6) : evalName.slice(1),
    name: service.control ? own : theirs.slice(1),
  };
}

/**
 * When a session of the run started, to the millisecond: what a page shows of others may be cut, or
 * rounded. Undefined where none is listed.
 */
function boundMs(
  service: World['service'],
  endpoint: Endpoint,
  list: unknown[],
): number | undefined {
  if (endpoint === 'simulations') return service.control ? middleSeedMs(service) : undefined;
  const { id, startMs } = conversation(service, 're-sent', { afterMs: RESENT_AFTER_MS });
  return list.some((item) => valueAt(item, '/source_session_id') === id) ? startMs : undefined;
}

const production: Scenario = {
  id: 'service/production',
  area: 'service',
  phase: 'after',
  needs: ['service/conversations'],
  exercises: ['SERVICE-070', 'SERVICE-080', 'SERVICE-112'],
  cost: cost(18),
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
  cost: cost(18),
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
