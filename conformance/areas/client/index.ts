import { createArea } from '../../engine/area.ts';
import { serviceEndpoints } from '../../engine/checks/route-names.ts';
import type { BlockingCause } from '../../engine/preflight/blocking-cause.ts';
import type { Transcript } from '../../engine/transcript/transcript.ts';
import { conversationIds } from './conversation-ids.ts';
import { endCalls } from './end-calls.ts';
import { lostSpans } from './lost-spans.ts';
import { modelCalls } from './model-calls.ts';
import { listNotices } from './notices.ts';
import { observeClient } from './observed.ts';
import { pages } from './pages.ts';
import { queries } from './queries.ts';
import { isForInterface, requests } from './requests.ts';
import { retries } from './retries.ts';
import { spans } from './spans.ts';
import { toolCalls } from './tool-calls.ts';
import { turnTexts } from './turn-texts.ts';
import { traceRequests } from './trace-requests.ts';

/** A client of the service (spec area A). The evidence is the recording of the service. */
export const client = createArea({
  name: 'client',
  endpoints: [...serviceEndpoints, 'elsewhere'],
  subjects: [
    ...[requests, traceRequests, conversationIds, spans, modelCalls, turnTexts, toolCalls],
    ...[lostSpans, retries, endCalls, queries, pages],
  ],
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
