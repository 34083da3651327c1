import type { ExpectedSession, OwnerName, ServiceContext, ServiceProbeContext } from './context.ts';
import { type ResultsEndpoint, resultsPaths, sessionsIn } from './results-api.ts';
import type { EndStep, ResultsStep, TracesStep } from './steps.ts';
import { isBeyond, isCutOff } from './transcript.ts';
import { encodings, type Encoding } from './encodings.ts';
import type { Conversation, TraceExport } from './spans.ts';
import type { Step } from '../../engine/probe.ts';
import { type Exchange, isAccepted } from '../../engine/transcript/reading.ts';
import { resolvePointer } from '../../../src/contract/index.ts';
import { DAY_MS, isoTime, HOUR_MS } from '../../../src/platform/clock.ts';

/** Creates a trace request that the service must accept. */
export function createTracesStep(
  { service }: ServiceProbeContext,
  step: TracesStep,
  request: TraceExport,
  { encoding = 'json', owner = 'main' }: { encoding?: Encoding; owner?: OwnerName } = {},
): Step {
  return {
    endpoint: 'traces',
    step,
    intent: 'valid',
    ...encodings[encoding](request),
    ...service.keyFor(owner),
  };
}

/** Creates an end call that the service must accept. */
export function createEndStep(
  { service }: ServiceProbeContext,
  step: EndStep,
  conversationId: string,
  owner: OwnerName = 'main',
): Step {
  return {
    endpoint: 'end',
    step,
    intent: 'valid',
    path: encodeURIComponent(conversationId),
    ...service.keyFor(owner),
  };
}

/** Creates a read of results that the service must answer. */
export function createResultsStep(
  { service }: ServiceProbeContext,
  endpoint: ResultsEndpoint,
  step: ResultsStep,
  query: Record<string, string> = {},
  owner: OwnerName = 'main',
): Step {
  const search = new URLSearchParams(query).toString();
  return {
    endpoint,
    step,
    intent: 'valid',
    path: search === '' ? resultsPaths[endpoint] : `${resultsPaths[endpoint]}?${search}`,
    ...service.keyFor(owner),
  };
}

/** Creates a request to the control API, which is not part of the specified interface. */
export function createControlStep(
  step: string,
  path: string,
  json?: unknown,
  method?: Step['method'],
): Step {
  return {
    endpoint: 'admin',
    step,
    intent: 'open',
    path,
    ...(json === undefined ? {} : { body: { json } }),
    ...(method === undefined ? {} : { method }),
  };
}

/** Waits until the service has run all queued evals. */
export const drain = (context: ServiceProbeContext): Promise<Exchange | undefined> =>
  context.send(createControlStep('drain', '/drain'));

/** Returns a request that is one edit away from an accepted one and must be refused. */
export const createRefusedStep = (
  control: Exchange,
  request: Step,
  edit: Partial<Step<TracesStep | EndStep>>,
): Step => ({
  ...request,
  ...edit,
  intent: 'refuse',
  control,
});

/** Returns the query that makes a control request apply to an owner. */
export const ownerQuery = (service: ServiceContext, owner: OwnerName): string =>
  `?owner=${encodeURIComponent(service.ownerId(owner))}`;

/** Returns the query for the period when all conversations of the run start. */
export function runPeriod({ baseMs }: ServiceContext): Record<string, string> {
  return {
    started_after: isoTime(baseMs - 4 * DAY_MS),
    started_before: isoTime(baseMs + HOUR_MS),
  };
}

/** After the start of the last conversation that is closed, with a margin for rounded times. */
const LAST_START_OFFSET_MS = 16_000;

/** Returns the period of the run without the newer sessions that others may add meanwhile. */
export const quietPeriod = (service: ServiceContext): Record<string, string> => ({
  ...runPeriod(service),
  started_before: isoTime(service.baseMs + LAST_START_OFFSET_MS),
});

/** Returns the session to expect after a close; an empty list if the close queued no evals. */
export function expectedSessions(
  { id, startMs }: Pick<Conversation, 'id' | 'startMs'>,
  close: Exchange | undefined,
): ExpectedSession[] {
  const queued = close && isAccepted(close) && resolvePointer(close.json, '/evaluations_queued');
  return typeof queued === 'number' && queued > 0 ? [{ id, evaluations: queued, startMs }] : [];
}

const FIRST_PAUSE_MS = 250;
const PAUSE_MS_MAX = 1_000;
const PAUSE_GROWTH = 1.3;
const TOTAL_WAIT_MS_MAX = 10_000;
const POLLS_MAX = 40;

/** Polls the production results until every expected session is scored, for at most 10 s. */
export async function waitUntilScored(
  context: ServiceProbeContext,
  expected: readonly ExpectedSession[],
  step: ResultsStep = 'results',
  owner: OwnerName = 'main',
): Promise<void> {
  const startMs = context.service.monotonicMs();
  let query = { ...runPeriod(context.service), include_traces: 'true', limit: '500' };
  let pauseMs = FIRST_PAUSE_MS;
  for (let polls = 0; polls < POLLS_MAX; polls++) {
    const page = await context.send(createResultsStep(context, 'production', step, query, owner));
    const isLate = context.service.monotonicMs() - startMs > TOTAL_WAIT_MS_MAX;
    if (!page || !isAccepted(page) || isLate || hasAllScores(page, expected)) return;
    if (isCutOff(page)) query = { ...query, ...quietPeriod(context.service) };
    await context.service.pause(pauseMs);
    pauseMs = Math.min(PAUSE_MS_MAX, pauseMs * PAUSE_GROWTH);
  }
}

function hasAllScores(page: Exchange, expected: readonly ExpectedSession[]): boolean {
  const counts = new Map(
    sessionsIn(page.json).map((session) => [
      session['source_session_id'],
      resolvePointer(session, '/outcome_summary/total_evaluations'),
    ]),
  );
  return expected.every(({ id, evaluations, startMs }) => {
    const count = counts.get(id);
    return typeof count === 'number' ? count >= evaluations : isBeyond(page, startMs);
  });
}

/** Advances the service clock; returns false if the service has no clock that can be advanced. */
export async function advanceClock(
  context: ServiceProbeContext,
  step: string,
  ms: number,
): Promise<boolean> {
  const { service } = context;
  if (!service.hasControlApi) return false;
  const response = await context.send(createControlStep(step, '/clock', { advance_ms: ms }));
  if (!response || !isAccepted(response)) return false;
  service.clockAdvancedMs += ms;
  return true;
}
