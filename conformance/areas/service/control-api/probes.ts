import { IGNORED_ALONE } from '../close/evidence.ts';
import { conversations, IGNORED_SPAN } from '../close/probes.ts';
import { resolvePointer } from '../../../../src/contract/index.ts';
import { isObject } from '../../../../src/platform/json.ts';
import { endpointRoutes } from '../../../engine/endpoint-routes.ts';
import { cost, type Step } from '../../../engine/probe.ts';
import {
  PREFLIGHT,
  isAccepted,
  isNotFound,
  type Exchange,
} from '../../../engine/transcript/reading.ts';
import {
  ownerNames,
  type OwnerName,
  type ServiceProbe,
  type ServiceProbeContext,
} from '../context.ts';
import { resultsEndpoints } from '../results-api.ts';
import {
  createConversation,
  createSiblingSpan,
  createTraceExport,
  encodings,
  stringAttribute,
} from '../spans.ts';
import { seedOwner, uploadedTranscript } from '../seeds.ts';
import { createControlStep, createResultsStep, drain, ownerQuery } from '../requests.ts';
import { NO_SLASH_PATH, NO_SLASH_STEP } from '../results/evidence.ts';
import { SEEDED_KEY_STEP } from '../transcript.ts';

/** Sends one plain request to each route, to find out whether a service is at the address. */
export const preflight: ServiceProbe = {
  id: PREFLIGHT,
  area: 'service',
  phase: 'preflight',
  cost: cost(5),
  async run(context) {
    const reads = resultsEndpoints.map((endpoint): Step => ({
      endpoint,
      step: 'plain',
      intent: 'valid',
    }));
    // If only the results endpoints are broken, that is a finding and the run continues.
    const unknownId = `sk-${context.service.marker}-nobody`;
    const end: Step = {
      endpoint: 'end',
      step: 'plain',
      intent: 'open',
      path: unknownId,
    };
    const sent = await Promise.all([...reads, end].map((request) => context.send(request)));
    const isUnknown = (exchange: Exchange | undefined): boolean =>
      exchange !== undefined && isNotFound(exchange);
    if (!sent.every(isUnknown)) return;
    const other = await lookForRoutes(context);
    if (other.every(isUnknown)) await lookForAgent(context);
  },
};

/**
 * Looks for other routes of a service whose reads get 404: a service may respond like this as long as it
 * has no sessions, or may know the path only without the slash at its end.
 */
async function lookForRoutes(context: ServiceProbeContext): Promise<(Exchange | undefined)[]> {
  const { service } = context;
  const conversation = createConversation(service, IGNORED_ALONE);
  // A span without an operation name is accepted, but changes nothing.
  const ignored = createSiblingSpan(service, conversation, IGNORED_SPAN, [
    stringAttribute('gen_ai.conversation.id', conversation.id),
  ]);
  const accepted = await context.send({
    endpoint: 'traces',
    step: 'plain',
    intent: 'open',
    ...encodings.json(createTraceExport([ignored])),
  });
  const read = await context.send({
    ...createResultsStep(context, 'production', NO_SLASH_STEP),
    intent: 'open',
    path: NO_SLASH_PATH,
  });
  return [accepted, read];
}

/** Looks for the routes of an agent where no route of a service is known, to name the cause. */
async function lookForAgent(context: ServiceProbeContext): Promise<void> {
  const { health, chat } = endpointRoutes;
  const elsewhere = { endpoint: 'elsewhere', intent: 'open' } as const;
  // Without a message, no request reaches a model.
  const body = { json: { messages: [] } };
  await Promise.all([
    context.send({ ...elsewhere, step: 'health of an agent', method: 'GET', path: health.path }),
    context.send({ ...elsewhere, step: 'chat of an agent', path: chat.path, body }),
  ]);
}

/** Looks for a control API and, if there is one, creates the owners of the run. */
export const controlSetup: ServiceProbe = {
  id: 'service/control',
  area: 'service',
  phase: 'preflight',
  cost: cost(ownerNames.length + 4),
  async run(context) {
    const health = await context.send(createControlStep('health', '/health', undefined, 'GET'));
    // A single-page application returns HTML for every path, so the body must be JSON.
    if (!health || !isAccepted(health) || !isObject(health.json)) return;
    const { service } = context;
    service.hasControlApi = true;
    const isCreated = await Promise.all(ownerNames.map((name) => createOwner(context, name)));
    // A service that responds to unknown paths with JSON and 200 has not created the owners.
    const read = isCreated.every(Boolean)
      ? await context.send({
          ...createResultsStep(context, 'production', SEEDED_KEY_STEP),
          intent: 'open',
        })
      : undefined;
    service.hasControlApi = read !== undefined && isAccepted(read);
    if (!service.hasControlApi) return;
    const evalPath = `/evals/parcel${ownerQuery(service, 'deleted')}`;
    const uploadPath = `/transcripts${ownerQuery(service, 'main')}`;
    await Promise.all([
      context.send(createControlStep('delete an eval', evalPath, undefined, 'DELETE')),
      context.send(createControlStep('upload', uploadPath, uploadedTranscript(service))),
    ]);
  },
};

async function createOwner(context: ServiceProbeContext, name: OwnerName): Promise<boolean> {
  const { service } = context;
  const keys = [
    service.keyFor(name),
    // The rate is limited for each key, also of one owner, and each key sees the same sessions.
    ...(name === 'rate' || name === 'main' ? [service.secondKeyFor(name)] : []),
  ].flatMap(({ key }) => (typeof key === 'object' ? [{ key: key.own }] : []));
  if (keys.length === 0) return false;
  const document = { keys, ...seedOwner(service, name) };
  const path = `/seed${ownerQuery(service, name)}`;
  const response = await context.send(createControlStep(`make ${name}`, path, document));
  return response !== undefined && isAccepted(response);
}

/** Reads the service's ingest log, for people who study a recording. No check uses it. */
export const ingestLog: ServiceProbe = {
  id: 'service/log',
  area: 'service',
  phase: 'after',
  needs: [conversations],
  cost: cost(1),
  async run(context) {
    const { service } = context;
    if (!service.hasControlApi) return;
    const path = `/ingest-log${ownerQuery(service, 'main')}`;
    await context.send(createControlStep('ingest log', path, undefined, 'GET'));
  },
};

/** The step that sets the service clock back to real time. */
export const CLOCK_RESET_STEP = 'clock put back';

/**
 * Sets the service clock back by as much as the run advanced it, and keeps any other offset. It also
 * runs after an interruption.
 */
export const clockReset: ServiceProbe = {
  id: 'service/clock',
  area: 'service',
  phase: 'end',
  intrusive: true,
  cleansUp: true,
  cost: cost(3),
  async run(context) {
    const { service } = context;
    if (service.clockAdvancedMs === 0) return;
    // Scoring that is due now would otherwise be due a day after the reset.
    await drain(context);
    const clock = await context.send(
      createControlStep('clock as moved', '/clock', undefined, 'GET'),
    );
    const nowMs = resolvePointer(clock?.json, '/now_ms');
    if (typeof nowMs !== 'number') return;
    const resetMs = nowMs - service.clockAdvancedMs;
    await context.send(createControlStep(CLOCK_RESET_STEP, '/clock', { set_ms: resetMs }, 'PUT'));
  },
};
