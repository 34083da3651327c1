import { defineArea } from '../../engine/area.ts';
import type { Check } from '../../engine/checks/check.ts';
import { serviceEndpoints } from '../../engine/checks/route-names.ts';
import type { BlockingCause } from '../../engine/preflight/blocking-cause.ts';
import type { Transcript } from '../../engine/transcript/transcript.ts';
import { closeChecks } from './close/checks.ts';
import { listNotices } from './notices.ts';
import { observeClient } from './observed.ts';
import { isForInterface, requestChecks } from './requests/checks.ts';
import { clientRequirements, type ClientRequirementId } from './requirements.ts';
import { resultsChecks } from './results/checks.ts';
import { retryChecks } from './retries/checks.ts';
import { tracesChecks } from './traces/checks.ts';

const checks: Readonly<Record<ClientRequirementId, Check>> = {
  ...requestChecks,
  ...tracesChecks,
  ...retryChecks,
  ...closeChecks,
  ...resultsChecks,
};

/** A client of the service (spec area A). The evidence is the recording of the service. */
export const client = defineArea({
  name: 'client',
  endpoints: [...serviceEndpoints, 'elsewhere'],
  requirements: clientRequirements,
  checks,
  probes: [],
  observe: observeClient,
  notices: listNotices,
});

/** Returns the cause that blocks the judgment of a client that sent no request. */
export function findSilence({ run, exchanges }: Transcript): BlockingCause | undefined {
  if (exchanges.some(isForInterface)) return undefined;
  const [evidence] = exchanges;
  return {
    id: 'no_requests',
    message: `The client sent no request to the service at ${run.target}.`,
    cure: 'Read the URL from SANDBOX_KIT_SERVICE_URL or OTEL_EXPORTER_OTLP_ENDPOINT, and flush the exporter before the process ends.',
    evidence,
  };
}
