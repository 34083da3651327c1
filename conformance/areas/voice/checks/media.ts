import type { CallEvent, CallMedia, CallPacket } from '../../../../src/contract/index.ts';
import { findPercentile } from '../../../../src/voice/latency/index.ts';
import type { VoiceRequirementId } from '../requirements.ts';
import { toPrintable, type Exchange, type Transcript } from '../../../engine/transcript/reading.ts';
import {
  sandboxCloseOf,
  eventsOf,
  hangUpMsOf,
  isBrokenDuringSetup,
  isConnected,
  mediaOf,
  sandboxMessagesOf,
} from '../../../engine/transcript/call-messages.ts';
import { unjudgedAs, type Check } from '../../../engine/checks/check.ts';
import {
  findAnsweredCalls,
  isValidCall,
  explainNoMedia,
  callFinding,
  checkConnectedCalls,
} from './call-checks.ts';
import { isVoiceStep } from '../steps.ts';
import { isUnusableOffer } from './offer.ts';

/** A shorter call doesn't prove silence. */
const LISTENED_MS_MIN = 1_500;
/** Packets may arrive for this long after the hang-up. */
const STOP_MS_MAX = 1_500;
/** Fewer packets have no meaningful median step. */
const STEPS_MIN = 20;
/** A larger step is an error and not a loss. */
const SEQUENCE_STEP_MAX = 1_000;
const TICKS_PER_MS = 48;
/** The payload type in the transcript if the offer doesn't list Opus (VOICE-056). */
const NO_PAYLOAD_TYPE = -1;

const speechesOf = (exchange: Exchange): CallEvent[] => eventsOf(exchange, 'speech');
const soundsOf = (exchange: Exchange): CallEvent[] => eventsOf(exchange, 'sound');
const packetsOf = (exchange: Exchange): readonly CallPacket[] => mediaOf(exchange)?.packets ?? [];

/** Returns for how many milliseconds the kit listened to a call. */
function listenedMsOf(exchange: Exchange): number {
  const [connected] = eventsOf(exchange, 'connected');
  return connected ? Math.min(hangUpMsOf(exchange), exchange.endedMs) - connected.atMs : 0;
}

const isListenedTo = (exchange: Exchange): boolean =>
  isValidCall(exchange) && listenedMsOf(exchange) >= LISTENED_MS_MIN;

/** Returns the packets with the payload type that offer and answer agree on. */
function opusPacketsOf(exchange: Exchange): CallPacket[] {
  const media: CallMedia | undefined = mediaOf(exchange);
  return (media?.packets ?? []).filter(({ payloadType }) => payloadType === media?.payloadType);
}

const hasManyPackets = (exchange: Exchange): boolean => packetsOf(exchange).length > STEPS_MIN;
const explainTooLittleAudio: Check['unjudged'] = (transcript) =>
  transcript.exchanges.some(isConnected)
    ? { verdict: 'blocked', reason: 'The sandbox sent too little audio to judge.' }
    : explainNoMedia(transcript);

/** The checks for media, by requirement. */
export const mediaChecks = {
  'VOICE-030': checkConnectedCalls(
    (exchange) => isValidCall(exchange) && hasReply(exchange),
    (exchange) =>
      sandboxMessagesOf(exchange, 'conversation_update').length > 0
        ? []
        : [callFinding(exchange, 'a conversation_update', 'no conversation_update')],
  ),
  'VOICE-061': checkContinues(),
  'VOICE-070': checkConnects(),
  'VOICE-071': checkConnectedCalls(isListenedTo, (exchange) =>
    packetsOf(exchange).length > 0
      ? []
      : [callFinding(exchange, 'audio packets', 'no audio packets')],
  ),
  'VOICE-072': checkConnectedCalls(
    (exchange) =>
      packetsOf(exchange).length > 0 &&
      (mediaOf(exchange)?.payloadType ?? NO_PAYLOAD_TYPE) !== NO_PAYLOAD_TYPE,
    (exchange) => {
      const expected = mediaOf(exchange)?.payloadType ?? NO_PAYLOAD_TYPE;
      const others = new Set(
        packetsOf(exchange)
          .map(({ payloadType }) => payloadType)
          .filter((type) => type !== expected),
      );
      return others.size === 0
        ? []
        : [callFinding(exchange, `payload type ${expected}`, [...others].slice(0, 5).join(', '))];
    },
    explainTooLittleAudio,
  ),
  'VOICE-073': checkConnectedCalls(hasManyPackets, findSequenceErrors, explainTooLittleAudio),
  'VOICE-074': checkConnectedCalls(
    (exchange) => timestampStepsOf(exchange).length >= STEPS_MIN,
    findClockErrors,
    explainTooLittleAudio,
  ),
  'VOICE-075': checkConnectedCalls(
    (exchange) => opusPacketsOf(exchange).length > 0,
    (exchange) => {
      const packets = opusPacketsOf(exchange);
      const invalid = packets.filter(({ levelsDb }) => levelsDb === undefined);
      return invalid.length === 0
        ? []
        : [
            callFinding(
              exchange,
              'valid Opus packets',
              `${invalid.length} of ${packets.length} packets that do not decode`,
            ),
          ];
    },
    explainTooLittleAudio,
  ),
  'VOICE-076': checkConnectedCalls(
    (exchange) =>
      isListenedTo(exchange) && opusPacketsOf(exchange).some(({ levelsDb }) => levelsDb),
    (exchange) =>
      soundsOf(exchange).length > 0 ? [] : [callFinding(exchange, 'audible sound', 'only silence')],
    explainTooLittleAudio,
  ),
  'VOICE-077': checkConnectedCalls(
    (exchange) => isValidCall(exchange) && speechesOf(exchange).length > 0,
    (exchange) => {
      const hasResponse =
        hasReply(exchange) || sandboxMessagesOf(exchange, 'conversation_update').length > 0;
      return hasResponse
        ? []
        : [callFinding(exchange, 'a spoken reply or a conversation_update', 'neither')];
    },
  ),
  'VOICE-080': checkStops(),
} satisfies Partial<Record<VoiceRequirementId, Check>>;

/** Returns whether the sandbox could be heard after the first speech of the kit. */
function hasReply(exchange: Exchange): boolean {
  const [first] = speechesOf(exchange);
  return (
    first !== undefined &&
    soundsOf(exchange).some(({ untilMs = 0 }) => untilMs > (first.untilMs ?? 0))
  );
}

/** Every call with an SDP answer connects, if its offer is usable. */
function checkConnects(): Check {
  return {
    evidence: (transcript) =>
      findAnsweredCalls(transcript).filter(
        (exchange) =>
          isConnected(exchange) ||
          (!isUnusableOffer(exchange) && !hasConnectedRepeat(exchange, transcript)),
      ),
    judge: (calls) =>
      calls.flatMap((exchange) => {
        if (isConnected(exchange)) return [];
        const [reason] = [...eventsOf(exchange, 'unusable'), ...eventsOf(exchange, 'unconnected')];
        return [
          callFinding(
            exchange,
            'an established connection',
            toPrintable(reason?.detail ?? 'no connection', 120),
          ),
        ];
      }),
    unjudged: explainNoMedia,
  };
}

/** Returns whether a connection broke during setup and the repeated call connected. */
function hasConnectedRepeat(exchange: Exchange, { exchanges }: Transcript): boolean {
  const isRepeat = ({ id, probe, step }: Exchange): boolean =>
    id > exchange.id && probe === exchange.probe && step === exchange.step;
  return (
    isBrokenDuringSetup(exchange) &&
    exchanges.some((other) => isRepeat(other) && isConnected(other))
  );
}

/** Returns consecutive packets of each sender, in the order of arrival. */
function packetPairsOf(exchange: Exchange): [before: CallPacket, after: CallPacket][] {
  const last = new Map<number, CallPacket>();
  return packetsOf(exchange).flatMap((packet): [CallPacket, CallPacket][] => {
    const before = last.get(packet.ssrc);
    last.set(packet.ssrc, packet);
    return before ? [[before, packet]] : [];
  });
}

const sequenceStep = (before: CallPacket, after: CallPacket): number =>
  ((after.sequence - before.sequence) << 16) >> 16;

/** Networks lose and reorder a few packets; a wrong counter is wrong for most of them. */
function findSequenceErrors(exchange: Exchange): ReturnType<Check['judge']> {
  const steps = packetPairsOf(exchange).map(([before, after]) => sequenceStep(before, after));
  const wrong = steps.filter((step) => step < 1 || step > SEQUENCE_STEP_MAX).length;
  const median = findPercentile(steps, 50);
  if (steps.length === 0)
    return [callFinding(exchange, 'a stream with one SSRC', 'a new SSRC for each packet')];
  if (median === 1 && wrong <= steps.length / 10) return [];
  const received = median === 1 ? `${wrong} of ${steps.length} wrong steps` : `steps of ${median}`;
  return [callFinding(exchange, 'steps of 1 in the sequence numbers', received)];
}

/** Returns the timestamp step to each directly following packet, and the expected step: the length of the packet before. */
function timestampStepsOf(exchange: Exchange): { ticks: number; expectedTicks: number }[] {
  return packetPairsOf(exchange)
    .filter(([before, after]) => sequenceStep(before, after) === 1 && before.ticks > 0)
    .map(([before, after]) => ({
      ticks: (after.timestamp - before.timestamp) | 0,
      expectedTicks: before.ticks,
    }));
}

/** A silent sender may skip time, but a directly following packet starts where the packet before ended. */
export function findClockErrors(exchange: Exchange): ReturnType<Check['judge']> {
  const steps = timestampStepsOf(exchange);
  const right = steps.filter(({ ticks, expectedTicks }) => ticks === expectedTicks).length;
  if (right >= steps.length / 2) return [];
  const median = findPercentile(
    steps.map(({ ticks }) => ticks),
    50,
  );
  const expectedTicks = findPercentile(
    steps.map((step) => step.expectedTicks),
    50,
  );
  return [
    callFinding(
      exchange,
      `timestamp steps of ${expectedTicks}, the length of a packet`,
      `steps of ${median}`,
    ),
  ];
}

/** After the shorter of two concurrent calls hangs up, the kit speaks in the longer one again. */
function checkContinues(): Check {
  const shorterHangUpMsOf = ({ exchanges }: Transcript): number => {
    const shorter = exchanges.findLast(isVoiceStep('overlap'));
    return shorter && isConnected(shorter) ? hangUpMsOf(shorter) : Infinity;
  };
  return checkConnectedCalls(isVoiceStep('longer overlap'), (exchange, transcript) => {
    const hangUpMs = shorterHangUpMsOf(transcript);
    if (hangUpMs === Infinity) return [];
    const close = sandboxCloseOf(exchange);
    if (close && close.atMs >= hangUpMs - 100) {
      return [
        callFinding(
          exchange,
          'a call that continues',
          `a closed WebSocket with ${close.code ?? 'no code'}`,
        ),
      ];
    }
    const hasSpokenAgain = speechesOf(exchange).some(({ untilMs = 0 }) => untilMs > hangUpMs);
    const sendsNow = packetsOf(exchange).some(({ atMs }) => atMs > hangUpMs + STOP_MS_MAX);
    const sentBefore = packetsOf(exchange).some(({ atMs }) => atMs < hangUpMs);
    return hasSpokenAgain && sentBefore && !sendsNow
      ? [callFinding(exchange, 'audio as before', 'no audio')]
      : [];
  });
}

/** Returns packets that were sent, and not only received, well after the hang-up. */
function sentAfter(exchange: Exchange): CallPacket[] {
  const hangUpMs = hangUpMsOf(exchange);
  const last = packetsOf(exchange).findLast(({ atMs }) => atMs <= hangUpMs);
  return packetsOf(exchange).filter(
    ({ atMs, timestamp, ssrc }) =>
      atMs > hangUpMs + STOP_MS_MAX &&
      (ssrc !== last?.ssrc || ((timestamp - last.timestamp) | 0) > STOP_MS_MAX * TICKS_PER_MS),
  );
}

/** A sandbox that sent audio until the hang-up stops soon after it. */
function checkStops(): Check {
  const isJudged = (exchange: Exchange): boolean => {
    const [released] = eventsOf(exchange, 'released');
    const hangUpMs = hangUpMsOf(exchange);
    return (
      released !== undefined &&
      released.atMs >= hangUpMs + STOP_MS_MAX &&
      packetsOf(exchange).some(({ atMs }) => atMs > hangUpMs - 500 && atMs <= hangUpMs)
    );
  };
  return checkConnectedCalls(
    isJudged,
    (exchange) => {
      const late = sentAfter(exchange);
      return late.length === 0
        ? []
        : [
            callFinding(
              exchange,
              `no packets ${STOP_MS_MAX} ms after the hang-up`,
              `${late.length} packets`,
              'Stop sending media when the WebSocket closes: no other message ends a call.',
            ),
          ];
    },
    (transcript) =>
      transcript.exchanges.some(isConnected)
        ? unjudgedAs(
            'not_observed',
            'The sandbox sent no audio at the time of the hang-up.',
          )(transcript)
        : explainNoMedia(transcript),
  );
}
