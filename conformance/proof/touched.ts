import { systemClock, type Clock } from '../../src/platform/clock.ts';
import { serviceProbes, type Probe } from '../areas/probes.ts';
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
export async function findTouchedProbes(one: Mutant, { exchanges }: Transcript): Promise<string[]> {
  const chosen = new Set(one.intrusive ? intrusiveOf(one).map(({ id }) => id) : []);
  const transform = one.transform();
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
    chosen.add(exchange.probe);
    if (exchange.request.method !== 'GET') addAll(chosen, restingOn(exchange.probe));
  }
  // What the preflight finds, all that follows goes by.
  if (chosen.has(PREFLIGHT)) return serviceProbes.map(({ id }) => id);
  for (const id of [...chosen]) addAll(chosen, neededBy(id));
  return [...chosen];
}

/** An intrusive run has parts that the untouched one has not: those that show what is killed. */
function intrusiveOf({ kills }: Mutant): Probe[] {
  return serviceProbes.filter(
    ({ intrusive, exercises }) => intrusive && kills.some((id) => exercises.includes(id)),
  );
}

const neededBy = (id: string): readonly string[] =>
  serviceProbes.find((one) => one.id === id)?.needs ?? [];

const restingOn = (id: string): string[] =>
  serviceProbes.filter(({ needs }) => needs?.includes(id)).map((one) => one.id);

function addAll(set: Set<string>, ids: readonly string[]): void {
  for (const id of ids) set.add(id);
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
