/** The WebSocket request that opens a call (spec 4.9, 5). */
import { voiceChannel } from '../../../src/contract/index.ts';
import { type Check, checkEach, outcomeFinding, unjudgedAs } from '../../engine/checks/check.ts';
import { findHttpWaiver } from '../../engine/checks/https.ts';
import type { ProxyResponse, VoiceTransformFactory } from '../../engine/mutants/mutant.ts';
import { type Subject, withDefaults } from '../../engine/requirement.ts';
import { callReadyOf, isOpened, isVoice } from '../../engine/transcript/call-messages.ts';
import {
  describeOutcome,
  isKeyRefused,
  isRateLimited,
  type Exchange,
  type Transcript,
} from '../../engine/transcript/reading.ts';
import { explainSocketFailure, unlessAbsent } from './absence.ts';
import { distortCalls } from './call-transforms.ts';
import { callFinding, checkCalls, explainNoCall } from './evidence.ts';
import { isVoiceStep } from './requests.ts';

const { protocol } = voiceChannel;
const SELECTS_PROTOCOL = `Sec-WebSocket-Protocol: ${protocol}`;
const PROTOCOL_HEADER = 'sec-websocket-protocol';
const selectedProtocolOf = ({ response }: Exchange): string | undefined =>
  response?.headers[PROTOCOL_HEADER];

/** Returns whether a request with the subprotocol opened a WebSocket. */
const isOpenedWithProtocol = (exchange: Exchange): boolean =>
  isOpened(exchange) && exchange.request.headers[PROTOCOL_HEADER] === protocol;

/** Responds to the WebSocket requests whose path matches. */
const respondToUpgrades =
  (response: ProxyResponse | 'dropped', path = /^\/voice$/): VoiceTransformFactory =>
  () => ({ respond: (request) => (path.test(request.path) ? response : undefined) });

const refuseUpgrades = (status: number, path?: RegExp): VoiceTransformFactory =>
  respondToUpgrades({ status, headers: {}, body: '' }, path);

const defaults = { wrapCheck: unlessAbsent } as const;

export const handshake: Subject = {
  requirements: withDefaults(defaults, {
    'VOICE-001': {
      rule: 'A WebSocket request with the subprotocol `voice-agent` and the key opens a WebSocket.',
      statements: ['4.9.1', '4.9.2', '4.9.3', '1.4'],
      reason: 'Every call starts with this request.',
      probes: ['preflight'],
      check: checkOpens(),
      mutants: {
        'upgrade-refused': distortCalls('Refuses the upgrade with 400.', refuseUpgrades(400)),
        'upgrade-bad-gateway': distortCalls(
          'Responds to the upgrade with 502.',
          refuseUpgrades(502),
        ),
        'upgrade-200': distortCalls('Responds to the upgrade with 200.', refuseUpgrades(200)),
        'upgrade-dropped': distortCalls(
          'Closes the connection on an upgrade request.',
          respondToUpgrades('dropped'),
        ),
      },
    },
    'VOICE-002': {
      rule: 'The handshake response names no subprotocol other than `voice-agent`.',
      statements: ['4.9.2', '5.b5'],
      reason:
        "A WebSocket client must close the connection when the server selects a subprotocol that the client didn't offer.",
      probes: ['preflight'],
      check: checkCalls(isOpenedWithProtocol, (exchange) => {
        const name = selectedProtocolOf(exchange);
        if (name === undefined || name === protocol) return undefined;
        return [SELECTS_PROTOCOL, JSON.stringify(name)];
      }),
      mutants: {
        'other-protocol': distortCalls('Selects its own subprotocol.', () => ({
          selectProtocol: () => `${protocol}.v2`,
        })),
      },
      legal: {
        'protocol-unnamed': distortCalls('Selects no subprotocol.', () => ({
          selectProtocol: () => undefined,
        })),
      },
    },
    'VOICE-003': {
      level: 'may',
      rule: 'The handshake response names the subprotocol `voice-agent`.',
      statements: ['4.9.2'],
      reason:
        "Many clients close the connection without it. The specification doesn't require it, so it is only reported.",
      probes: ['preflight'],
      check: checkCalls(isOpenedWithProtocol, (exchange) =>
        selectedProtocolOf(exchange) === undefined
          ? [SELECTS_PROTOCOL, 'no subprotocol']
          : undefined,
      ),
    },
    'VOICE-004': {
      rule: 'A WebSocket request without the subprotocol `voice-agent` starts no call.',
      statements: ['5.b5', '4.9.2'],
      reason:
        'The interface requires the subprotocol; without the check, any WebSocket client can start a call.',
      observability: 'provoked',
      probes: ['voice/handshake'],
      check: checkWithoutProtocol(),
      mutants: {
        'no-protocol-needed': distortCalls(
          'Accepts a WebSocket request without a subprotocol.',
          () => ({
            changeRequest: (request) =>
              request.protocols.length > 0 ? request : { ...request, protocols: [protocol] },
            selectProtocol: ({ protocols }) => protocols[0],
          }),
        ),
        'any-protocol': distortCalls('Accepts any subprotocol.', () => ({
          changeRequest: (request) =>
            request.protocols.length > 0 ? { ...request, protocols: [protocol] } : request,
          selectProtocol: ({ protocols }) => protocols[0],
        })),
      },
    },
    'VOICE-005': {
      level: 'may',
      rule: 'A WebSocket request with a wrong key is refused.',
      section: '5',
      statements: ['4.9.3', '5.b2'],
      reason:
        'Without a key check, anyone who knows the address can place calls. A key is recommended, not required, so its absence is only reported.',
      observability: 'provoked',
      probes: ['voice/handshake'],
      check: checkCalls(
        (exchange) => isVoiceStep('wrong key')(exchange) && exchange.response !== undefined,
        (exchange) => (callReadyOf(exchange) ? ['a refusal', 'an accepted call'] : undefined),
        unjudgedAs('not_observed', 'The request with a wrong key got no response.'),
      ),
    },
    'VOICE-006': {
      rule: 'The address of the voice WebSocket starts with `wss://`.',
      statements: ['4.9.4'],
      reason: 'The service sends its key and the audio of its users over this connection.',
      check: checkTls(),
      mutants: {
        'over-ws': distortCalls('Is on another host, without TLS.', () => ({}), {
          run: (run) => ({ ...run, voiceUrl: 'ws://sandbox.example/voice' }),
        }),
      },
    },
  }),
  legal: {
    absent: distortCalls('Has no voice endpoint.', refuseUpgrades(404, /./), {
      areas: ['health', 'voice'],
    }),
    'absent-403': distortCalls(
      'Has no voice endpoint and refuses every upgrade with 403.',
      refuseUpgrades(403, /./),
      { areas: ['health', 'voice'] },
    ),
  },
};

function checkOpens(): Check {
  // A WebSocket request without the required key need not succeed.
  const isJudged = (exchange: Exchange, { run }: Transcript): boolean => {
    const lacksKey = isKeyRefused(exchange) && !run.keyGiven;
    return (
      isVoice(exchange) &&
      exchange.intent === 'valid' &&
      !isVoiceStep('after other calls')(exchange) &&
      !isRateLimited(exchange) &&
      !lacksKey
    );
  };
  return checkEach(
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
  );
}

/** A refused upgrade, a closed WebSocket, and a missing response all count: only `call_ready` is wrong. */
function checkWithoutProtocol(): Check {
  const controlOf = (exchange: Exchange, { exchanges }: Transcript): Exchange | undefined =>
    exchanges.find(({ id }) => id === exchange.control);
  const isWithoutProtocol = (exchange: Exchange): boolean =>
    isVoiceStep('no subprotocol', 'another subprotocol')(exchange) && !isRateLimited(exchange);
  return checkCalls(
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
        ? [`no call with ${exchange.step}`, `${describeOutcome(exchange)} and call_ready`]
        : undefined,
    (transcript) => {
      const request = transcript.exchanges.find(isWithoutProtocol);
      const control = request && controlOf(request, transcript);
      if (!control) return explainNoCall(transcript);
      const reason = `The call with the subprotocol (exchange ${control.id}) got no call_ready.`;
      return { verdict: 'blocked', reason };
    },
  );
}

function checkTls(): Check {
  // The waivers for HTTP also apply to the WebSocket.
  const waiverOf = ({ run }: Transcript): string | undefined =>
    findHttpWaiver((run.voiceUrl ?? '').replace(/^ws/, 'http'), run.allowHttp);
  return {
    evidence: (transcript) => (waiverOf(transcript) ? [] : transcript.exchanges.filter(isOpened)),
    judge: ([first], { run }) =>
      first && !/^wss:/.test(run.voiceUrl ?? '')
        ? [
            callFinding(
              first,
              'a wss:// address',
              run.voiceUrl ?? 'no address',
              'In a private network, for example of a CI run, waive this requirement with --allow-http.',
            ),
          ]
        : [],
    unjudged(transcript) {
      const reason = waiverOf(transcript);
      if (!reason) return explainNoCall(transcript);
      return { verdict: 'not_applicable', reason: `Waived: ${reason}.` };
    },
  };
}
