import { isoTime } from '../../../src/platform/clock.ts';
import type { Step } from '../../engine/probe.ts';
import type { Exchange } from '../../engine/transcript/transcript.ts';
import type { OwnerName, ServiceContext, ServiceProbeContext } from './context.ts';
import { resultsPaths, type ResultsEndpoint } from './results-api.ts';
import { encodings, type Encoding, type TraceExport } from './spans.ts';
import type { ControlStep, EndStep, ResultsStep, ServiceStep, TracesStep } from './steps.ts';

/** Creates a trace request that the service must accept. */
export function createTracesStep(
  { service }: ServiceProbeContext,
  step: TracesStep,
  request: TraceExport,
  { encoding = 'json', owner = 'main' }: { encoding?: Encoding; owner?: OwnerName } = {},
): Step<TracesStep> {
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
): Step<EndStep> {
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
): Step<ResultsStep> {
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
  step: ControlStep,
  path: string,
  json?: unknown,
  method?: Step['method'],
): Step<ControlStep> {
  return {
    endpoint: 'admin',
    step,
    intent: 'open',
    path,
    ...(json === undefined ? {} : { body: { json } }),
    ...(method === undefined ? {} : { method }),
  };
}

/** Returns a request that is one edit away from an accepted one and must be refused. */
export function createRefusedStep<Name extends ServiceStep>(
  control: Exchange,
  request: Step<Name>,
  edit: Partial<Step<Name>>,
): Step<Name> {
  return { ...request, ...edit, intent: 'refuse', control };
}

/** Returns the query that makes a control request apply to an owner. */
export const ownerQuery = (service: ServiceContext, owner: OwnerName): string =>
  `?owner=${encodeURIComponent(service.ownerId(owner))}`;

const DAY_MS = 86_400_000;

/** Returns the query for the period in which all conversations of the run start. */
export function runPeriod({ baseMs }: ServiceContext): Record<string, string> {
  return {
    started_after: isoTime(baseMs - 4 * DAY_MS),
    started_before: isoTime(baseMs + DAY_MS / 24),
  };
}
