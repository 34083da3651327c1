import type { RefusalHint } from '../../../engine/checks/refusal-hints.ts';
import { isObject } from '../../../../src/platform/json.ts';
import { explainNoValidResponse, type Check } from '../../../engine/checks/check.ts';
import { checkRefused } from '../../../engine/checks/responses.ts';
import { isAccepted, type Exchange, type Transcript } from '../../../engine/transcript/reading.ts';
import { isStep, type BadKey } from '../steps.ts';
import type { authenticationRequirements } from '../requirements.ts';

const keyHint: RefusalHint = {
  accepted: 'Check the API key before anything else, on every path of the interface.',
};

/** Requires refusals without the right key, on each endpoint that accepts the right key. */
function refusesKey(key: BadKey): Check {
  const step = `${key} key` as const;
  const checks = (['traces', 'end', 'production', 'simulations'] as const).map((endpoint) =>
    checkRefused(endpoint, [step], undefined, explainNoValidResponse(endpoint), {
      [step]: keyHint,
    }),
  );
  return {
    evidence: (transcript) => checks.flatMap((check) => check.evidence(transcript)),
    judge: (evidence, transcript) =>
      checks.flatMap((check) => {
        const judged = check.evidence(transcript);
        return check.judge(
          evidence.filter(
            (exchange) => judged.includes(exchange) && !isRefusedByRedirect(exchange, transcript),
          ),
          transcript,
        );
      }),
    unjudged: explainNoValidResponse('traces'),
  };
}

/** A redirect, such as to a login page, is a refusal unless the service kept the spans anyway. */
function isRefusedByRedirect(exchange: Exchange, { exchanges }: Transcript): boolean {
  const status = exchange.response?.status ?? 0;
  if (status < 300 || status >= 400) return false;
  if (exchange.endpoint !== 'traces') return true;
  const key: BadKey = exchange.step === 'none key' ? 'none' : 'wrong';
  const isKept = exchanges.some(
    (end) => isStep(end, 'end', `close ${key} key`) && isAccepted(end) && isObject(end.json),
  );
  return !isKept;
}

/** The checks of the service key. */
export const authenticationChecks = {
  'SERVICE-029': refusesKey('none'),
  'SERVICE-030': refusesKey('wrong'),
} satisfies Record<keyof typeof authenticationRequirements, Check>;
