import { resolvePointer, type ObservedBehaviors } from '../../../src/contract/index.ts';
import type { Exchange, Transcript } from '../../engine/transcript/reading.ts';
import { observeAuthentication } from './authentication/observed.ts';
import { observeClose } from './close/observed.ts';
import { observeIngest } from './ingest/observed.ts';
import { observeLateSpans } from './late/observed.ts';
import { observeResults } from './results/observed.ts';

function describeBody({ response, json }: Exchange): string {
  if ((response?.body ?? '') === '') return 'empty';
  return typeof resolvePointer(json, '/message') === 'string' ? '{message}' : 'another body';
}

/** Returns the bodies of errors; the specification shows only the one of 400. */
function observeErrorBodies({ exchanges }: Transcript): ObservedBehaviors {
  const behaviors: ObservedBehaviors = {};
  for (const status of [401, 403, 404, 413, 415, 429]) {
    const bodies = exchanges
      .filter(({ endpoint, response }) => response?.status === status && endpoint !== 'admin')
      .map(describeBody);
    if (bodies.length > 0) behaviors[`body of ${status}`] = [...new Set(bodies)].join(', ');
  }
  return behaviors;
}

/** Returns what the service does where the specification is silent. */
export const observeService = (transcript: Transcript): ObservedBehaviors => ({
  ...observeIngest(transcript),
  ...observeAuthentication(transcript),
  ...observeClose(transcript),
  ...observeLateSpans(transcript),
  ...observeResults(transcript),
  ...observeErrorBodies(transcript),
});
