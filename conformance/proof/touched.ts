import { systemClock, type Clock } from '../../src/platform/clock.ts';
import { service } from '../areas/service/index.ts';
import type { Probe } from '../engine/probe.ts';
import { PREFLIGHT } from '../engine/transcript/reading.ts';
import type { Exchange, Transcript } from '../engine/transcript/transcript.ts';
import type { ProxyResponse, ProxyRequest, Mutant } from '../engine/mutants/mutant.ts';
import { endpointOf } from './proxy.ts';

/** A transform that takes longer to answer a recorded exchange counts as a change. */
const TRANSFORM_MS_MAX = 200;

/**
 * Returns the probes that can see a mutant of the service. The mutant is applied to the recorded run
 * of the unchanged service. Selected are the probes of the exchanges that it changes, the probes that
 * they need, and, if it changes a write, the probes that depend on it. In all other probes the mutant
 * would behave like the unchanged service.
 */
export async function findTouchedProbes(
  mutant: Mutant,
  { exchanges }: Transcript,
): Promise<Probe[]> {
  const chosen = new Set(mutant.intrusive ? intrusiveProbesOf(mutant) : []);
  const transform = mutant.transform();
  const { clock, hasSlept } = createSleeplessClock();
  for (const exchange of exchanges) {
    if (!exchange.response) continue;
    const request = toProxyRequest(exchange);
    const response = toProxyResponse(exchange.response);
    const forwarded: ProxyRequest[] = [];
    const forward = (request: ProxyRequest): Promise<ProxyResponse> => {
      forwarded.push(request);
      return Promise.resolve(structuredClone(response));
    };
    const result = await Promise.race([
      transform(request, forward, clock),
      systemClock.sleep(TRANSFORM_MS_MAX).then(() => 'dropped' as const),
    ]);
    const isSame = forwarded.map(requestText).join() === requestText(request);
    if (isSame && !hasSlept() && resultText(result) === resultText(response)) continue;
    // What the preflight finds decides about everything that follows.
    if (exchange.probe === PREFLIGHT) return [...service.probes];
    for (const probe of service.probes) {
      const isSender = probe.id === exchange.probe;
      const isDependent = probe.needs?.some(({ id }) => id === exchange.probe) ?? false;
      const isWrite = exchange.request.method !== 'GET';
      if (isSender || (isDependent && isWrite)) chosen.add(probe);
    }
  }
  for (const { needs = [] } of [...chosen]) for (const probe of needs) chosen.add(probe);
  return [...chosen];
}

/** Returns the probes that only an intrusive run has and that show what a mutant breaks. */
function intrusiveProbesOf({ kills }: Mutant): Probe[] {
  return service.probes.filter(
    ({ intrusive, exercises }) => intrusive && kills.some((id) => exercises.includes(id)),
  );
}

/** Creates a clock that never sleeps. `hasSlept` tells whether a sleep was requested since the last call. */
function createSleeplessClock(): { clock: Clock; hasSlept: () => boolean } {
  let isSleepRequested = false;
  return {
    clock: {
      ...systemClock,
      sleep() {
        isSleepRequested = true;
        return Promise.resolve();
      },
    },
    hasSlept() {
      const result = isSleepRequested;
      isSleepRequested = false;
      return result;
    },
  };
}

function toProxyRequest({ request, sent }: Exchange): ProxyRequest {
  const { method, path, headers, body = '', bodyBase64 } = request;
  return {
    endpoint: endpointOf(method, path),
    method,
    path,
    headers,
    body,
    bytes: Buffer.from(bodyBase64 ?? body, bodyBase64 === undefined ? 'utf8' : 'base64'),
    json: sent,
    connection: {},
  };
}

const toProxyResponse = ({ status, headers, body }: ProxyResponse): ProxyResponse => ({
  status,
  headers,
  body,
});

const requestText = ({ method, path, headers, body }: ProxyRequest): string =>
  JSON.stringify([method, path, headers, body]);

const resultText = (result: ProxyResponse | 'dropped'): string => JSON.stringify(result);
