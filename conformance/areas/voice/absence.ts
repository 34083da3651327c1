/** A voice WebSocket that is missing or can't be opened. */
import type { Check } from '../../engine/checks/check.ts';
import type { BlockingCause, Preflight } from '../../engine/preflight/blocking-cause.ts';
import {
  dropAfterSecondStart,
  findUnknownPathRefusal,
  isOpened,
  isVoice,
  isVoiceAbsent,
  UPGRADE,
} from '../../engine/transcript/call-messages.ts';
import {
  describeOutcome,
  durationMs,
  type Exchange,
  type Transcript,
} from '../../engine/transcript/reading.ts';

/** Why a WebSocket request got no response, and what to do about it. */
export interface SocketProblem {
  message: string;
  cure: string;
}

const CHECK_LOGS = 'Check the logs of the sandbox and of any proxy in front of it: ';

const explainInvalidHttp = ({ failure }: Exchange): SocketProblem => ({
  message: `The response to the WebSocket request is not valid HTTP (${failure?.message ?? ''}).`,
  cure: 'Check the host and the port of the voice address, and what listens there.',
});

const socketProblems: Partial<
  Record<string, (exchange: Exchange, address: string) => SocketProblem>
> = {
  refused: (_exchange, address) => ({
    message: `Can't connect to the voice address ${address}: connection refused.`,
    cure: 'Start the sandbox, or check the host and the port of --voice-url.',
  }),
  unresolved: (_exchange, address) => ({
    message: `Can't resolve the host name of the voice address ${address}.`,
    cure: 'Check the host name for typos, and check that this machine can resolve it.',
  }),
  tls: ({ failure }) => ({
    message: `The TLS certificate of the voice address is not trusted (${failure?.message ?? ''}).`,
    cure: 'If a private CA issued the certificate, pass its file with --ca FILE.',
  }),
  plain_http: () => ({
    message: 'The voice address has no TLS.',
    cure: 'Use ws:// for a WebSocket without TLS, or the port that has TLS.',
  }),
  timeout: (exchange) => ({
    message: `The WebSocket request got no response within ${Math.round(durationMs(exchange) / 1000)} s.`,
    cure: `${CHECK_LOGS}the connection is accepted, but the upgrade to a WebSocket never completes.`,
  }),
  reset: ({ failure }) => ({
    message: `The connection was closed during the WebSocket request (${failure?.message ?? ''}).`,
    cure: `${CHECK_LOGS}the connection is closed before a response is sent.`,
  }),
  protocol: explainInvalidHttp,
  malformed: explainInvalidHttp,
};

/** Returns why a WebSocket request got no response; undefined if it got one. */
export function explainSocketFailure(
  exchange: Exchange,
  address: string,
): SocketProblem | undefined {
  return exchange.failure && socketProblems[exchange.failure.kind]?.(exchange, address);
}

const isUpgrade = (exchange: Exchange): boolean => isVoice(exchange) && exchange.step === UPGRADE;

/** Failures of the connection itself: they don't depend on the path, so no other path is tried. */
const UNREACHABLE: readonly unknown[] = [
  'refused',
  'unresolved',
  'tls',
  'plain_http',
  'protocol',
  'malformed',
];

/**
 * Returns why a run of voice alone has nothing to judge. If the WebSocket request got no response,
 * the failure is the cause, because nothing else is known.
 */
export function findVoiceAbsence({ run, exchanges }: Preflight): BlockingCause | undefined {
  const upgrade = exchanges.findLast(isUpgrade);
  if (!upgrade) return undefined;
  const { failure } = upgrade;
  const problem = explainSocketFailure(upgrade, run.voiceUrl ?? '');
  const isRefusedAsUnknown = findUnknownPathRefusal(exchanges) !== undefined;
  if (failure && problem && (isRefusedAsUnknown || UNREACHABLE.includes(failure.kind))) {
    return { id: failure.kind, ...problem, evidence: upgrade };
  }
  if (!isVoiceAbsent(exchanges)) return undefined;
  return {
    id: 'no_voice',
    message: `No voice endpoint found: the WebSocket request is refused like a request for an unknown path (${describeOutcome(upgrade)}).`,
    cure: 'Check the address: sandbox-kit appends /voice to the URL, unless --voice-url sets another address.',
    evidence: upgrade,
  };
}

/**
 * Returns why the preflight did not open the voice WebSocket; undefined if it did or did not try. A
 * sandbox without any voice endpoint is only reported if voice is needed.
 */
export function findClosedVoice(
  { run, exchanges }: Transcript,
  isNeeded: boolean,
): BlockingCause | undefined {
  const upgrade = exchanges.findLast(isUpgrade);
  if (!upgrade || isOpened(upgrade) || (!isNeeded && isVoiceAbsent(exchanges))) return undefined;
  const problem = explainSocketFailure(upgrade, run.voiceUrl ?? '');
  if (problem) return { id: 'no_voice', ...problem, evidence: upgrade };
  return {
    id: 'no_voice',
    message: `The voice WebSocket doesn't open: ${upgrade.request.path} responds with ${describeOutcome(upgrade)}.`,
    cure: 'Check the key and the address: sandbox-kit appends /voice to the URL, unless --voice-url sets another address.',
    evidence: upgrade,
  };
}

/**
 * Makes a check not applicable if the sandbox has no voice endpoint. Hides what the sandbox sent
 * after a second `start_call` of a call, where the specification is silent.
 */
export function unlessAbsent(check: Check): Check {
  return {
    evidence: (transcript) =>
      isVoiceAbsent(transcript.exchanges) ? [] : check.evidence(withoutSecondStarts(transcript)),
    judge: (evidence, transcript) => check.judge(evidence, withoutSecondStarts(transcript)),
    unjudged(transcript) {
      if (!isVoiceAbsent(transcript.exchanges)) {
        return check.unjudged(withoutSecondStarts(transcript));
      }
      return { verdict: 'not_applicable', reason: noVoiceReason(transcript) };
    },
  };
}

function noVoiceReason({ exchanges }: Transcript): string {
  const upgrade = exchanges.findLast(isUpgrade);
  const outcome = upgrade ? ` (${describeOutcome(upgrade)})` : '';
  return `The sandbox has no voice endpoint: the WebSocket request is refused like a request for an unknown path${outcome}.`;
}

const shortenedTranscripts = new WeakMap<Transcript, Transcript>();

/** Removes what the sandbox sent after a second `start_call` from every call. */
function withoutSecondStarts(transcript: Transcript): Transcript {
  const cached = shortenedTranscripts.get(transcript);
  if (cached) return cached;
  const shortened = { ...transcript, exchanges: transcript.exchanges.map(dropAfterSecondStart) };
  shortenedTranscripts.set(transcript, shortened);
  return shortened;
}
