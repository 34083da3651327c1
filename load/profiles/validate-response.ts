import { resolvePointer, type ExchangeRecord, type FaultKind } from '../../src/contract/index.ts';
import { decodeContent } from '../../src/http-kit/content-encoding.ts';
import { flattenHeaders } from '../../src/http-kit/flatten-headers.ts';
import { parseJson } from '../../src/platform/json.ts';
import { BODY_BYTES_MAX, type ExchangeResult } from '../engines/transport.ts';
import type { Markers } from './markers.ts';
import type { PlannedRequest } from './planned-request.ts';

/** Returns the requirements that an exchange violates. Injected, because this package knows no requirements. */
export type ValidateExchange = (
  exchange: ExchangeRecord,
) => readonly { id: string; rule: string }[];

/** A result after validation. */
export interface ValidatedResult {
  fault?: FaultKind;
  /** Details for the report, without conversation content. */
  detail: string;
  /** Whether a complete 2xx response arrived, valid or not. */
  hasResponse: boolean;
  /** Ids of the requirements that the response violates. */
  findings: readonly string[];
  /** Whether the response contained a session id. */
  echoed: boolean;
  retryAfterS?: number;
  /** The body of a 2xx response. */
  json: unknown;
}

/** Creates a validator that checks responses against the requirements and for data of other sessions. */
export function createResponseValidator(
  validateExchange: ValidateExchange,
  markers: Markers,
): (request: PlannedRequest, result: ExchangeResult) => ValidatedResult {
  return (request, result) => {
    const bare = { hasResponse: false, findings: [], echoed: false, json: undefined };
    if (result.fault) return { ...bare, fault: result.fault.kind, detail: result.fault.message };
    const { status = 0 } = result;
    if (status < 200 || status >= 300) return { ...bare, ...classifyStatus(result, status) };
    const encoding = headerOf(result, 'content-encoding') ?? '';
    const text = decodeBody(result.body ?? new Uint8Array(), encoding);
    const complete = { ...bare, hasResponse: true };
    if (text === undefined) {
      return {
        ...complete,
        fault: 'protocol',
        detail: `the body is not encoded with ${encoding}, contrary to its Content-Encoding`,
      };
    }
    const json = parseJson(text);
    const echo = resolvePointer(json, '/session_id');
    const echoed = request.session !== undefined && typeof echo === 'string';
    const foreign = markers.findForeign(text, request.markers);
    const violations = validateExchange(toRecord(request, result, text));
    const validated = { ...complete, echoed, findings: violations.map(({ id }) => id), json };
    if (foreign !== undefined) {
      return {
        ...validated,
        fault: 'mixed_up',
        detail: `the response contains ${foreign}, a marker of another session`,
      };
    }
    const [first] = violations;
    if (first) return { ...validated, fault: 'nonconforming', detail: `${first.id} ${first.rule}` };
    return { ...validated, detail: '' };
  };
}

function classifyStatus(
  result: ExchangeResult,
  status: number,
): Partial<ValidatedResult> & { detail: string } {
  const detail = `HTTP ${status}`;
  if (status !== 429) return { fault: kindOf(status), detail };
  const after = headerOf(result, 'retry-after');
  const seconds = after !== undefined && /^\d{1,9}$/.test(after) ? Number(after) : undefined;
  return {
    fault: 'rate_limited',
    detail: after === undefined ? detail : `${detail}, Retry-After: ${after}`,
    ...(seconds === undefined ? {} : { retryAfterS: seconds }),
  };
}

function kindOf(status: number): FaultKind {
  if (status === 401 || status === 403) return 'unauthorized';
  if (status >= 500) return 'server_error';
  return status >= 400 ? 'client_error' : 'other_status';
}

function toRecord(
  { endpoint, outgoing }: PlannedRequest,
  result: ExchangeResult,
  text: string,
): ExchangeRecord {
  const { method, path, body } = outgoing;
  return {
    record: 'exchange',
    id: 1,
    probe: 'load',
    step: 'load',
    endpoint,
    intent: 'valid',
    request: { method, path, headers: {}, ...(body === undefined ? {} : { body }) },
    response: {
      status: result.status ?? 0,
      headers: flattenHeaders(result.headers ?? {}),
      body: text,
    },
    startedMs: 0,
    endedMs: result.endedMs - result.sentMs,
  };
}

function headerOf({ headers = {} }: ExchangeResult, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
}

/** Decodes a body by its Content-Encoding; returns undefined if the body does not match the header. */
function decodeBody(bytes: Uint8Array, encoding: string): string | undefined {
  try {
    return decodeContent(bytes, encoding, BODY_BYTES_MAX).toString('utf8');
  } catch {
    return undefined;
  }
}
