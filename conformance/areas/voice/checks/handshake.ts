import { HEALTH_TIMEOUT_MS, findViolations } from '../../../../src/contract/index.ts';
import type { VoiceRequirementId } from '../requirements.ts';
import { isObject } from '../../../../src/platform/json.ts';
import {
  isAccepted,
  describeOutcome,
  PREFLIGHT,
  isRateLimited,
  type Exchange,
  type Transcript,
} from '../../../engine/transcript/reading.ts';
import { isOpened, isVoice, callReadyOf } from '../../../engine/transcript/call-messages.ts';
import { unjudgedAs, checkEach, outcomeFinding, type Check } from '../../../engine/checks/check.ts';
import { findHttpWaiver } from '../../../engine/checks/targets.ts';
import { explainNoCall, callFinding, isKeyRefused } from './call-checks.ts';
import { AFTER_CALLS, isVoiceStep, wrongProtocolSteps } from '../steps.ts';
import { explainSocketFailure } from '../absence.ts';

const PROTOCOL = 'sec-websocket-protocol';
const selectedProtocolOf = ({ response }: Exchange): string | undefined =>
  response?.headers[PROTOCOL];

/** Returns whether a request for the subprotocol `voice-agent` opened a WebSocket. */
const isOpenedWithProtocol = (exchange: Exchange): boolean =>
  isOpened(exchange) && exchange.request.headers[PROTOCOL] === 'voice-agent';

/** Returns whether a WebSocket request must succeed; one without the required key need not. */
function isJudged(exchange: Exchange, { run }: Transcript): boolean {
  const lacksKey = isKeyRefused(exchange) && !run.keyGiven;
  return (
    isVoice(exchange) &&
    exchange.intent === 'valid' &&
    !isVoiceStep('after other calls')(exchange) &&
    !isRateLimited(exchange) &&
    !lacksKey
  );
}

/** The checks for the WebSocket handshake and for health, by requirement. */
export const handshakeChecks = {
  'VOICE-001': checkEach(
    isJudged,
    (exchange, { run }) => {
      const hint =
        explainSocketFailure(exchange, run.voiceUrl ?? '')?.cure ??
        'Check that every proxy in front of the sandbox forwards WebSocket upgrades.';
      return isOpened(exchange)
        ? []
        : [outcomeFinding(exchange, '101 and an open WebSocket', hint)];
    },
    explainNoCall,
  ),
  'VOICE-002': checkEach(
    isOpenedWithProtocol,
    (exchange) => {
      const name = selectedProtocolOf(exchange);
      if (name === undefined || name === 'voice-agent') return [];
      return [callFinding(exchange, 'Sec-WebSocket-Protocol: voice-agent', JSON.stringify(name))];
    },
    explainNoCall,
  ),
  'VOICE-003': checkEach(
    isOpenedWithProtocol,
    (exchange) =>
      selectedProtocolOf(exchange) === undefined
        ? [callFinding(exchange, 'Sec-WebSocket-Protocol: voice-agent', 'no subprotocol')]
        : [],
    explainNoCall,
  ),
  'VOICE-004': checkWithoutProtocol(),
  'VOICE-005': checkEach(
    (exchange) => isVoiceStep('wrong key')(exchange) && exchange.response !== undefined,
    (exchange) =>
      callReadyOf(exchange) ? [callFinding(exchange, 'a refusal', 'an accepted call')] : [],
    unjudgedAs('not_observed', 'The request with a wrong key got no response.'),
  ),
  'VOICE-006': checkTls(),
  'VOICE-082': checkHealthAfterCalls(),
  'VOICE-083': checkEach(
    (exchange) => exchange.endpoint === 'health' && isAccepted(exchange) && isObject(exchange.json),
    (exchange) =>
      isObject(exchange.json) && 'webrtc_status' in exchange.json
        ? []
        : [callFinding(exchange, 'webrtc_status', 'no webrtc_status')],
    unjudgedAs('not_observed', 'GET /health got no response with a JSON object.'),
  ),
} satisfies Partial<Record<VoiceRequirementId, Check>>;

/** A refused upgrade, a closed WebSocket, and a missing response all count: only `call_ready` is wrong. */
function checkWithoutProtocol(): Check {
  const controlOf = (exchange: Exchange, { exchanges }: Transcript): Exchange | undefined =>
    exchanges.find(({ id }) => id === exchange.control);
  const isWithoutProtocol = (exchange: Exchange): boolean =>
    isVoiceStep(...wrongProtocolSteps)(exchange) && !isRateLimited(exchange);
  return checkEach(
    (exchange, transcript) => {
      const control = controlOf(exchange, transcript);
      return (
        isWithoutProtocol(exchange) &&
        control !== undefined &&
        isOpened(control) &&
        callReadyOf(control) !== undefined
      );
    },
    (exchange) =>
      callReadyOf(exchange)
        ? [
            callFinding(
              exchange,
              `no call with ${exchange.step}`,
              `${describeOutcome(exchange)} and call_ready`,
            ),
          ]
        : [],
    (transcript) => {
      const request = transcript.exchanges.find(isWithoutProtocol);
      const control = request && controlOf(request, transcript);
      if (!control) return explainNoCall(transcript);
      const reason = `The call with the subprotocol (exchange ${control.id}) got no call_ready.`;
      return { verdict: 'blocked', reason };
    },
  );
}

/** Converts the address of the WebSocket to HTTP, because the same waivers apply. */
function toHttpUrl(voiceUrl = ''): string {
  return voiceUrl.replace(/^ws/, 'http');
}

function checkTls(): Check {
  const waiverOf = ({ run }: Transcript): string | undefined =>
    findHttpWaiver(toHttpUrl(run.voiceUrl), run.allowHttp);
  return {
    evidence: (transcript) => (waiverOf(transcript) ? [] : transcript.exchanges.filter(isOpened)),
    judge: ([first], { run }) =>
      first && !/^wss:/.test(run.voiceUrl ?? '')
        ? [
            {
              ...callFinding(first, 'a wss:// address', run.voiceUrl ?? 'no address'),
              hint: 'In a private network, for example of a CI run, waive this requirement with --allow-http.',
            },
          ]
        : [],
    unjudged(transcript) {
      const reason = waiverOf(transcript);
      if (!reason) return explainNoCall(transcript);
      return { verdict: 'not_applicable', reason: `Waived: ${reason}.` };
    },
  };
}

/** Checks the health response after all calls, if it conformed before them. */
function checkHealthAfterCalls(): Check {
  const problemsOf = (exchange: Exchange): string[] => {
    const status = exchange.response?.status ?? 0;
    if (status !== 200 && status !== 503) return [describeOutcome(exchange)];
    return findViolations('Health', exchange.json).map(
      ({ pointer, received }) => `${received} at ${pointer}`,
    );
  };
  const isPreflightHealth = (exchange: Exchange): boolean =>
    exchange.endpoint === 'health' && exchange.probe === PREFLIGHT && !isRateLimited(exchange);
  return checkEach(
    (exchange, { exchanges }) =>
      exchange.endpoint === 'health' &&
      exchange.step === AFTER_CALLS &&
      exchanges.some((before) => isPreflightHealth(before) && problemsOf(before).length === 0),
    (exchange) => {
      const [first] = problemsOf(exchange);
      const expected = `a valid health response within ${HEALTH_TIMEOUT_MS / 1000} s, as before the calls`;
      return first === undefined ? [] : [outcomeFinding(exchange, expected)];
    },
    ({ exchanges }) => {
      const before = exchanges.find(isPreflightHealth);
      const isInvalid = before && problemsOf(before).length > 0;
      const reason = isInvalid
        ? `GET /health didn't conform before the calls, either (exchange ${before.id}).`
        : 'GET /health was not requested after the calls.';
      return { verdict: 'blocked', reason };
    },
  );
}
