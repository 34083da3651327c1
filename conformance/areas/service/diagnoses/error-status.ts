import { isObject } from '../../../../src/platform/json.ts';
import { isErrorBody } from '../../../engine/checks/refusal-hints.ts';
import { isServiceEndpoint } from '../../../engine/checks/route-names.ts';
import { isAccepted, type Exchange, type Transcript } from '../../../engine/transcript/reading.ts';
import { statedStatusOf } from '../../diagnoses/error-status.ts';
import { describeSeen, findExample, nonEmpty, type Diagnosis } from '../../diagnoses/seen.ts';
import type { TracesStep } from '../steps.ts';
import { isRateStep } from '../traces/bursts.ts';
import { isLargeBodyStep } from '../traces/sizes.ts';
import { otherTypes } from '../traces/refusals.ts';

/** Recognizes refusals that are sent with a 2xx status. */
export function findErrorsSentAsSuccess({ exchanges }: Transcript): Diagnosis[] {
  const seen = nonEmpty(exchanges.filter(showsError));
  if (!seen) return [];
  const { response } = findExample(seen);
  return [
    {
      seen,
      fault: `errors are sent with status ${response?.status} (${describeSeen(seen)})`,
      cure: 'Send each error with its own status: 400 without a conversation id, 401 or 403 without a valid key, 404 for an unknown conversation, 413, 415, or 429',
      repair: (exchange) => ({
        headers: {},
        body: '',
        ...exchange.response,
        status: statusOf(exchange),
      }),
    },
  ];
}

/** Keys that only the body of a successful response has. */
const SUCCESS_KEYS = ['items', 'conversation_id', 'partialSuccess'];

function showsError(exchange: Exchange): boolean {
  const { endpoint, intent, json } = exchange;
  if (!isServiceEndpoint(endpoint) || intent === 'valid') return false;
  if (!isAccepted(exchange) || !isObject(json)) return false;
  if (SUCCESS_KEYS.some((key) => Object.hasOwn(json, key))) return false;
  return (
    isErrorBody(exchange) ||
    json['success'] === false ||
    json['ok'] === false ||
    statedStatusOf(exchange) !== undefined
  );
}

/** The steps of requests without a valid key. */
const keySteps: readonly TracesStep[] = ['none key', 'wrong key', 'longer key'];

/** Returns the status that the error should have. */
function statusOf(exchange: Exchange): number {
  const { endpoint, step } = exchange;
  const stated = statedStatusOf(exchange);
  if (stated !== undefined) return stated;
  if (keySteps.some((name) => name === step)) return 401;
  if (endpoint === 'end') return 404;
  if (isRateStep(step)) return 429;
  if (isLargeBodyStep(step)) return 413;
  return otherTypes.some((type) => type === step) ? 415 : 400;
}
