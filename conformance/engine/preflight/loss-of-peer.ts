import type { RunRecord } from '../../../src/contract/index.ts';
import type { Suite } from '../area.ts';
import { isVoice } from '../transcript/call-messages.ts';
import { crashesOf, isReproduced, orderSuspects } from '../transcript/crashes.ts';
import {
  type Exchange,
  isConnectionFailure,
  RECOVERY,
  type Transcript,
} from '../transcript/reading.ts';
import { describeContent } from '../transcript/request-content.ts';
import type { BlockingCause } from './blocking-cause.ts';

/**
 * The peer responded at first and then became unreachable until the end of the run. Everything that
 * failed from then on has this one cause, so it is not judged. A client is only recorded.
 */
export function findLossOfPeer(transcript: Transcript, { peer }: Suite): BlockingCause | undefined {
  if (peer === 'client') return undefined;
  const { run, exchanges: all } = transcript;
  const exchanges = isVoiceElsewhere(run) ? all.filter((exchange) => !isVoice(exchange)) : all;
  // A call that was cut off has both a response (at its start) and a failure (at its end).
  const lastAnswered = exchanges.findLast(({ response, failure }) => response && !failure);
  if (!lastAnswered) return undefined;
  // A response that was already on its way can be recorded after a concurrent connection broke or
  // a new one was refused.
  const isLost = ({ id, failure, endedMs }: Exchange): boolean =>
    failure !== undefined &&
    (id > lastAnswered.id ||
      (['reset', 'refused'].includes(failure.kind) && endedMs >= lastAnswered.startedMs));
  const lost = exchanges.filter(isLost);
  const first = lost.find(({ probe }) => probe !== RECOVERY);
  const isUnreachable = lost.some(
    ({ id, failure, probe }) =>
      id > lastAnswered.id && (failure?.kind === 'refused' || probe === RECOVERY),
  );
  if (!first || !isUnreachable) return undefined;
  // Only some of the requests that were sent together were answered. Judging those alone would
  // judge an arbitrary part. Calls in progress were cut off, regardless of what was lost first.
  const inFlight = exchanges.filter(
    ({ endpoint, endedMs }) => endpoint === first.endpoint && endedMs > first.startedMs,
  );
  // Responses that came earlier depend on the requests that were in flight meanwhile, such as the rate.
  const sinceMs = Math.min(first.startedMs, ...inFlight.map(({ startedMs }) => startedMs));
  const isConcurrent = (exchange: Exchange): boolean =>
    exchange.endpoint === first.endpoint
      ? exchange.endedMs > sinceMs
      : isVoice(exchange) && exchange.endedMs > first.startedMs;
  // A request that ended the peer twice is a finding.
  const isJudged = (exchange: Exchange): boolean =>
    isReproduced(exchange, all) || !(isLost(exchange) || isConcurrent(exchange));
  return {
    id: 'unreachable',
    ...describeLoss(first, lost, transcript, peer),
    before: { run, exchanges: all.filter(isJudged) },
  };
}

/** The most requests to name in a sentence. */
const NAMED_MAX = 6;

/** Names the requests that may have ended the peer. */
function describeLoss(
  first: Exchange,
  lost: readonly Exchange[],
  transcript: Transcript,
  peer: Suite['peer'],
): Pick<BlockingCause, 'message' | 'cure' | 'evidence' | 'suspects'> {
  const { run, exchanges } = transcript;
  const crash = crashesOf(transcript).at(-1);
  const { suspects = findInFlight(lost, exchanges), downMs = 0 } =
    crash?.cameBack === false ? crash : {};
  const [likely] = suspects;
  const since = likely ?? first;
  const digits = run.interrupted ? 1 : 0;
  const waited =
    downMs < 100 ? '' : ` It did not come back within ${(downMs / 1000).toFixed(digits)} s.`;
  const interruption = run.interrupted ? ' Then the run was interrupted.' : '';
  const message = `The ${peer} has been unreachable since exchange ${since.id} ("${since.step}"): it accepts no more connections.${waited}${interruption}`;
  const isProven = likely !== undefined && isReproduced(likely, exchanges);
  const cause = isProven
    ? `Exchange ${nameSuspect(likely)} stopped it: the same request, sent before, did the same.`
    : describeSuspects(suspects, peer);
  const limit = isProven ? '' : ` ${describeDoubt(peer)}`;
  const end = hasEnded(lost)
    ? 'Its process seems to have ended: connections broke, and new ones are refused. '
    : '';
  const cure = `${end}Check its logs. ${cause} Then run the check again.${limit}`;
  return { message, cure, evidence: likely ?? first, suspects };
}

/**
 * Returns the requests whose connections broke when the peer was lost, the most likely cause first. One
 * whose connection was refused never reached it.
 */
const findInFlight = (lost: readonly Exchange[], exchanges: readonly Exchange[]): Exchange[] =>
  orderSuspects(
    lost.filter(
      (exchange) =>
        exchange.probe !== RECOVERY &&
        isConnectionFailure(exchange) &&
        exchange.failure?.kind !== 'refused',
    ),
    exchanges,
  );

/** Returns whether connections broke and others were refused, as when a process ends. */
const hasEnded = (lost: readonly Exchange[]): boolean =>
  ['reset', 'refused'].every((kind) => lost.some(({ failure }) => failure?.kind === kind));

/** Says which requests may have ended the peer, and how to find the one that did. */
function describeSuspects(suspects: readonly Exchange[], peer: Suite['peer']): string {
  const [likely, ...others] = suspects;
  if (!likely) return 'A request that was in progress may have stopped it.';
  if (others.length === 0) {
    return `Exchange ${nameSuspect(likely)} was in flight and may have stopped it.`;
  }
  const more = suspects.length > NAMED_MAX ? `, and ${suspects.length - NAMED_MAX} more` : '';
  const names = others.slice(0, NAMED_MAX - 1).map(({ id, step }) => `${id} "${step}"`);
  const list = [nameSuspect(likely), ...names].join(', ') + more;
  return suspects.every(isVoice)
    ? `One of these calls, which were open, may have stopped it, the most likely first: exchanges ${list}. Start the ${peer}.`
    : `One of these requests, which were in flight, may have stopped it, the most likely first: exchanges ${list}. Start the ${peer} and send each of them again, alone: the one that stops it is the cause. If none does, requests that overlap stop it.`;
}

/** Names a request with what it contains: `7 "turn" (POST /v1/chat/completions, message "Hello")`. */
function nameSuspect(suspect: Exchange): string {
  const { id, step, request } = suspect;
  const parts = [`${request.method} ${request.path}`, describeContent(suspect)].filter(Boolean);
  return `${id} "${step}" (${parts.join(', ')})`;
}

/** Says why a loss is no failure. */
const describeDoubt = (peer: Suite['peer']): string =>
  `No valid request may stop a ${peer}, but this run can't tell that from a ${peer} that was shut down or lost its network, so the loss itself fails no requirement.`;

/** Calls and requests may go to different hosts, of which only one may become unreachable. */
function isVoiceElsewhere({ target, voiceUrl }: RunRecord): boolean {
  return voiceUrl !== undefined && URL.parse(voiceUrl)?.host !== URL.parse(target)?.host;
}
