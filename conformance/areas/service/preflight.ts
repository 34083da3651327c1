/** The requests that find out whether a service is at the address, or what else is. */
import { agentSteps } from '../../engine/preflight/agent-routes.ts';
import { cost, type Step } from '../../engine/probe.ts';
import { isNotFound, PREFLIGHT, type Exchange } from '../../engine/transcript/reading.ts';
import { createIgnoredAlone } from './close/planned-conversations.ts';
import type { ServiceProbe, ServiceProbeContext } from './context.ts';
import { encodings } from './encodings.ts';
import { createResultsStep } from './requests.ts';
import { resultsEndpoints } from './results-api.ts';
import { NO_SLASH_PATH, NO_SLASH_STEP } from './results/evidence.ts';

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
    if (!other.every(isUnknown)) return;
    await Promise.all(agentSteps.map((step) => context.send(step)));
  },
};

/**
 * Looks for other routes of a service whose reads get 404: a service may respond like this as long as it
 * has no sessions, or may know the path only without the slash at its end.
 */
async function lookForRoutes(context: ServiceProbeContext): Promise<(Exchange | undefined)[]> {
  // A span without an operation name is accepted, but changes nothing.
  const { request } = createIgnoredAlone(context.service);
  const accepted = await context.send({
    endpoint: 'traces',
    step: 'plain',
    intent: 'open',
    ...encodings.json(request),
  });
  const read = await context.send({
    ...createResultsStep(context, 'production', NO_SLASH_STEP),
    intent: 'open',
    path: NO_SLASH_PATH,
  });
  return [accepted, read];
}
