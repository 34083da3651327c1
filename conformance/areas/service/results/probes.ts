/** The probes that read results: all sessions, page by page, through every filter, and as other owners. */
import { instantMs, isoTime, SECOND_MS } from '../../../../src/platform/clock.ts';
import { cost } from '../../../engine/probe.ts';
import { type Exchange, isAccepted } from '../../../engine/transcript/reading.ts';
import { CLOSE_OF_LEFT_OPEN, LEFT_OPEN } from '../close/evidence.ts';
import { conversations } from '../close/probes.ts';
import type { ServiceContext, ServiceProbe, ServiceProbeContext } from '../context.ts';
import {
  createControlStep,
  createEndStep,
  createResultsStep,
  drain,
  ownerQuery,
  quietPeriod,
  runPeriod,
  waitUntilScored,
} from '../requests.ts';
import { type ResultsEndpoint, resultsEndpoints, type ResultsObject } from '../results-api.ts';
import { seededAgentUrlPart, seedManySessions } from '../seeds.ts';
import { createConversation } from '../spans.ts';
import type { ResultsStep } from '../steps.ts';
import { isCutOff, sessionsOf, startedAtMs, totalOf } from '../transcript.ts';
import {
  BEFORE_ALONE_STEP,
  BEYOND_STEP,
  DECLINED_STEP,
  FILTERED_PAGE_STEP,
  ODD_PAGE_STEP,
  OVER_CAP,
  PAGE_STEP,
  SECOND_KEY_STEP,
  TRACES_STEP,
} from './evidence.ts';
import { createFilterQueries, textAt, type Query, type QueryByStep } from './filter-queries.ts';

/** Reads all sessions of the run, page by page and through every filter. */
async function readSessions(
  context: ServiceProbeContext,
  endpoint: ResultsEndpoint,
): Promise<void> {
  const read = (step: ResultsStep, query: Query): Promise<Exchange | undefined> =>
    context.send(createResultsStep(context, endpoint, step, query));
  await read('defaults', {});
  const period = await choosePeriod(context.service, read);
  const all = { ...period, limit: '500' };
  const whole = await read('whole', all);
  if (!whole || !isAccepted(whole)) return;
  await readPages(context, endpoint, period, countSessions(whole));
  const queries: QueryByStep = [
    [DECLINED_STEP, { include_traces: 'false', failed_only: 'false' }],
    ['failed only', { failed_only: 'true' }],
    ...createFilterQueries(context, endpoint, sessionsOf(whole), period),
  ];
  await Promise.all([
    ...queries
      .filter(([, query]) => Object.values(query).every((value) => value !== ''))
      .map(([step, query]) => read(step, { ...all, ...query })),
    // The same text as the query that the run polls for results, so that a cached response shows.
    read(TRACES_STEP, { ...period, include_traces: 'true', limit: '500' }),
    read(BEYOND_STEP, { ...period, skip: String(countSessions(whole) + BEYOND) }),
    readWithSecondKey(context, endpoint, period),
    readBeforeAlone(context, endpoint, queries),
  ]);
  const filtered = { failed_only: 'true', include_traces: 'true', limit: '2', skip: '1' };
  await read(FILTERED_PAGE_STEP, { ...all, ...filtered });
  const skip = chooseSkip(sessionsOf(whole));
  await read(ODD_PAGE_STEP, { ...period, skip: String(skip), limit: String(skip + 1) });
  // Intrusive runs with a control API test the cap with more than 500 sessions instead.
  const { intrusive, hasControlApi } = context.service;
  if (!intrusive || !hasControlApi) await read(OVER_CAP, { limit: '501' });
  await read('whole again', all);
  if (hasControlApi) await readAsAnotherOwner(context, endpoint, sessionsOf(whole));
}

/**
 * Reads all sessions with another key of the same owner. No other read has the same filters, so that a
 * list without sessions does not contradict another one.
 */
async function readWithSecondKey(
  context: ServiceProbeContext,
  endpoint: ResultsEndpoint,
  { started_after: start = '' }: Query,
): Promise<void> {
  if (!context.service.hasControlApi) return;
  const query = { started_after: start, limit: '500' };
  await context.send({
    ...createResultsStep(context, endpoint, SECOND_KEY_STEP, query),
    ...context.service.secondKeyFor('main'),
  });
}

/**
 * Reads the sessions before a time without another filter. With a control API, the owner has only
 * sessions of the run, so the page can be compared with the list of its period.
 */
async function readBeforeAlone(
  context: ServiceProbeContext,
  endpoint: ResultsEndpoint,
  queries: QueryByStep,
): Promise<void> {
  const [, query] = queries.find(([step]) => step === 'started before') ?? [];
  if (!context.service.hasControlApi || !query?.['started_before']) return;
  const alone = { ...query, limit: '500' };
  await context.send(createResultsStep(context, endpoint, BEFORE_ALONE_STEP, alone));
}

/** Reads sessions as an owner who has none, without a filter and with filters that listed sessions match. */
async function readAsAnotherOwner(
  context: ServiceProbeContext,
  endpoint: ResultsEndpoint,
  sessions: readonly ResultsObject[],
): Promise<void> {
  const read = (step: ResultsStep, query: Query): Promise<Exchange | undefined> =>
    context.send(createResultsStep(context, endpoint, step, query, 'limits'));
  await read('another owner', {});
  // The name and the URL of the seeded agent contain the marker.
  const query =
    endpoint === 'production'
      ? { run: textAt(sessions[0], '/run') }
      : { agent: context.service.marker };
  await read('filter of another owner', { ...query, failed_only: 'true' });
}

/** Returns how many sessions to skip so that the last of them is surely newer than the first listed one. */
function chooseSkip(sessions: readonly ResultsObject[]): number {
  const starts = sessions.map((session) => startedAtMs(session) ?? 0);
  const index = starts.findIndex((ms, place) => ms - (starts[place + 1] ?? ms) >= SECOND_MS);
  return index < 0 ? 1 : index + 1;
}

/** How far a read skips beyond the last session, so that it stays there if some are added meanwhile. */
const BEYOND = 100;

/** With more sessions, a page of 500 might not hold those that are added during the run. */
const PERIOD_SESSIONS_MAX = 300;

/**
 * Returns the period whose sessions all reads list. Of an owner with other sessions, it starts with the
 * newest few hundred of them, and ends before those that start during the run if there are many.
 */
async function choosePeriod(
  service: ServiceContext,
  read: (step: ResultsStep, query: Query) => Promise<Exchange | undefined>,
): Promise<Query> {
  const wide = runPeriod(service);
  if (service.hasControlApi) return wide;
  for (const { started_before: before = '' } of [wide, quietPeriod(service)]) {
    const page = await read('newest', { started_before: before, limit: '500' });
    if (!page || !isAccepted(page)) return wide;
    const sessions = sessionsOf(page);
    const isWhole = !isCutOff(page) && sessions.length <= PERIOD_SESSIONS_MAX;
    if (!isWhole && before === wide['started_before']) continue;
    const starts = sessions
      .slice(0, PERIOD_SESSIONS_MAX)
      .flatMap((session) => startedAtMs(session) ?? []);
    const wideMs = instantMs(wide['started_after'] ?? '') ?? Infinity;
    // A whole second, so that a filter can name it without a fraction.
    const oldestMs = Math.floor(Math.min(...starts) / SECOND_MS - 1) * SECOND_MS;
    const afterMs = isWhole ? Math.min(wideMs, oldestMs) : oldestMs;
    return Number.isFinite(afterMs)
      ? { started_after: isoTime(afterMs), started_before: before }
      : wide;
  }
  return wide;
}

/** Returns how many sessions to page through, up to the largest page. */
const countSessions = (page: Exchange): number => {
  const total = totalOf(page);
  const { length } = sessionsOf(page);
  return Math.min(typeof total === 'number' ? Math.max(total, length) : length, 500);
};

const PAGES_MAX = 10;

/** Reads pages with a quarter of the sessions each, and more pages if sessions are added meanwhile. */
async function readPages(
  context: ServiceProbeContext,
  endpoint: ResultsEndpoint,
  period: Query,
  count: number,
): Promise<void> {
  const limit = Math.max(1, Math.ceil(count / 4));
  let total = count;
  for (let page = 0; page < PAGES_MAX && (page === 0 || page * limit < total); page++) {
    const query = { ...period, limit: String(limit), skip: String(page * limit) };
    const exchange = await context.send(createResultsStep(context, endpoint, PAGE_STEP, query));
    if (exchange) total = Math.max(total, countSessions(exchange));
  }
}

/** Reads the production results. */
export const production: ServiceProbe = {
  id: 'service/production',
  area: 'service',
  phase: 'after',
  needs: [conversations],
  cost: cost(37),
  async run(context) {
    const { hasControlApi, awaited } = context.service;
    if (hasControlApi) await drain(context);
    else if (awaited.length > 0) await waitUntilScored(context, awaited, 'other results');
    await readSessions(context, 'production');
    const { id } = createConversation(context.service, LEFT_OPEN);
    await context.send(createEndStep(context, CLOSE_OF_LEFT_OPEN, id));
  },
};

/** Reads the simulation results. */
export const simulations: ServiceProbe = {
  id: 'service/simulations',
  area: 'service',
  phase: 'after',
  cost: cost(35),
  async run(context) {
    const { service } = context;
    await readSessions(context, 'simulations');
    if (!service.hasControlApi) return;
    const query = { agent: seededAgentUrlPart(service) };
    await context.send(createResultsStep(context, 'simulations', 'agent by URL', query));
  },
};

/** Seeds more sessions than the largest page holds, and reads them. */
export const manySessions: ServiceProbe = {
  id: 'service/many',
  area: 'service',
  // After all other reads: a service that mixes up owners would list these sessions on their pages.
  phase: 'cleanup',
  intrusive: true,
  cost: cost(5),
  async run(context) {
    const { service } = context;
    if (!service.hasControlApi) return;
    const seedPath = `/seed${ownerQuery(service, 'paged')}`;
    await context.send(createControlStep('many', seedPath, seedManySessions(service)));
    for (const endpoint of resultsEndpoints) {
      await context.send(createResultsStep(context, endpoint, OVER_CAP, { limit: '501' }, 'paged'));
      await context.send(createResultsStep(context, endpoint, 'many', {}, 'paged'));
    }
  },
};
