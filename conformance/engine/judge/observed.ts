import type { ObservedBehaviors } from '../../../src/contract/index.ts';
import {
  type Exchange,
  type Transcript,
  describeOutcome,
  errorOf,
  isAccepted,
  isRateLimited,
  toPrintable,
} from '../transcript/reading.ts';

/** A behavior that the specification leaves open, and how to read it from an exchange. */
export interface ObservedBehavior {
  name: string;
  /** Whether an exchange shows the behavior. */
  of: (exchange: Exchange) => boolean;
  /** Describes what the peer did (default: the status). */
  describe?: (exchange: Exchange) => string;
}

/**
 * Returns what a peer did for each behavior that the transcript shows. A request without a response
 * is ignored, because the peer may not be what ended it.
 */
export function observeEach(
  behaviors: readonly ObservedBehavior[],
): (transcript: Transcript) => ObservedBehaviors {
  return ({ exchanges }) =>
    Object.fromEntries(
      behaviors.flatMap(({ name, of, describe = describeOutcome }) => {
        const shown = exchanges.filter(
          (exchange) => of(exchange) && exchange.response && !isRateLimited(exchange),
        );
        const descriptions = new Set(shown.map(describe));
        return descriptions.size === 0 ? [] : [[name, [...descriptions].join(', ')]];
      }),
    );
}

/** Matches accepted valid requests to an endpoint. */
export const isAcceptedAt =
  (endpoint: Exchange['endpoint']) =>
  (exchange: Exchange): boolean =>
    exchange.endpoint === endpoint && exchange.intent === 'valid' && isAccepted(exchange);

/** Returns the status and, if the response has one, the error code. */
export function describeError(exchange: Exchange): string {
  const code = errorOf(exchange)?.code;
  const outcome = describeOutcome(exchange);
  return code === undefined ? outcome : `${outcome} ${toPrintable(code, 40)}`;
}
