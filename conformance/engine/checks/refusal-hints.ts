import { isObject } from '../../../src/platform/json.ts';
import { type Exchange, isAccepted } from '../transcript/reading.ts';

/** Advice about a request that was not refused as required. */
export interface RefusalHint {
  /** The hint if the request succeeded. */
  accepted: string;
  /** The hint if the request caused a server error or a dropped connection. */
  crashed?: string;
  /** The hint if the status is 415, although the content type is right. */
  unsupported?: string;
}

/** The hints by step. A step without an entry gets a general hint. */
export type RefusalHints = Readonly<Partial<Record<string, RefusalHint>>>;

/** The hint for a body that is not a JSON object. */
export const malformedBodyHint: Required<RefusalHint> = {
  accepted: 'Check that the body is a JSON object before you use it.',
  crashed: 'Catch the error of the JSON parser and respond with 400.',
  unsupported:
    'Respond with 400: the content type is application/json, only the body is malformed.',
};

const generalHint = {
  accepted: 'Validate the body before you use it.',
  crashed: 'Validate the body before you use it, and respond with 400 if it is invalid.',
};

/** Returns the hint for a response other than the required refusal, if there is a usual cause. */
export function refusalHint(
  exchange: Exchange,
  hints: RefusalHints,
  expectedStatus: number | undefined,
): string | undefined {
  const status = exchange.response?.status ?? 0;
  const hint: RefusalHint = hints[exchange.step] ?? generalHint;
  if (isAccepted(exchange)) {
    return isErrorBody(exchange)
      ? `The body is an error. Send it with status ${expectedStatus ?? '4xx'} instead of ${status}.`
      : hint.accepted;
  }
  if (status >= 500 || exchange.failure?.kind === 'reset') {
    return hint.crashed ?? generalHint.crashed;
  }
  if (status === 422 && expectedStatus !== undefined) {
    return `Many frameworks respond with 422 to invalid input; change it to ${expectedStatus}.`;
  }
  return status === 415 && expectedStatus === 400 ? hint.unsupported : undefined;
}

const SUCCESS_KEYS = ['choices', 'user_id', 'items', 'conversation_id'];
const ERROR_KEYS = ['error', 'errors', 'detail', 'message'];

const hasAny = ({ json }: Exchange, keys: readonly string[]): boolean =>
  isObject(json) && keys.some((key) => Object.hasOwn(json, key));

/** Returns whether a body has a field that only successful responses have. */
export const hasSuccessKey = (exchange: Exchange): boolean => hasAny(exchange, SUCCESS_KEYS);

/** Returns whether a body has the fields of an error, and none of a successful response. */
export const isErrorBody = (exchange: Exchange): boolean =>
  hasAny(exchange, ERROR_KEYS) && !hasSuccessKey(exchange);
