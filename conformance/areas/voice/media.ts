/** The media of a call: the WebRTC connection and its audio (spec 2.11, 4.9, 6). */
import type { CallPacket } from '../../../src/contract/index.ts';
import { parseMessage } from '../../../src/voice/call/messages.ts';
import { findPercentile } from '../../../src/platform/percentile.ts';
import type { AudioPacket } from '../../../src/voice/peer/index.ts';
import type { Check } from '../../engine/checks/check.ts';
import type { VoiceTransformFactory } from '../../engine/mutants/mutant.ts';
import { type DistortionEntry, type Subject, withDefaults } from '../../engine/requirement.ts';
import {
  eventsOf,
  hangUpMsOf,
  isBrokenDuringSetup,
  isConnected,
  mediaOf,
} from '../../engine/transcript/call-messages.ts';
import { toPrintable, type Exchange, type Transcript } from '../../engine/transcript/reading.ts';
import { unlessAbsent } from './absence.ts';
import {
  changeMedia,
  distortCalls,
  interceptMessages,
  replaceInOffers,
} from './call-transforms.ts';
import { callFinding, isValidCall, type Problem } from './evidence.ts';
import {
  checkConnectedCalls,
  explainNoMedia,
  findAnsweredCalls,
  hasReply,
  hasUpdate,
  packetsOf,
  STOP_MS_MAX,
} from './media-evidence.ts';
import { isUnusableOffer } from './offer.ts';
import { TICKS_PER_MS } from '../../../src/voice/opus/frame.ts';

const REASON = 'A voice simulation consists of audio; without it, there is nothing to evaluate.';

/** A shorter call doesn't prove silence. */
const LISTENED_MS_MIN = 1_500;
/** Fewer packets have no meaningful median step. */
const STEPS_MIN = 20;
/** A larger step is an error and not a loss. */
const SEQUENCE_STEP_MAX = 1_000;
/** The payload type in the transcript if the offer doesn't list Opus (VOICE-056). */
const NO_PAYLOAD_TYPE = -1;
/** An Opus packet that decodes to silence. */
const SILENCE = Buffer.from('f8fffe', 'hex');
/** An Opus table-of-contents byte that announces frames but not how many. */
const INVALID_OPUS = Buffer.from('03', 'hex');

const explainTooLittleAudio: Check['unjudged'] = (transcript) =>
  transcript.exchanges.some(isConnected)
    ? { verdict: 'blocked', reason: 'The sandbox sent too little audio to judge.' }
    : explainNoMedia(transcript);

/** Changes each packet of the sandbox, or drops it if `change` returns undefined. */
const sendsPackets = (
  description: string,
  change: (packet: AudioPacket, nth: number) => Partial<AudioPacket> | undefined,
): DistortionEntry =>
  distortCalls(
    description,
    changeMedia(() => ({
      toKit(packet, send, nth) {
        const changed = change(packet, nth);
        if (changed) send(packet, changed);
      },
    })),
  );

const refusesAnswers = (error: string, code: string, closes: boolean): DistortionEntry =>
  distortCalls(
    `Responds to messages that the interface does not define with ${error}.`,
    interceptMessages(
      ({ type }) => type !== 'start_call',
      (ends) => {
        const error = { code, message: 'Unknown message type.', details: 'Known: start_call.' };
        ends.toKit(JSON.stringify({ type: 'error', error }));
        if (closes) ends.closeKit(1003);
        if (closes) ends.closeSandbox();
      },
    ),
    { clockFactor: 5 },
  );

const defaults = {
  section: '4.9',
  reason: REASON,
  inMedia: true,
  probes: ['voice/conversation'],
  wrapCheck: unlessAbsent,
} as const;

export const media: Subject = {
  requirements: withDefaults(defaults, {
    'VOICE-070': {
      rule: 'The WebRTC connection is established after the answer to the offer: ICE finds a network path and DTLS secures it.',
      statements: ['4.9.5'],
      probes: ['voice/conversation', 'voice/overlap'],
      check: checkConnects(),
      mutants: {
        'sdp-other-fingerprint': distortCalls(
          'Sends the fingerprint of another certificate.',
          replaceInOffers(/^(a=fingerprint:\S+) .*$/gm, `$1 ${Array(32).fill('00').join(':')}`),
        ),
        'answer-lost': distortCalls('Loses every second SDP answer.', loseAnswers),
      },
    },
    'VOICE-071': {
      rule: 'The sandbox sends audio packets.',
      statements: ['4.9.5'],
      observability: 'provoked',
      check: checkConnectedCalls(isListenedTo, (exchange) =>
        packetsOf(exchange).length > 0 ? undefined : ['audio packets', 'no audio packets'],
      ),
      mutants: { 'no-media': sendsPackets('Sends no audio.', () => undefined) },
    },
    'VOICE-072': {
      rule: 'Audio packets have the payload type that offer and answer agree on.',
      statements: ['4.9.5'],
      reason: "A receiver doesn't know how to decode any other payload type, so the audio is lost.",
      check: checkConnectedCalls(
        (exchange) => packetsOf(exchange).length > 0 && payloadTypeOf(exchange) !== NO_PAYLOAD_TYPE,
        (exchange) => {
          const expected = payloadTypeOf(exchange);
          const types = new Set(packetsOf(exchange).map(({ payloadType }) => payloadType));
          types.delete(expected);
          return types.size === 0
            ? undefined
            : [`payload type ${expected}`, [...types].slice(0, 5).join(', ')];
        },
        explainTooLittleAudio,
      ),
      mutants: {
        'payload-type': sendsPackets('Sends audio with another payload type.', () => ({
          payloadType: 96,
        })),
        'payload-types': sendsPackets(
          'Changes the payload type of some packets.',
          (_packet, nth) => (nth % 50 === 49 ? { payloadType: 13 } : {}),
        ),
      },
    },
    'VOICE-073': {
      rule: 'The sequence numbers of audio packets increase by one.',
      statements: ['4.9.5'],
      reason: 'The receiver needs them to detect lost and reordered packets.',
      check: checkConnectedCalls(
        (exchange) => packetsOf(exchange).length > STEPS_MIN,
        findSequenceError,
        explainTooLittleAudio,
      ),
      mutants: {
        'sequence-stuck': sendsPackets('Gives every packet the same sequence number.', () => ({
          sequence: 7,
        })),
        'sequence-by-two': sendsPackets('Increases sequence numbers by two.', ({ sequence }) => ({
          sequence: sequence * 2,
        })),
      },
      legal: {
        lossy: distortCalls(
          'Loses every fiftieth packet.',
          changeMedia(() => ({
            toKit(packet, send, nth) {
              if (nth % 50 !== 25) send(packet);
            },
          })),
        ),
      },
    },
    'VOICE-074': {
      section: '2.11',
      rule: 'The timestamps of audio packets advance by 48,000 per second.',
      statements: ['4.9.5', '2.11.5'],
      reason:
        'Opus uses this clock at every sampling rate; with another clock, the audio plays too fast or too slow.',
      check: checkConnectedCalls(
        (exchange) => timestampStepsOf(exchange).length >= STEPS_MIN,
        findClockError,
        explainTooLittleAudio,
      ),
      mutants: {
        'clock-16000': sendsPackets(
          'Advances timestamps by 16,000 per second.',
          ({ timestamp }) => ({ timestamp: Math.round((timestamp >>> 0) / 3) }),
        ),
        'clock-milliseconds': sendsPackets(
          'Sends timestamps in milliseconds.',
          ({ timestamp }) => ({ timestamp: Math.round((timestamp >>> 0) / TICKS_PER_MS) }),
        ),
        'clock-stuck': sendsPackets('Gives every packet the same timestamp.', () => ({
          timestamp: 960,
        })),
      },
      legal: {
        quiet: distortCalls('Sends no packets while it is silent.', dropSilence()),
      },
    },
    'VOICE-075': {
      section: '2.11',
      rule: 'The payload of every audio packet is valid Opus.',
      statements: ['2.11.3', '4.9.5'],
      reason:
        "A receiver drops packets that it can't decode, so the simulated user hears gaps or silence.",
      check: checkConnectedCalls(
        (exchange) => opusPacketsOf(exchange).length > 0,
        (exchange) => {
          const packets = opusPacketsOf(exchange);
          const invalid = packets.filter(({ levelsDb }) => levelsDb === undefined);
          const received = `${invalid.length} of ${packets.length} packets that do not decode`;
          return invalid.length === 0 ? undefined : ['valid Opus packets', received];
        },
        explainTooLittleAudio,
      ),
      mutants: {
        'no-opus': sendsPackets('Sends payloads that are not Opus.', () => ({
          payload: INVALID_OPUS,
        })),
        'no-opus-at-times': sendsPackets(
          'Sends some payloads that are not Opus.',
          (_packet, nth) => (nth % 20 === 19 ? { payload: INVALID_OPUS } : {}),
        ),
      },
    },
    'VOICE-076': {
      rule: 'The audio of the sandbox contains audible sound.',
      statements: ['4.9.5'],
      reason: "A simulated user who hears only silence can't hold a conversation.",
      observability: 'provoked',
      check: checkConnectedCalls(
        (exchange) =>
          isListenedTo(exchange) && opusPacketsOf(exchange).some(({ levelsDb }) => levelsDb),
        (exchange) =>
          eventsOf(exchange, 'sound').length > 0 ? undefined : ['audible sound', 'only silence'],
        explainTooLittleAudio,
      ),
      mutants: { silent: sendsPackets('Sends only silence.', () => ({ payload: SILENCE })) },
    },
    'VOICE-077': {
      level: 'should',
      rule: 'The sandbox responds to speech with audio or a `conversation_update` message.',
      statements: ['4.9.5', '6.21'],
      reason: 'Without a response, the simulation stops after its first turn.',
      observability: 'provoked',
      check: checkConnectedCalls(
        (exchange) => isValidCall(exchange) && eventsOf(exchange, 'speech').length > 0,
        (exchange) =>
          hasReply(exchange) || hasUpdate(exchange)
            ? undefined
            : ['a spoken reply or a conversation_update', 'neither'],
      ),
      mutants: {
        deaf: distortCalls(
          'Ignores the audio of the kit.',
          changeMedia(() => ({ dropsKitAudio: true })),
        ),
      },
    },
    'VOICE-080': {
      level: 'should',
      section: '6',
      rule: 'The sandbox stops sending media after the caller hangs up.',
      statements: ['6.35'],
      reason:
        'The interface has no message that ends a call: the closed WebSocket is the only sign. A sandbox that ignores it wastes a call slot.',
      observability: 'provoked',
      probes: ['voice/overlap'],
      check: checkStops(),
      mutants: {
        'goes-on': distortCalls(
          'Keeps sending audio after the hang-up.',
          changeMedia(() => ({ sendAfterHangUpMs: 4_000 })),
        ),
      },
    },
  }),
  legal: {
    'no-answers': distortCalls(
      'Does not know the message that answers an offer.',
      interceptMessages(
        ({ type }) => type === 'webrtc_answer',
        () => {},
      ),
      { clockFactor: 5 },
    ),
    'unknown-answer': refusesAnswers('an own error code', 'unknown_message', false),
    'unknown-answer-closes': refusesAnswers(
      'an own error code, and closes the WebSocket',
      'bad_request',
      true,
    ),
    'unknown-answer-connection': refusesAnswers('connection_failed', 'connection_failed', false),
    'unknown-answer-audio': refusesAnswers(
      'audio_error, and closes the WebSocket',
      'audio_error',
      true,
    ),
  },
};

/** Returns for how many milliseconds the kit listened to a call. */
function listenedMsOf(exchange: Exchange): number {
  const [connected] = eventsOf(exchange, 'connected');
  return connected ? Math.min(hangUpMsOf(exchange), exchange.endedMs) - connected.atMs : 0;
}

function isListenedTo(exchange: Exchange): boolean {
  return isValidCall(exchange) && listenedMsOf(exchange) >= LISTENED_MS_MIN;
}

/** Returns the packets with the payload type that offer and answer agree on. */
function opusPacketsOf(exchange: Exchange): CallPacket[] {
  const agreed = payloadTypeOf(exchange);
  return packetsOf(exchange).filter(({ payloadType }) => payloadType === agreed);
}

function payloadTypeOf(exchange: Exchange): number {
  return mediaOf(exchange)?.payloadType ?? NO_PAYLOAD_TYPE;
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
        const received = toPrintable(reason?.detail ?? 'no connection', 120);
        return [callFinding(exchange, 'an established connection', received)];
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
function findSequenceError(exchange: Exchange): Problem | undefined {
  const steps = packetPairsOf(exchange).map(([before, after]) => sequenceStep(before, after));
  const wrong = steps.filter((step) => step < 1 || step > SEQUENCE_STEP_MAX).length;
  const median = findPercentile(steps, 50);
  if (steps.length === 0) return ['a stream with one SSRC', 'a new SSRC for each packet'];
  if (median === 1 && wrong <= steps.length / 10) return undefined;
  const received = median === 1 ? `${wrong} of ${steps.length} wrong steps` : `steps of ${median}`;
  return ['steps of 1 in the sequence numbers', received];
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
export function findClockError(exchange: Exchange): Problem | undefined {
  const steps = timestampStepsOf(exchange);
  const right = steps.filter(({ ticks, expectedTicks }) => ticks === expectedTicks).length;
  if (right >= steps.length / 2) return undefined;
  const ticks = findPercentile(
    steps.map((step) => step.ticks),
    50,
  );
  const expectedTicks = findPercentile(
    steps.map((step) => step.expectedTicks),
    50,
  );
  return [`timestamp steps of ${expectedTicks}, the length of a packet`, `steps of ${ticks}`];
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
      if (late.length === 0) return undefined;
      return [
        `no packets ${STOP_MS_MAX} ms after the hang-up`,
        `${late.length} packets`,
        'Stop sending media when the WebSocket closes: no other message ends a call.',
      ];
    },
    (transcript) =>
      transcript.exchanges.some(isConnected)
        ? {
            verdict: 'not_observed',
            reason: 'The sandbox sent no audio at the time of the hang-up.',
          }
        : explainNoMedia(transcript),
  );
}

function loseAnswers(): ReturnType<VoiceTransformFactory> {
  let answers = 0;
  return {
    handleCall(ends) {
      let isLost = false;
      return {
        fromKit(text) {
          const isAnswer = parseMessage(text)?.['type'] === 'webrtc_answer';
          if (isAnswer) isLost = ++answers % 2 === 0;
          if (!isAnswer || !isLost) ends.toSandbox(text);
        },
      };
    },
  };
}

/** Drops packets without sound and renumbers the rest without gaps. */
function dropSilence(): VoiceTransformFactory {
  return changeMedia(() => {
    let sequence = 60_000;
    return {
      toKit(packet, send) {
        const isSilent = packet.payload.length <= SILENCE.length;
        if (!isSilent) send(packet, { sequence: sequence++ & 0xffff });
      },
    };
  });
}
