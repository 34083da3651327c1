import type { FaultKind } from '../../src/contract/index.ts';
import {
  classifyNetworkFailure,
  type NetworkFailureKind,
} from '../../src/http-kit/network-failure.ts';

/** The kind and the message of a failed request. */
export interface Failure {
  kind: FaultKind;
  message: string;
}

/**
 * Classifies a failed request.
 *
 * @param hasStatus Whether the status line had arrived, so that the response was cut off.
 */
export function classifyFailure(error: unknown, hasStatus: boolean): Failure {
  const { kind, message } = classifyNetworkFailure(error);
  const isBreak = kind === 'reset' || kind === 'refused';
  return { kind: hasStatus && isBreak ? 'cut_off' : toFaultKind(kind), message };
}

/** A load report does not tell the forms of invalid responses apart; a check does. */
function toFaultKind(kind: NetworkFailureKind): FaultKind {
  if (kind === 'plain_http') return 'tls';
  const isInvalid = kind === 'malformed' || kind === 'headers_too_large' || kind === 'unknown';
  return isInvalid ? 'protocol' : kind;
}
