import { SERVICE_API_KEY_HEADER } from '../../../../src/contract/index.ts';
import { checkEach, unjudgedAs, type Check } from '../../../engine/checks/check.ts';
import { type Exchange, toPrintable, type Transcript } from '../../../engine/transcript/reading.ts';
import { requestFinding } from '../findings.ts';
import { isRead } from '../results/reads.ts';
import type { requestRequirements } from './requirements.ts';

const NO_REQUEST = unjudgedAs('not_observed', 'The client sent no request to the interface.');

/** Returns whether a request has logs or metrics, whose exporters use the same base URL. */
const isOtherSignal = ({ request }: Exchange): boolean =>
  /^\/v1\/(logs|metrics)(\?|$)/.test(request.path);

/** Returns whether a request is one that browsers and HTTP clients send on their own initiative. */
const isIncidental = ({ request }: Exchange): boolean =>
  ['HEAD', 'OPTIONS'].includes(request.method) || request.path === '/favicon.ico';

/** Returns whether a request is, or was probably meant to be, a request to the interface. */
export const isForInterface = (exchange: Exchange): boolean =>
  !isOtherSignal(exchange) && !isIncidental(exchange);

const isKnown = ({ endpoint }: Exchange): boolean => endpoint !== 'elsewhere';

const keyHeaderOf = ({ run }: Transcript): string => run.apiKeyHeader ?? SERVICE_API_KEY_HEADER;

const sendsKey = ({ request }: Exchange, transcript: Transcript): boolean =>
  (request.headers[keyHeaderOf(transcript)] ?? '') !== '';

const pathOf = ({ request }: Exchange): string => request.path.replace(/\?.*$/s, '');

/** Suggests the route that the client probably meant. */
function suggestRoute(exchange: Exchange): string | undefined {
  const path = pathOf(exchange).toLowerCase();
  if (/\/v1\/v1\//.test(path)) return 'Remove /v1 from the base URL: the path already contains it.';
  if (path.startsWith('/v1/traces')) return 'Traces go to POST /v1/traces.';
  if (path.includes('trace')) return 'Traces go to POST /v1/traces. Check the base URL.';
  if (/\/(end|close)\/?$/.test(path) || path.includes('/sessions/')) {
    return 'A conversation ends with POST /v1/sessions/{conversation_id}/end. Percent-encode the id.';
  }
  if (path.includes('prod'))
    return 'Production results are at GET /api/prod-evaluations/sessions/.';
  if (path.includes('simulation'))
    return 'Simulation results are at GET /api/simulations/sessions/.';
  return undefined;
}

/** The checks of all requests. */
export const requestChecks: Readonly<Record<keyof typeof requestRequirements, Check>> = {
  'CLIENT-001': checkEach(
    isKnown,
    (exchange, transcript) => {
      if (sendsKey(exchange, transcript)) return [];
      const header = keyHeaderOf(transcript);
      const isBearer = exchange.request.headers['authorization'] !== undefined;
      return [
        requestFinding(
          exchange,
          `the header ${header} with the key`,
          isBearer ? 'only an Authorization header' : 'no such header',
          isBearer
            ? `The service reads the key only from ${header}.`
            : `Set the header, for example with OTEL_EXPORTER_OTLP_HEADERS=${header}=KEY.`,
        ),
      ];
    },
    NO_REQUEST,
  ),
  'CLIENT-002': checkEach(
    (exchange, transcript) => isKnown(exchange) && sendsKey(exchange, transcript),
    (exchange) =>
      [401, 403].includes(exchange.response?.status ?? 0)
        ? [
            requestFinding(
              exchange,
              'a key that the service accepts',
              `${exchange.response?.status ?? 'no response'}: the key is unknown`,
              'Read the key from SANDBOX_KIT_SERVICE_API_KEY or OTEL_EXPORTER_OTLP_HEADERS.',
            ),
          ]
        : [],
    unjudgedAs('not_observed', 'No request has the API key header.'),
  ),
  'CLIENT-003': checkEach(
    isForInterface,
    (exchange) =>
      isKnown(exchange)
        ? []
        : [
            requestFinding(
              exchange,
              'a path and a method of the interface',
              `${exchange.request.method} ${toPrintable(pathOf(exchange))}`,
              suggestRoute(exchange),
            ),
          ],
    NO_REQUEST,
  ),
  'CLIENT-004': checkEach(
    isRead,
    (exchange) => {
      const path = pathOf(exchange);
      return path.endsWith('/') ? [] : [requestFinding(exchange, `${path}/`, path)];
    },
    unjudgedAs('not_observed', 'The client read no results.'),
  ),
};
