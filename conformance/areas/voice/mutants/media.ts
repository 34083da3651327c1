import { parseMessage } from '../../../../src/voice/call/index.ts';
import { resolvePointer } from '../../../../src/contract/index.ts';
import type { AudioPacket } from '../../../../src/voice/peer/index.ts';
import type { RequirementId } from '../../../engine/requirement.ts';
import { drop, set } from '../../../engine/mutants/combinators.ts';
import type { Mutant } from '../../../engine/mutants/mutant.ts';
import {
  createMessageMutants,
  voiceMutant,
  changeMedia,
  handleCalls,
  replaceMessages,
} from './combinators.ts';
import type { MediaHandlers } from '../../../engine/mutants/voice-relay.ts';
import type { CallEnds, VoiceTransformFactory } from '../../../engine/mutants/mutant.ts';

const UPDATE = 'conversation_update';
/** An Opus packet that decodes to silence. */
const SILENCE = Buffer.from('f8fffe', 'hex');
/** An Opus table-of-contents byte that announces frames but not how many. */
const INVALID_OPUS = Buffer.from('03', 'hex');

const inUpdate = createMessageMutants(UPDATE);

/** Creates a mutant that changes each packet of the sandbox, or drops it if `change` returns undefined. */
const inPackets = (
  name: string,
  description: string,
  kills: RequirementId,
  change: (packet: AudioPacket, nth: number) => Partial<AudioPacket> | undefined,
): Mutant =>
  voiceMutant(
    name,
    description,
    kills,
    changeMedia((): MediaHandlers => ({
      toKit(packet, send, nth) {
        const changed = change(packet, nth);
        if (changed) send(packet, changed);
      },
    })),
  );

/** Delays packets and sends them in bursts. */
const sendInBursts = (count: number): VoiceTransformFactory =>
  changeMedia((): MediaHandlers => {
    const delayed: AudioPacket[] = [];
    return {
      toKit(packet, send) {
        delayed.push(packet);
        if (delayed.length < count) return;
        for (const delayedPacket of delayed.splice(0)) send(delayedPacket);
      },
    };
  });

/** Ends all other calls when a call with a spoken turn hangs up. */
const endTogether: VoiceTransformFactory = handleCalls((ends) => {
  let hasTurn = false;
  return {
    fromSandbox(text) {
      hasTurn ||= parseMessage(text)?.['type'] === UPDATE;
      ends.toKit(text);
    },
    onKitClose() {
      ends.closeSandbox();
      if (hasTurn) for (const other of ends.all) if (other !== ends) other.closeKit(1000);
    },
  };
});

/** Sends the `call_id` of a concurrent call in updates. */
function mixUpUpdates(): VoiceTransformFactory {
  return () => {
    const ids = new Map<CallEnds, unknown>();
    const transform = replaceMessages(UPDATE, (message, ends) => {
      const other = [...ids].find(([call]) => call !== ends && ends.all.has(call));
      return [other ? { ...message, call_id: other[1] } : message];
    })();
    return {
      handleCall(ends) {
        const handlers = transform.handleCall?.(ends) ?? {};
        return {
          ...handlers,
          fromSandbox(text) {
            const message = parseMessage(text);
            if (message?.['type'] === 'call_ready')
              ids.set(ends, resolvePointer(message, '/call_id'));
            handlers.fromSandbox?.(text);
          },
        };
      },
    };
  };
}

/** Mutants with wrong `conversation_update` messages. */
const updateMutants: Mutant[] = [
  voiceMutant(
    'update-missing',
    'Sends no `conversation_update`.',
    'VOICE-030',
    replaceMessages(UPDATE, () => []),
  ),
  inUpdate('transcript-missing', 'Omits `transcript`.', 'VOICE-031', drop('/transcript')),
  inUpdate(
    'transcript-a-string',
    'Sends `transcript` as a string.',
    'VOICE-031',
    set('/transcript', 'Hi.'),
  ),
  inUpdate(
    'transcript-user-null',
    'Sends `transcript.user` as null.',
    'VOICE-031',
    set('/transcript/user', null),
  ),
  inUpdate(
    'transcript-agent-missing',
    'Omits `transcript.agent`.',
    'VOICE-031',
    drop('/transcript/agent'),
  ),
  inUpdate(
    'update-other-call',
    'Replaces `call_id` of updates with its own.',
    'VOICE-032',
    set('/call_id', 'mine'),
  ),
  inUpdate('update-no-call', 'Omits `call_id` from updates.', 'VOICE-032', drop('/call_id')),
  inUpdate(
    'update-other-session',
    'Replaces `session_id` of updates with its own.',
    'VOICE-033',
    set('/session_id', 'mine'),
  ),
  inUpdate(
    'update-no-session',
    'Omits `session_id` from updates.',
    'VOICE-033',
    drop('/session_id'),
  ),
  inUpdate(
    'response-time-a-string',
    'Sends `response_time_ms` as a string with its unit.',
    'VOICE-034',
    set('/metadata/response_time_ms', '640 ms'),
  ),
  inUpdate(
    'response-time-fraction',
    'Sends `response_time_ms` with a fraction.',
    'VOICE-034',
    set('/metadata/response_time_ms', 640.5),
  ),
  inUpdate(
    'confidence-a-word',
    'Sends `confidence_score` as a string.',
    'VOICE-034',
    set('/metadata/confidence_score', 'high'),
  ),
  inUpdate(
    'audio-quality-a-number',
    'Sends `audio_quality` as a number.',
    'VOICE-034',
    set('/metadata/audio_quality', 4.5),
  ),
  inUpdate(
    'understood-a-number',
    'Sends `understood_intent` as a number.',
    'VOICE-035',
    set('/evaluation_metadata/understood_intent', 1),
  ),
  inUpdate(
    'appropriate-a-string',
    'Sends `appropriate_response` as a string.',
    'VOICE-035',
    set('/evaluation_metadata/appropriate_response', 'yes'),
  ),
  inUpdate(
    'tone-listed',
    'Sends `tone` as an array.',
    'VOICE-035',
    set('/evaluation_metadata/tone', ['calm']),
  ),
  inUpdate(
    'next-action-null',
    'Sends `next_action` as null.',
    'VOICE-035',
    set('/evaluation_metadata/next_action', null),
  ),
  voiceMutant(
    'updates-mixed-up',
    'Sends the `call_id` of a concurrent call in updates.',
    ['VOICE-032', 'VOICE-060'],
    mixUpUpdates(),
  ),
  voiceMutant('ends-together', 'Ends all calls when one hangs up.', 'VOICE-061', endTogether),
];

/** 800 ms. */
const LATE_FRAMES = 40;
const TICKS_PER_MS = 48;

/** Mutants with wrong media. */
const mediaMutants: Mutant[] = [
  voiceMutant('answer-lost', 'Loses every second SDP answer.', 'VOICE-070', loseAnswers()),
  inPackets('no-media', 'Sends no audio.', 'VOICE-071', () => undefined),
  inPackets('payload-type', 'Sends audio with another payload type.', 'VOICE-072', () => ({
    payloadType: 96,
  })),
  inPackets(
    'payload-types',
    'Changes the payload type of some packets.',
    'VOICE-072',
    (_packet, nth) => (nth % 50 === 49 ? { payloadType: 13 } : {}),
  ),
  inPackets('sequence-stuck', 'Gives every packet the same sequence number.', 'VOICE-073', () => ({
    sequence: 7,
  })),
  inPackets(
    'sequence-by-two',
    'Increases sequence numbers by two.',
    'VOICE-073',
    ({ sequence }) => ({
      sequence: sequence * 2,
    }),
  ),
  inPackets(
    'clock-16000',
    'Advances timestamps by 16,000 per second.',
    'VOICE-074',
    ({ timestamp }) => ({
      timestamp: Math.round((timestamp >>> 0) / 3),
    }),
  ),
  inPackets(
    'clock-milliseconds',
    'Sends timestamps in milliseconds.',
    'VOICE-074',
    ({ timestamp }) => ({
      timestamp: Math.round((timestamp >>> 0) / TICKS_PER_MS),
    }),
  ),
  inPackets('clock-stuck', 'Gives every packet the same timestamp.', 'VOICE-074', () => ({
    timestamp: 960,
  })),
  inPackets('no-opus', 'Sends payloads that are not Opus.', 'VOICE-075', () => ({
    payload: INVALID_OPUS,
  })),
  inPackets(
    'no-opus-at-times',
    'Sends some payloads that are not Opus.',
    'VOICE-075',
    (_packet, nth) => (nth % 20 === 19 ? { payload: INVALID_OPUS } : {}),
  ),
  inPackets('silent', 'Sends only silence.', 'VOICE-076', () => ({ payload: SILENCE })),
  voiceMutant(
    'deaf',
    'Ignores the audio of the kit.',
    'VOICE-077',
    changeMedia(() => ({ dropsKitAudio: true })),
  ),
  voiceMutant(
    'goes-on',
    'Keeps sending audio after the hang-up.',
    'VOICE-080',
    changeMedia(() => ({ sendAfterHangUpMs: 4_000 })),
  ),
  voiceMutant('late', 'Sends audio in bursts of 800 ms.', 'VOICE-090', sendInBursts(LATE_FRAMES)),
];

/** Loses every second SDP answer. */
function loseAnswers(): VoiceTransformFactory {
  return () => {
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
  };
}

/** Mutants of the updates and the media of a call. */
export const voiceMediaMutants: readonly Mutant[] = [...updateMutants, ...mediaMutants];
