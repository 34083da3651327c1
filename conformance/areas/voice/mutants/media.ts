import { valueAt } from '../../../../src/contract/index.ts';
import type { AudioPacket } from '../../../../src/voice/peer/index.ts';
import type { RequirementId } from '../../../engine/requirement.ts';
import { drop, set } from '../../../engine/mutants/combinators.ts';
import type { Mutant } from '../../../engine/mutants/mutant.ts';
import { createMessageMutants, voiceMutant, changeMedia, messageIn, handleCalls, replaceMessages } from './combinators.ts';
import type { MediaHandlers } from '../../../engine/mutants/voice-relay.ts';
import type { CallEnds, VoiceTransformFactory } from '../../../engine/mutants/call-transform.ts';

const UPDATE = 'conversation_update';
const SILENCE = Buffer.from('f8fffe', 'hex');
/** Says that there are frames, and does not say how many. */
const NO_OPUS = Buffer.from('03', 'hex');

const inUpdate = createMessageMutants(UPDATE);

/** A mutant that changes each packet of the sandbox. */
const inPackets = (
  name: string,
  breaks: string,
  kills: RequirementId,
  change: (packet: AudioPacket, nth: number) => Partial<AudioPacket> | undefined,
): Mutant =>
  voiceMutant(
    name,
    breaks,
    kills,
    changeMedia((): MediaHandlers => ({
      toKit(packet, send, nth) {
        const changed = change(packet, nth);
        if (changed) send(packet, changed);
      },
    })),
  );

/** Holds packets back and lets many go at once. */
const bursts = (count: number): VoiceTransformFactory =>
  changeMedia((): MediaHandlers => {
    const held: AudioPacket[] = [];
    return {
      toKit(packet, send) {
        held.push(packet);
        if (held.length === count) for (const one of held.splice(0)) send(one);
      },
    };
  });

/** When a call that was spoken in is hung up, all others are ended as well. */
const endsTogether: VoiceTransformFactory = handleCalls((ends) => {
  let isSpokenIn = false;
  return {
    fromSandbox(text) {
      isSpokenIn ||= messageIn(text)?.['type'] === UPDATE;
      ends.toKit(text);
    },
    onKitClose() {
      ends.closeSandbox();
      if (isSpokenIn) for (const other of ends.all) if (other !== ends) other.closeKit(1000);
    },
  };
});

/** Updates carry the id of a call beside theirs. */
function mixedUp(): VoiceTransformFactory {
  return () => {
    const ids = new Map<CallEnds, unknown>();
    const twisted = replaceMessages(UPDATE, (message, ends) => {
      const other = [...ids].find(([call]) => call !== ends && ends.all.has(call));
      return [other ? { ...message, call_id: other[1] } : message];
    })();
    return {
      handleCall(ends) {
        const twist = twisted.handleCall?.(ends) ?? {};
        return {
          ...twist,
          fromSandbox(text) {
            const message = messageIn(text);
            if (message?.['type'] === 'call_ready') ids.set(ends, valueAt(message, '/call_id'));
            twist.fromSandbox?.(text);
          },
        };
      },
    };
  };
}

/** What stands in updates. */
const updates: Mutant[] = [
  voiceMutant(
    'update-missing',
    'Tells nothing of what was said.',
    'VOICE-030',
    replaceMessages(UPDATE, () => []),
  ),
  inUpdate('transcript-missing', 'Updates without a transcript.', 'VOICE-031', drop('/transcript')),
  inUpdate(
    'transcript-a-string',
    'Tells a turn in one string.',
    'VOICE-031',
    set('/transcript', 'Hi.'),
  ),
  inUpdate(
    'transcript-user-null',
    'Knows nothing of the user.',
    'VOICE-031',
    set('/transcript/user', null),
  ),
  inUpdate(
    'transcript-agent-missing',
    'Leaves its own words out.',
    'VOICE-031',
    drop('/transcript/agent'),
  ),
  inUpdate('update-other-call', 'Updates a call of its own.', 'VOICE-032', set('/call_id', 'mine')),
  inUpdate('update-no-call', 'Names no call in updates.', 'VOICE-032', drop('/call_id')),
  inUpdate(
    'update-other-session',
    'Updates a session of its own.',
    'VOICE-033',
    set('/session_id', 'mine'),
  ),
  inUpdate('update-no-session', 'Names no session in updates.', 'VOICE-033', drop('/session_id')),
  inUpdate(
    'response-time-a-string',
    'Gives response_time_ms with its unit.',
    'VOICE-034',
    set('/metadata/response_time_ms', '640 ms'),
  ),
  inUpdate(
    'response-time-fraction',
    'Gives response_time_ms with a fraction.',
    'VOICE-034',
    set('/metadata/response_time_ms', 640.5),
  ),
  inUpdate(
    'confidence-a-word',
    'Is confident in words.',
    'VOICE-034',
    set('/metadata/confidence_score', 'high'),
  ),
  inUpdate(
    'audio-quality-a-number',
    'Numbers audio_quality.',
    'VOICE-034',
    set('/metadata/audio_quality', 4.5),
  ),
  inUpdate(
    'understood-a-number',
    'Gives understood_intent as 1.',
    'VOICE-035',
    set('/evaluation_metadata/understood_intent', 1),
  ),
  inUpdate(
    'appropriate-a-string',
    'Gives appropriate_response in words.',
    'VOICE-035',
    set('/evaluation_metadata/appropriate_response', 'yes'),
  ),
  inUpdate('tone-listed', 'Lists tones.', 'VOICE-035', set('/evaluation_metadata/tone', ['calm'])),
  inUpdate(
    'next-action-null',
    'Makes next_action null.',
    'VOICE-035',
    set('/evaluation_metadata/next_action', null),
  ),
  voiceMutant('updates-mixed-up', 'Updates the call beside.', ['VOICE-032', 'VOICE-060'], mixedUp()),
  voiceMutant('ends-together', 'Ends all calls with one.', 'VOICE-061', endsTogether),
];

const LATE_FRAMES = 40;
const MS_OF_TICKS = 48;

/** What is heard. */
const sound: Mutant[] = [
  voiceMutant('answer-lost', 'Lets media flow now and then.', 'VOICE-070', lostAnswers()),
  inPackets('no-media', 'Sends no audio.', 'VOICE-071', () => undefined),
  inPackets('payload-type', 'Sends under another payload type.', 'VOICE-072', () => ({
    payloadType: 96,
  })),
  inPackets('payload-types', 'Changes its payload type now and then.', 'VOICE-072', (_one, nth) =>
    nth % 50 === 49 ? { payloadType: 13 } : {},
  ),
  inPackets('sequence-stuck', 'Gives every packet the same number.', 'VOICE-073', () => ({
    sequence: 7,
  })),
  inPackets('sequence-by-two', 'Counts by two.', 'VOICE-073', ({ sequence }) => ({
    sequence: sequence * 2,
  })),
  inPackets('clock-16000', 'Counts time at 16000 Hz.', 'VOICE-074', ({ timestamp }) => ({
    timestamp: Math.round((timestamp >>> 0) / 3),
  })),
  inPackets('clock-milliseconds', 'Counts time in milliseconds.', 'VOICE-074', ({ timestamp }) => ({
    timestamp: Math.round((timestamp >>> 0) / MS_OF_TICKS),
  })),
  inPackets('clock-stuck', 'Gives every packet the same time.', 'VOICE-074', () => ({
    timestamp: 960,
  })),
  inPackets('no-opus', 'Sends what is no Opus.', 'VOICE-075', () => ({ payload: NO_OPUS })),
  inPackets('no-opus-at-times', 'Sends what is no Opus now and then.', 'VOICE-075', (_one, nth) =>
    nth % 20 === 19 ? { payload: NO_OPUS } : {},
  ),
  inPackets('silent', 'Is never heard.', 'VOICE-076', () => ({ payload: SILENCE })),
  voiceMutant(
    'deaf',
    'Hears nothing.',
    'VOICE-077',
    changeMedia(() => ({ isDeaf: true })),
  ),
  voiceMutant(
    'goes-on',
    'Goes on speaking when it was hung up.',
    'VOICE-080',
    changeMedia(() => ({ sendAfterHangUpMs: 4_000 })),
  ),
  voiceMutant('late', 'Sends in bursts of 800 ms.', 'VOICE-090', bursts(LATE_FRAMES)),
];

/** Every second answer goes nowhere: the offer that the kit took was another one's. */
function lostAnswers(): VoiceTransformFactory {
  return () => {
    let placed = 0;
    return {
      handleCall(ends) {
        let isLost = false;
        return {
          fromKit(text) {
            const isAnswer = messageIn(text)?.['type'] === 'webrtc_answer';
            if (isAnswer) isLost = ++placed % 2 === 0;
            if (!isAnswer || !isLost) ends.toSandbox(text);
          },
        };
      },
    };
  };
}

/** Mutants of what is said and heard in a call. */
export const voiceMediaMutants: readonly Mutant[] = [...updates, ...sound];
