import { systemClock, type Clock } from '../../src/platform/clock.ts';
import { service } from '../areas/service/index.ts';
import type { Probe } from '../engine/probe.ts';
import { PREFLIGHT } from '../engine/transcript/reading.ts';
import type { Exchange, Transcript } from '../engine/transcript/transcript.ts';
import type { ProxyResponse, ProxyRequest, Mutant } from '../engine/mutants/mutant.ts';
import { endpointOf } from './proxy.ts';

/** How long a transform may hold a recorded answer back before it counts as changed. */
const HELD_MS_MAX = 200;

/**
 * The scenarios of the service that a run must drive to see a mutant: those in which it changes
 * an exchange of the untouched run, what they need, and, where it changes what is written, what
 * rests on that. In all others the service would say what it said untouched.
 */
export async function findTouchedProbes(
  mutant: Mutant,
  { exchanges }: Transcript,
): Promise<Probe[]> {
  const chosen = new Set(mutant.intrusive ? intrusiveProbesOf(mutant) : []);
  const transform = mutant.transform();
  const { clock, waits } = impatientClock();
  for (const exchange of exchanges) {
    if (!exchange.response) continue;
    const asked = askedOf(exchange);
    const answer = answerOf(exchange.response);
    const passedOn: ProxyRequest[] = [];
    const forward = (passed: ProxyRequest): Promise<ProxyResponse> => {
      passedOn.push(passed);
      return Promise.resolve(structuredClone(answer));
    };
    const reply = await Promise.race([
      transform(asked, forward, clock),
      systemClock.sleep(HELD_MS_MAX).then(() => 'dropped' as const),
    ]);
    const isSame = passedOn.map(askedText).join() === askedText(asked);
    if (isSame && !waits() && replyText(reply) === replyText(answer)) continue;
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

/** Waits for nothing, and tells whether it was asked to since it was asked last. */
function impatientClock(): { clock: Clock; waits: () => boolean } {
  let waited = false;
  return {
    clock: {
      ...systemClock,
      sleep() {
        waited = true;
        return Promise.resolve();
      },
    },
    waits() {
      const was = waited;
      waited = false;
      return was;
    },
  };
}

function askedOf({ request, sent }: Exchange): ProxyRequest {
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

const answerOf = ({ status, headers, body }: ProxyResponse): ProxyResponse => ({
  status,
  headers,
  body,
});

const askedText = ({ method, path, headers, body }: ProxyRequest): string =>
  JSON.stringify([method, path, headers, body]);

const replyText = (reply: ProxyResponse | 'dropped'): string => JSON.stringify(reply);
