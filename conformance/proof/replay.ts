import { setImmediate } from 'node:timers/promises';
import { systemClock, type Clock } from '../../src/platform/clock.ts';
import type { Suite } from '../engine/area.ts';
import type { Probe } from '../engine/probe.ts';
import { PREFLIGHT } from '../engine/transcript/reading.ts';
import { toExchange, type Exchange, type Transcript } from '../engine/transcript/transcript.ts';
import type {
  Distortion,
  ProxyRequest,
  ProxyResponse,
  ProxyResult,
} from '../engine/mutants/mutant.ts';
import { endpointOf } from './proxy.ts';

/** A distortion that was applied to the recorded run of the unchanged peer. */
export interface Replay {
  /**
   * The probes of the exchanges that it changes, the probes that they need, and, if it changes a write,
   * the probes that depend on it. In all other probes the peer would behave like the unchanged one.
   */
  probes: readonly Probe[];
  /**
   * The recording with the changed responses; undefined if only a run can show what the distortion
   * does, such as when it changes requests, takes time, or changes nothing that is recorded.
   */
  transcript: Transcript | undefined;
}

/** Applies a distortion to the recorded run of the unchanged peer. */
export async function replay(
  distortion: Distortion,
  { probes, repeatsFailures }: Suite,
  { run, exchanges }: Transcript,
): Promise<Replay> {
  const chosen = new Set<Probe>();
  const changed = new Map<Exchange, Exchange>();
  let isFaithful = distortion.run === undefined;
  const transform = distortion.transform();
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
      transform(request, forward, clock).catch(() => 'dropped' as const),
      // A transform that waits for another request has no result yet when the event loop turns.
      setImmediate('dropped' as const),
    ]);
    const wasForwarded = forwarded.map(requestText).join() === requestText(request);
    const isTimely = !hasSlept();
    if (wasForwarded && isTimely && resultText(result) === resultText(response)) continue;
    const isRecordable = (wasForwarded || forwarded.length === 0) && isTimely;
    const isRepeated = result !== 'dropped' && mayBeRepeated(result, repeatsFailures);
    const replayed = isRecordable && !isRepeated ? replaceResponse(exchange, result) : undefined;
    if (replayed) changed.set(exchange, replayed);
    else isFaithful = false;
    for (const probe of findTouchedProbes(probes, exchange)) chosen.add(probe);
  }
  for (const { needs = [] } of [...chosen]) for (const probe of needs) chosen.add(probe);
  return {
    probes: [...chosen],
    transcript:
      isFaithful && changed.size > 0
        ? { run, exchanges: exchanges.map((exchange) => changed.get(exchange) ?? exchange) }
        : undefined,
  };
}

/** Returns the probes that can see a change to an exchange of the recorded run. */
function findTouchedProbes(
  probes: readonly Probe[],
  { probe: sender, request }: Exchange,
): readonly Probe[] {
  // What the preflight finds decides about everything that follows.
  if (sender === PREFLIGHT) return probes;
  const isWrite = request.method !== 'GET';
  return probes.filter(
    ({ id, needs }) => id === sender || (isWrite && needs?.some((need) => need.id === sender)),
  );
}

/** Whether a run may send a request again after a response. */
const mayBeRepeated = ({ status }: ProxyResponse, repeatsFailures: boolean): boolean =>
  status === 429 || (repeatsFailures && status >= 500);

/** Returns the exchange with another response; undefined if a recording does not show all of it. */
function replaceResponse(exchange: Exchange, result: ProxyResult): Exchange | undefined {
  if (result === 'dropped') return undefined;
  const { status, headers, body, bytes, reason, framing } = result;
  const isSentAsIs = status !== 204 && !bytes && reason === undefined && !framing;
  if (!isSentAsIs) return undefined;
  const { json, sent, response, ...record } = exchange;
  const names = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]);
  return toExchange({
    ...record,
    response: { status, headers: Object.fromEntries(names) as Record<string, string>, body },
  });
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

const resultText = (result: ProxyResult): string => JSON.stringify(result);
