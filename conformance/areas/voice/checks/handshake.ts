import { HEALTH_TIMEOUT_MS, violations } from '../../../../src/contract/index.ts';
import type { voiceRequirements } from '../requirements.ts';
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
import { explainSocketFailure } from '../absence.ts';

const PROTOCOL = 'sec-websocket-protocol';
const protocolIn = ({ response }: Exchange): string | undefined => response?.headers[PROTOCOL];

/** Those that asked for the subprotocol and got their WebSocket. */
const named = (one: Exchange): boolean =>
  isOpened(one) && one.request.headers[PROTOCOL] === 'voice-agent';

const notOpened: Check['unjudged'] = (transcript) => explainNoCall(transcript);

/** A valid request for a WebSocket; without a key it says nothing where one is wanted. */
function isJudged(one: Exchange, { run }: Transcript): boolean {
  const lacksKey = isKeyRefused(one) && !run.keyGiven;
  return (
    isVoice(one) &&
    one.intent === 'valid' &&
    one.step !== 'after all' &&
    !isRateLimited(one) &&
    !lacksKey
  );
}

/** The checks of how the WebSocket is opened, and of health beside it. */
export const handshakeChecks = {
  'VOICE-001': checkEach(
    isJudged,
    (one, { run }) => {
      const hint =
        explainSocketFailure(one, run.voiceUrl ?? '')?.cure ??
        'Look whether a proxy passes upgrades on.';
      return isOpened(one) ? [] : [outcomeFinding(one, '101, an open WebSocket', hint)];
    },
    notOpened,
  ),
  'VOICE-002': checkEach(
    named,
    (one) => {
      const name = protocolIn(one);
      if (name === undefined || name === 'voice-agent') return [];
      return [callFinding(one, 'Sec-WebSocket-Protocol: voice-agent', JSON.stringify(name))];
    },
    notOpened,
  ),
  'VOICE-003': checkEach(
    named,
    (one) =>
      protocolIn(one) === undefined
        ? [callFinding(one, 'Sec-WebSocket-Protocol: voice-agent', 'no subprotocol')]
        : [],
    notOpened,
  ),
  'VOICE-004': withoutProtocol(),
  'VOICE-005': checkEach(
    (one) => isVoice(one) && one.step === 'wrong key' && one.response !== undefined,
    (one) => (callReadyOf(one) ? [callFinding(one, 'a refusal', 'the key is not checked')] : []),
    unjudgedAs('not_observed', 'The request with a wrong key was not answered.'),
  ),
  'VOICE-006': overTls(),
  'VOICE-082': healthAfterwards(),
  'VOICE-083': checkEach(
    (one) => one.endpoint === 'health' && isAccepted(one) && isObject(one.json),
    (one) =>
      isObject(one.json) && 'webrtc_status' in one.json
        ? []
        : [callFinding(one, 'webrtc_status', 'nothing')],
    unjudgedAs('not_observed', 'GET /health was not answered with a JSON object.'),
  ),
} satisfies Partial<Record<keyof typeof voiceRequirements, Check>>;

/** Refused at the upgrade, closed at once, or not answered: all of them are no call. */
function withoutProtocol(): Check {
  const controlOf = (one: Exchange, { exchanges }: Transcript): Exchange | undefined =>
    exchanges.find(({ id }) => id === one.control);
  const isEdit = (one: Exchange): boolean =>
    isVoice(one) && /subprotocol$/.test(one.step) && !isRateLimited(one);
  return checkEach(
    (one, transcript) => {
      const control = controlOf(one, transcript);
      return (
        isEdit(one) &&
        control !== undefined &&
        isOpened(control) &&
        callReadyOf(control) !== undefined
      );
    },
    (one) =>
      callReadyOf(one)
        ? [callFinding(one, `no call, with ${one.step}`, `${describeOutcome(one)} and call_ready`)]
        : [],
    (transcript) => {
      const edit = transcript.exchanges.find(isEdit);
      const control = edit && controlOf(edit, transcript);
      if (!control) return explainNoCall(transcript);
      const reason = `The call with the subprotocol (exchange ${control.id}) did not come about.`;
      return { verdict: 'blocked', reason };
    },
  );
}

/** The WebSocket's address as one of HTTP, for which the same waivers hold. */
function httpAddress(voiceUrl = ''): string {
  return voiceUrl.replace(/^ws/, 'http');
}

function overTls(): Check {
  const waiver = ({ run }: Transcript): string | undefined =>
    findHttpWaiver(httpAddress(run.voiceUrl), run.allowHttp);
  return {
    evidence: (transcript) => (waiver(transcript) ? [] : transcript.exchanges.filter(isOpened)),
    judge: ([first], { run }) =>
      first && !/^wss:/.test(run.voiceUrl ?? '')
        ? [
            {
              ...callFinding(first, 'a wss:// address', run.voiceUrl ?? 'none'),
              hint: 'Inside a private network of a CI run, waive this with --allow-http.',
            },
          ]
        : [],
    unjudged(transcript) {
      const reason = waiver(transcript);
      if (!reason) return notOpened(transcript);
      return { verdict: 'not_applicable', reason: `waived: ${reason}` };
    },
  };
}

/** The health that was asked for when all calls were over, where it conformed before. */
function healthAfterwards(): Check {
  const faults = (one: Exchange): string[] => {
    const status = one.response?.status ?? 0;
    if (status !== 200 && status !== 503) return [describeOutcome(one)];
    return violations('Health', one.json).map(
      ({ pointer, received }) => `${received} at ${pointer}`,
    );
  };
  const isPlain = (one: Exchange): boolean =>
    one.endpoint === 'health' && one.probe === PREFLIGHT && !isRateLimited(one);
  return checkEach(
    (one, { exchanges }) =>
      one.endpoint === 'health' &&
      one.step === 'after calls' &&
      exchanges.some((plain) => isPlain(plain) && faults(plain).length === 0),
    (one) => {
      const [first] = faults(one);
      const expected = `a health answer within ${HEALTH_TIMEOUT_MS / 1000} s, as before the calls`;
      return first === undefined ? [] : [outcomeFinding(one, expected)];
    },
    ({ exchanges }) => {
      const plain = exchanges.find(isPlain);
      const isBad = plain && faults(plain).length > 0;
      const reason = isBad
        ? `GET /health did not conform before the calls, either (exchange ${plain.id}).`
        : 'GET /health was not asked for after the calls.';
      return { verdict: 'blocked', reason };
    },
  );
}
