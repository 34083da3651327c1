import { resolvePointer } from '../../../../src/contract/index.ts';
import { HOUR_MS, instantMs, isoTime, SECOND_MS } from '../../../../src/platform/clock.ts';
import { cost } from '../../../engine/probe.ts';
import { type Exchange, isAccepted } from '../../../engine/transcript/reading.ts';
import { RESENT_OFFSET_MS } from '../close/planned-conversations.ts';
import { conversations } from '../close/probes.ts';
import type { ServiceContext, ServiceProbe, ServiceProbeContext } from '../context.ts';
import {
  type NameFilter,
  type ResultsEndpoint,
  resultsEndpoints,
  objectsAt,
  type ResultsObject,
} from '../results-api.ts';
import {
  middleSessionMs,
  seedEvals,
  seededAgentName,
  seededAgentUrlPart,
  seedManySessions,
  uploadRunName,
} from '../seeds.ts';
import { createConversation } from '../spans.ts';
import type { ResultsStep, Wildcard } from '../steps.ts';
import {
  BEYOND_STEP,
  DECLINED_STEP,
  FILTERED_PAGE_STEP,
  NO_FRACTION_STEP,
  ODD_PAGE_STEP,
  OFFSET_STEP,
  OVER_CAP,
  PAGE_STEP,
  SECOND_KEY_STEP,
  TIME_AND_EVAL_STEP,
  TRACES_STEP,
} from './evidence.ts';
import { nameAndEvalStep } from './filtering.ts';
import { CLOSE_OF_LEFT_OPEN, LEFT_OPEN } from '../close/evidence.ts';
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
import { isCutOff, sessionsOf, startedAtMs, totalOf } from '../transcript.ts';

type Query = Record<string, string>;

type QueryByStep = readonly (readonly [ResultsStep, Query])[];

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

/** Reads sessions as an owner who has none, without a filter and with a filter that the listed sessions match. */
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
  await read('filter of another owner', query);
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

/** The name filter of each endpoint, and a step for values that only occur in another field. */
const nameFilters = {
  production: {
    filter: 'run',
    step: 'run by session id',
    otherField: 'source_session_id',
  },
  simulations: { filter: 'agent', step: 'agent by scenario', otherField: 'scenario' },
} as const;

/** Returns the filters to test with the listed sessions. A query with an empty value is skipped. */
function createFilterQueries(
  { service }: ServiceProbeContext,
  endpoint: ResultsEndpoint,
  sessions: readonly ResultsObject[],
  { started_after: start = '', started_before: end = '' }: Query,
): QueryByStep {
  const { filter, step, otherField } = nameFilters[endpoint];
  const runName = endpoint === 'production' ? uploadRunName(service) : seededAgentName(service);
  const listedName = textAt(sessions[0], `/${filter}`);
  const listedEval = chooseEval(sessions);
  // Another eval scored a session that fails.
  const [firstEval, secondEval] = seedEvals(service);
  const seededEval = endpoint === 'production' ? firstEval : secondEval;
  const name = trimEnds(service.hasControlApi ? runName : listedName);
  const evalName = trimEnds(service.hasControlApi ? seededEval.name : listedEval);
  const bound = chooseTimeBound(service, endpoint, sessions);
  return [
    [`${filter} none`, { [filter]: 'no such name' }],
    [nameAndEvalStep(filter), { [filter]: name, eval: 'no such eval' }],
    [filter, { [filter]: name.toUpperCase() }],
    ['eval', { eval: evalName.toUpperCase() }],
    ...createWildcardQueries(filter, name, ['%', '.']),
    ...createWildcardQueries('eval', evalName, ['%', '_']),
    [step, { [filter]: findForeignText(sessions, filter, otherField) }],
    ['eval by category', { eval: findOutcomeText(sessions, 'eval_category') }],
    ['eval by reasoning', { eval: findOutcomeText(sessions, 'reasoning') }],
    ['started after', { started_after: bound }],
    ['started before', { started_before: bound }],
    [TIME_AND_EVAL_STEP, { started_after: bound, eval: evalName }],
    [
      OFFSET_STEP,
      { started_after: withOffset(bound, 2), ...(end && { started_before: withOffset(end, -3) }) },
    ],
    [
      NO_FRACTION_STEP,
      {
        eval: evalName,
        failed_only: 'true',
        ...(start && { started_after: withoutFraction(start) }),
        ...(end && { started_before: withoutFraction(end) }),
      },
    ],
  ];
}

function textAt(session: ResultsObject | undefined, pointer: string): string {
  const value = resolvePointer(session, pointer);
  return typeof value === 'string' ? value : '';
}

/** Removes the first and last character, so that only a substring match finds the text. */
const trimEnds = (text: string): string => (text.length > 2 ? text.slice(1, -1) : text);

/** Replaces the character in the middle by wildcards, which must match only themselves. */
function createWildcardQueries(
  filter: NameFilter,
  text: string,
  wildcards: readonly Wildcard[],
): QueryByStep {
  const middle = Math.floor(text.length / 2);
  return wildcards.map((wildcard) => {
    const value =
      text.length < 2 ? '' : `${text.slice(0, middle)}${wildcard}${text.slice(middle + 1)}`;
    return [`${filter} with ${wildcard}`, { [filter]: value }];
  });
}

/** Returns a text from another field that no name contains, or an empty string. */
function findForeignText(
  sessions: readonly ResultsObject[],
  filter: NameFilter,
  otherField: string,
): string {
  const names = sessions.map((session) => textAt(session, `/${filter}`).toLowerCase());
  const isForeign = (text: string): boolean =>
    text.length > 2 && !names.some((name) => name.includes(text.toLowerCase()));
  return (
    sessions.map((session) => trimEnds(textAt(session, `/${otherField}`))).find(isForeign) ?? ''
  );
}

/** A part of a reasoning that fits in a URL. */
const TEXT_LENGTH_MAX = 40;

/** Returns a text of an outcome that no eval's name contains, or an empty string. */
function findOutcomeText(
  sessions: readonly ResultsObject[],
  field: 'eval_category' | 'reasoning',
): string {
  const outcomes = sessions.flatMap((session) => objectsAt(session, 'eval_outcomes'));
  const names = outcomes.map((outcome) => textAt(outcome, '/eval_name').toLowerCase());
  const texts = outcomes.map((outcome) =>
    trimEnds(textAt(outcome, `/${field}`))
      .slice(0, TEXT_LENGTH_MAX)
      .trim(),
  );
  const isForeign = (text: string): boolean =>
    text.length > 2 && !names.some((name) => name.includes(text.toLowerCase()));
  return texts.find(isForeign) ?? '';
}

/** Writes a time without its fraction if it is a whole second. */
const withoutFraction = (time: string): string => time.replace('.000Z', 'Z');

/** Writes a time with an offset of some hours, such as +02:00, instead of Z. */
function withOffset(time: string, hours: number): string {
  const ms = instantMs(time);
  const offset = `${hours < 0 ? '-' : '+'}0${Math.abs(hours)}:00`;
  return ms === undefined ? '' : isoTime(ms + hours * HOUR_MS).replace('Z', offset);
}

/**
 * Returns the name of an eval by which many wrong filters can be told apart: one that failed in a
 * session, is not the first of a session, and did not score every session.
 */
function chooseEval(sessions: readonly ResultsObject[]): string {
  const outcomesOf = (session: ResultsObject) => objectsAt(session, 'eval_outcomes');
  const nameOf = (outcome: ResultsObject | undefined): string => textAt(outcome, '/eval_name');
  const describe = (name: string): number => {
    const scored = sessions.filter((session) =>
      outcomesOf(session).some((outcome) => nameOf(outcome) === name),
    );
    const hasFailed = scored.some((session) =>
      outcomesOf(session).some(
        (outcome) => nameOf(outcome) === name && outcome['outcome'] !== 'pass',
      ),
    );
    const isLater = scored.some((session) => nameOf(outcomesOf(session)[0]) !== name);
    return [hasFailed, isLater, scored.length < sessions.length].filter(Boolean).length;
  };
  const names = [...new Set(sessions.flatMap(outcomesOf).map(nameOf))].filter(
    (name) => name !== '',
  );
  return names.toSorted((left, right) => describe(right) - describe(left))[0] ?? '';
}

/** A session this long has a middle that differs from its start and end in any precision. */
const LONG_SESSION_MS = 5_000;

/**
 * Returns the time for `started_after` and `started_before`. It is the exact start of a session of
 * the run if one is listed. Otherwise listed times may be rounded, so it is a time in the middle of
 * another session.
 */
function chooseTimeBound(
  service: ServiceContext,
  endpoint: ResultsEndpoint,
  sessions: readonly ResultsObject[],
): string {
  const exactMs = findExactStartMs(service, endpoint, sessions);
  if (exactMs !== undefined) return isoTime(exactMs);
  const middle = Math.floor(sessions.length / 2);
  const fromMiddle = [...sessions.slice(middle), ...sessions.slice(0, middle).reverse()];
  const [insideMs] = fromMiddle.flatMap((session) => {
    const startMs = instantMs(textAt(session, '/started_at'));
    const endMs = instantMs(textAt(session, '/ended_at'));
    const isLong =
      startMs !== undefined && endMs !== undefined && endMs - startMs > LONG_SESSION_MS;
    return isLong ? [(startMs + endMs) / 2] : [];
  });
  return insideMs === undefined ? textAt(sessions[middle], '/started_at') : isoTime(insideMs);
}

/** Returns the start of a session of the run; undefined if no such session is listed. */
function findExactStartMs(
  service: ServiceContext,
  endpoint: ResultsEndpoint,
  sessions: readonly ResultsObject[],
): number | undefined {
  if (endpoint === 'simulations') {
    return service.hasControlApi ? middleSessionMs(service) : undefined;
  }
  const { id, startMs } = createConversation(service, 're-sent', { offsetMs: RESENT_OFFSET_MS });
  return sessions.some((session) => session['source_session_id'] === id) ? startMs : undefined;
}

/** Reads the production results. */
export const production: ServiceProbe = {
  id: 'service/production',
  area: 'service',
  phase: 'after',
  needs: [conversations],
  cost: cost(36),
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
  cost: cost(34),
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
