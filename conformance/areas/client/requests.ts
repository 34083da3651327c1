/** What every request needs: the key, and a route of the interface (spec 4, 5, 9). */
import { SERVICE_API_KEY_HEADER } from '../../../src/contract/index.ts';
import { REDACTED } from '../../../src/platform/redaction.ts';
import { changeRequest, to, withBody } from '../../engine/mutants/combinators.ts';
import type { Subject } from '../../engine/requirement.ts';
import { type Exchange, toPrintable, type Transcript } from '../../engine/transcript/reading.ts';
import { checkRequests, notObserved } from './checks.ts';
import { isRead, NO_READ } from './queries.ts';
import { secondBatch } from './reference.ts';
import { changePath, sendBefore, setHeaders, withHeaders, withoutHeader } from './transforms.ts';

const NO_REQUEST = notObserved('The client sent no request to the interface.');
const REFUSED = 'The service refuses the request, and its spans or results are lost.';

const production = to('production');

export const requests: Subject = {
  requirements: {
    'CLIENT-001': {
      rule: 'Every request carries the API key header.',
      section: '5',
      statements: ['4.1.2', '4.2.3', '5.a1'],
      reason: REFUSED,
      check: checkRequests(isKnown, NO_REQUEST, (exchange, transcript) => {
        if (sendsKey(exchange, transcript)) return undefined;
        const header = keyHeaderOf(transcript);
        const isBearer = exchange.request.headers['authorization'] !== undefined;
        return {
          expected: `the header ${header} with the key`,
          received: isBearer ? 'only an Authorization header' : 'no such header',
          hint: isBearer
            ? `The service reads the key only from ${header}.`
            : `Set the header, for example with OTEL_EXPORTER_OTLP_HEADERS=${header}=KEY, or with curl -H '${header}: KEY' (a colon, not =).`,
        };
      }),
      mutants: {
        'no-key': {
          description: 'Sends no key when it reads results.',
          transform: changeRequest(production, (request) =>
            withoutHeader(request, SERVICE_API_KEY_HEADER),
          ),
        },
        'bearer-key': {
          description: 'Sends the key as a bearer token when it reads results.',
          transform: changeRequest(production, (request) =>
            withHeaders(withoutHeader(request, SERVICE_API_KEY_HEADER), {
              authorization: `Bearer ${request.headers[SERVICE_API_KEY_HEADER] ?? ''}`,
            }),
          ),
        },
      },
    },
    'CLIENT-002': {
      rule: 'The API key header contains a key that the service accepts.',
      statements: ['5.a1'],
      reason: REFUSED,
      check: checkRequests(
        (exchange, transcript) => isKnown(exchange) && sendsKey(exchange, transcript),
        notObserved('No request has the API key header.'),
        ({ response }) =>
          [401, 403].includes(response?.status ?? 0)
            ? {
                expected: 'a key that the service accepts',
                received: `${response?.status ?? 'no response'}: the key is unknown`,
                hint: 'Send the value of SANDBOX_KIT_SERVICE_API_KEY unchanged: no quotes, no scheme such as Bearer, and no header name in front of it.',
              }
            : undefined,
      ),
      mutants: {
        'wrong-key': {
          description: 'Reads results with a key that the service does not know.',
          transform: setHeaders(production, {
            [SERVICE_API_KEY_HEADER]: 'a-key-of-another-service',
          }),
        },
      },
    },
    'CLIENT-005': {
      rule: 'No URL contains the API key.',
      section: '5',
      statements: ['5.a1'],
      reason: 'Proxies and servers write URLs into their logs, so that others can read the key.',
      check: checkRequests(isForInterface, NO_REQUEST, ({ request: { path } }) =>
        // Recordings have no keys, only where one was.
        path.includes(REDACTED)
          ? {
              expected: 'the key only in its header',
              received: 'a key in the URL',
              hint: 'Remove it from the URL, and replace the key if the URL was logged.',
            }
          : undefined,
      ),
      mutants: {
        'key-in-url': {
          description: 'Also sends the key in the URL when it reads results.',
          transform: changeRequest(production, (request) => ({
            ...request,
            path: `${request.path}&api_key=${request.headers[SERVICE_API_KEY_HEADER] ?? ''}`,
          })),
        },
      },
    },
    'CLIENT-003': {
      rule: 'Every request uses a path and a method of the interface.',
      section: '9',
      statements: ['4.1.1', '4.2.1', '4.3.1', '4.4.1', '9.1', '9.2'],
      reason: 'The service responds with 404 or 405, and the request has no effect.',
      check: checkRequests(isForInterface, NO_REQUEST, (exchange) =>
        isKnown(exchange)
          ? undefined
          : {
              expected: 'a path and a method of the interface',
              received: `${exchange.request.method} ${toPrintable(pathOf(exchange))}`,
              hint: suggestRoute(exchange),
            },
      ),
      mutants: {
        'wrong-path': {
          description: 'Sends traces to /v1/trace.',
          transform: changePath(secondBatch, () => '/v1/trace'),
        },
        'put-method': {
          description: 'Ends a conversation with PUT.',
          transform: changeRequest(to('end'), (request) => ({ ...request, method: 'PUT' })),
        },
      },
      legal: {
        metrics: {
          description: 'Also exports metrics, and sends a HEAD request.',
          transform: sendBefore(secondBatch, async (request, forward) => {
            await forward({ ...request, path: '/v1/metrics' });
            const empty = withoutHeader(withBody(request, ''), 'content-type');
            await forward({ ...empty, method: 'HEAD', path: '/api/simulations/sessions/' });
          }),
        },
      },
    },
    'CLIENT-004': {
      level: 'should',
      rule: 'The path of a results request ends with a slash.',
      statements: ['4.3.1', '4.4.1'],
      reason:
        'Other implementations of the service may redirect or refuse the path without the slash.',
      check: checkRequests(isRead, NO_READ, (exchange) => {
        const path = pathOf(exchange);
        return path.endsWith('/') ? undefined : { expected: `${path}/`, received: path };
      }),
      mutants: {
        'no-slash': {
          description: 'Omits the slash at the end of the results path.',
          transform: changePath(production, (path) => path.replace('/sessions/', '/sessions')),
        },
      },
    },
  },
};

/** Returns whether a request is, or was probably meant to be, a request to the interface. */
export function isForInterface({ request: { method, path } }: Exchange): boolean {
  // The exporters of logs and metrics use the same base URL.
  const isOtherSignal = /^\/v1\/(logs|metrics)(\?|$)/.test(path);
  // Browsers and HTTP clients send these on their own initiative.
  const isIncidental = ['HEAD', 'OPTIONS'].includes(method) || path === '/favicon.ico';
  return !isOtherSignal && !isIncidental;
}

function isKnown({ endpoint }: Exchange): boolean {
  return endpoint !== 'elsewhere';
}

function keyHeaderOf({ run }: Transcript): string {
  return run.apiKeyHeader ?? SERVICE_API_KEY_HEADER;
}

function sendsKey({ request }: Exchange, transcript: Transcript): boolean {
  return (request.headers[keyHeaderOf(transcript)] ?? '') !== '';
}

function pathOf({ request }: Exchange): string {
  return request.path.replace(/\?.*$/s, '');
}

/** Suggests the route that the client probably meant. */
function suggestRoute(exchange: Exchange): string | undefined {
  const path = pathOf(exchange).toLowerCase();
  if (/\/v1\/v1\//.test(path)) return 'Remove /v1 from the base URL: the path already contains it.';
  if (path.startsWith('/v1/traces')) return 'Traces go to POST /v1/traces.';
  if (path.includes('trace')) return 'Traces go to POST /v1/traces. Check the base URL.';
  if (/^\/v1\/sessions\/[^/]+\/end\/?$/.test(path)) {
    return path.endsWith('/') ? 'Remove the slash at the end.' : 'Use the method POST.';
  }
  if (path === '/v1/sessions/end') return 'The id of the conversation is part of the path.';
  if (/^\/api\/(prod-evaluations|simulations)\/sessions\/?$/.test(path)) {
    return 'Results are read with the method GET. Send the filters in the query of the URL, not in a body.';
  }
  const list = findList(path);
  const listHint = list && `The list is at GET ${list}.`;
  if (list !== undefined && exchange.request.method === 'GET') {
    return /\/sessions\/[^/]+/.test(path)
      ? `No request returns a single session. Read the list at GET ${list}, and find the session by its source_session_id or url: items have no id.`
      : listHint;
  }
  if (/\/(end|close)\/?$/.test(path) || path.includes('/sessions/')) {
    return 'A conversation ends with POST /v1/sessions/{conversation_id}/end. Percent-encode the id.';
  }
  return listHint;
}

/** Returns the path of the list that a path was probably meant for. */
function findList(path: string): string | undefined {
  if (path.includes('prod')) return '/api/prod-evaluations/sessions/';
  return path.includes('simulation') ? '/api/simulations/sessions/' : undefined;
}
