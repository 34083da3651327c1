import { valueAt, type ExchangeRecord, type FaultKind } from '../../src/contract/index.ts';
import type { Came } from '../engines/transport.ts';
import { textOfBody } from './decode-body.ts';
import type { Markers, Shot } from './shot.ts';

/** What one exchange breaks of the interface: handed in, so that load knows no requirement. */
export type ValidateExchange = (
  exchange: ExchangeRecord,
) => readonly { id: string; rule: string }[];

/** What became of a request, seen closely. */
export interface Examined {
  fault?: FaultKind;
  /** In words; never what a conversation says. */
  detail: string;
  /** A whole 2xx answer came, good or bad. */
  answered: boolean;
  findings: readonly string[];
  /** The answer named a session. */
  echoed: boolean;
  retryAfterS?: number;
  /** The body of a good answer. */
  json: unknown;
}

/** Examines answers by the requirements, and for words of other sessions. */
export function examiner(
  judge: ValidateExchange,
  markers: Markers,
): (shot: Shot, came: Came) => Examined {
  return (shot, came) => {
    const bare = { answered: false, findings: [], echoed: false, json: undefined };
    if (came.fault) return { ...bare, fault: came.fault.kind, detail: came.fault.message };
    const { status = 0 } = came;
    if (status < 200 || status >= 300) return { ...bare, ...refusal(came, status) };
    const encoding = headerOf(came, 'content-encoding') ?? '';
    const text = textOfBody(came.body ?? new Uint8Array(), encoding);
    const whole = { ...bare, answered: true };
    if (text === undefined) {
      return {
        ...whole,
        fault: 'protocol',
        detail: `the body is not ${encoding}, as its header says`,
      };
    }
    const json = parsed(text);
    const echo = valueAt(json, '/session_id');
    const echoed = shot.session !== undefined && typeof echo === 'string';
    const foreign = markers.foreignIn(text, shot.markers);
    const broken = judge(recordOf(shot, came, text));
    const seen = { ...whole, echoed, findings: broken.map(({ id }) => id), json };
    if (foreign !== undefined) {
      return { ...seen, fault: 'mixed_up', detail: `${foreign} is of another session` };
    }
    const [first] = broken;
    if (first) return { ...seen, fault: 'nonconforming', detail: `${first.id} ${first.rule}` };
    return { ...seen, detail: '' };
  };
}

function refusal(came: Came, status: number): Partial<Examined> & { detail: string } {
  const detail = `HTTP ${status}`;
  if (status !== 429) return { fault: kindOf(status), detail };
  const after = headerOf(came, 'retry-after');
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

function recordOf({ endpoint, outgoing }: Shot, came: Came, text: string): ExchangeRecord {
  const { method, path, body } = outgoing;
  return {
    record: 'exchange',
    id: 1,
    probe: 'load',
    step: 'load',
    endpoint,
    intent: 'valid',
    request: { method, path, headers: {}, ...(body === undefined ? {} : { body }) },
    response: { status: came.status ?? 0, headers: flat(came.headers ?? {}), body: text },
    startedMs: 0,
    endedMs: came.endedMs - came.sentMs,
  };
}

function flat(headers: NonNullable<Came['headers']>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, [value].flat().join(', ')]),
  );
}

function headerOf({ headers = {} }: Came, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
