import type { CallEvent, CallMedia, CallPacket } from '../../../../src/contract/index.ts';
import { findPercentile } from '../../../../src/voice/latency/index.ts';
import type { voiceRequirements } from '../requirements.ts';
import { toPrintable, type Exchange, type Transcript } from '../../../engine/transcript/reading.ts';
import {
  sandboxCloseOf,
  eventsOf,
  hangUpMsOf,
  isBrokenDuringSetup,
  isConnected,
  isVoice,
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
import { isUnusableOffer } from './offer.ts';

/** A call that was listened to for less says nothing of silence. */
const LISTENED_MS_MIN = 1_500;
/** After the hang-up this much may still be on its way. */
const STOP_MS_MAX = 1_500;
/** Fewer packets than these have no usual step. */
const STEPS_MIN = 20;
const LEAP = 1_000;
const TICKS_PER_MS = 48;
/** The payload type of Opus where it was not agreed on: an offer without it (VOICE-056). */
const NONE = -1;

const speechIn = (one: Exchange): CallEvent[] => eventsOf(one, 'speech');
const soundsIn = (one: Exchange): CallEvent[] => eventsOf(one, 'sound');
const packetsIn = (one: Exchange): readonly CallPacket[] => mediaOf(one)?.packets ?? [];

/** How long a call was listened to. */
function listenedMs(one: Exchange): number {
  const [connected] = eventsOf(one, 'connected');
  return connected ? Math.min(hangUpMsOf(one), one.endedMs) - connected.atMs : 0;
}

const isListenedTo = (one: Exchange): boolean =>
  isValidCall(one) && listenedMs(one) >= LISTENED_MS_MIN;

/** Packets under the payload type that was agreed on. */
function agreed(one: Exchange): CallPacket[] {
  const media: CallMedia | undefined = mediaOf(one);
  return (media?.packets ?? []).filter(({ payloadType }) => payloadType === media?.payloadType);
}

const hasSteps = (one: Exchange): boolean => packetsIn(one).length > STEPS_MIN;
const tooFew: Check['unjudged'] = (transcript) =>
  transcript.exchanges.some(isConnected)
    ? { verdict: 'blocked', reason: 'Too little audio came that could be looked at.' }
    : explainNoMedia(transcript);

/** The checks of the media. */
export const mediaChecks = {
  'VOICE-030': checkConnectedCalls(
    (one) => isValidCall(one) && answeredAloud(one),
    (one) =>
      sandboxMessagesOf(one, 'conversation_update').length > 0
        ? []
        : [callFinding(one, 'a conversation_update', 'none')],
  ),
  'VOICE-061': goesOn(),
  'VOICE-070': connects(),
  'VOICE-071': checkConnectedCalls(isListenedTo, (one) =>
    packetsIn(one).length > 0 ? [] : [callFinding(one, 'packets of audio', 'none')],
  ),
  'VOICE-072': checkConnectedCalls(
    (one) => packetsIn(one).length > 0 && (mediaOf(one)?.payloadType ?? NONE) !== NONE,
    (one) => {
      const agreedOn = mediaOf(one)?.payloadType ?? NONE;
      const others = new Set(
        packetsIn(one)
          .map(({ payloadType }) => payloadType)
          .filter((type) => type !== agreedOn),
      );
      return others.size === 0
        ? []
        : [callFinding(one, `payload type ${agreedOn}`, [...others].slice(0, 5).join(', '))];
    },
    tooFew,
  ),
  'VOICE-073': checkConnectedCalls(hasSteps, findSequenceErrors, tooFew),
  'VOICE-074': checkConnectedCalls(
    (one) => ticksIn(one).length >= STEPS_MIN,
    findClockErrors,
    tooFew,
  ),
  'VOICE-075': checkConnectedCalls(
    (one) => agreed(one).length > 0,
    (one) => {
      const all = agreed(one);
      const bad = all.filter(({ levelsDb }) => levelsDb === undefined);
      return bad.length === 0
        ? []
        : [callFinding(one, 'packets of Opus', `${bad.length} of ${all.length} do not decode`)];
    },
    tooFew,
  ),
  'VOICE-076': checkConnectedCalls(
    (one) => isListenedTo(one) && agreed(one).some(({ levelsDb }) => levelsDb),
    (one) =>
      soundsIn(one).length > 0 ? [] : [callFinding(one, 'something to be heard', 'silence')],
    tooFew,
  ),
  'VOICE-077': checkConnectedCalls(
    (one) => isValidCall(one) && speechIn(one).length > 0,
    (one) => {
      const isHeard =
        answeredAloud(one) || sandboxMessagesOf(one, 'conversation_update').length > 0;
      return isHeard ? [] : [callFinding(one, 'a reply or an update', 'neither')];
    },
  ),
  'VOICE-080': stops(),
} satisfies Partial<Record<keyof typeof voiceRequirements, Check>>;

/** Whether a reply could be heard after something was said. */
function answeredAloud(one: Exchange): boolean {
  const [first] = speechIn(one);
  return (
    first !== undefined && soundsIn(one).some(({ untilMs = 0 }) => untilMs > (first.untilMs ?? 0))
  );
}

/** Media can flow in every call that is answered, where the offer can be taken at all. */
function connects(): Check {
  return {
    evidence: (transcript) =>
      findAnsweredCalls(transcript).filter(
        (one) => isConnected(one) || (!isUnusableOffer(one) && !isPlacedAgain(one, transcript)),
      ),
    judge: (calls) =>
      calls.flatMap((one) => {
        if (isConnected(one)) return [];
        const [why] = [...eventsOf(one, 'unusable'), ...eventsOf(one, 'unconnected')];
        return [callFinding(one, 'a connection', toPrintable(why?.detail ?? 'none', 120))];
      }),
    unjudged: explainNoMedia,
  };
}

/** A connection that broke while it was made, and did not when the call was placed once more. */
function isPlacedAgain(one: Exchange, { exchanges }: Transcript): boolean {
  const isAgain = ({ id, probe, step }: Exchange): boolean =>
    id > one.id && probe === one.probe && step === one.step;
  return (
    isBrokenDuringSetup(one) && exchanges.some((other) => isAgain(other) && isConnected(other))
  );
}

/** The steps of each sender from one packet to the next, in the order of arrival. */
function stepsOf(one: Exchange): [before: CallPacket, after: CallPacket][] {
  const last = new Map<number, CallPacket>();
  return packetsIn(one).flatMap((packet): [CallPacket, CallPacket][] => {
    const before = last.get(packet.ssrc);
    last.set(packet.ssrc, packet);
    return before ? [[before, packet]] : [];
  });
}

const moved = (before: CallPacket, after: CallPacket): number =>
  ((after.sequence - before.sequence) << 16) >> 16;

/** Networks lose packets and turn them round, a few of them; a count that is no count does it always. */
function findSequenceErrors(one: Exchange): ReturnType<Check['judge']> {
  const steps = stepsOf(one).map(([before, after]) => moved(before, after));
  const odd = steps.filter((step) => step < 1 || step > LEAP).length;
  const usual = findPercentile(steps, 50);
  if (steps.length === 0)
    return [callFinding(one, 'a stream of one sender', 'a sender for each packet')];
  if (usual === 1 && odd <= steps.length / 10) return [];
  const received =
    usual === 1 ? `${odd} of ${steps.length} steps that are none` : `steps of ${usual}`;
  return [callFinding(one, 'a sequence number more for each packet', received)];
}

/** By how many ticks each packet that follows at once is later, against how long the one before is. */
function ticksIn(one: Exchange): { ticks: number; wanted: number }[] {
  return stepsOf(one)
    .filter(([before, after]) => moved(before, after) === 1 && before.ticks > 0)
    .map(([before, after]) => ({
      ticks: (after.timestamp - before.timestamp) | 0,
      wanted: before.ticks,
    }));
}

/** A sender that is silent may leap ahead, but what follows at once goes on where the last one ended. */
export function findClockErrors(one: Exchange): ReturnType<Check['judge']> {
  const all = ticksIn(one);
  const right = all.filter(({ ticks, wanted }) => ticks === wanted).length;
  if (right >= all.length / 2) return [];
  const usual = findPercentile(
    all.map(({ ticks }) => ticks),
    50,
  );
  const wanted = findPercentile(
    all.map((step) => step.wanted),
    50,
  );
  return [callFinding(one, `steps of ${wanted}, the sound of a packet`, `steps of ${usual}`)];
}

/** One call is hung up, and the one beside it is spoken to again. */
function goesOn(): Check {
  const hungUpFirst = ({ exchanges }: Transcript): number => {
    const first = exchanges.findLast((one) => isVoice(one) && one.step === 'overlap');
    return first && isConnected(first) ? hangUpMsOf(first) : Infinity;
  };
  return checkConnectedCalls(
    (one) => one.step === 'overlap, longer',
    (one, transcript) => {
      const hungUpMs = hungUpFirst(transcript);
      if (hungUpMs === Infinity) return [];
      const close = sandboxCloseOf(one);
      if (close && close.atMs >= hungUpMs - 100) {
        return [callFinding(one, 'a call that goes on', `its end, ${close.code ?? 'no code'}`)];
      }
      const spoke = speechIn(one).some(({ untilMs = 0 }) => untilMs > hungUpMs);
      const isAlive = packetsIn(one).some(({ atMs }) => atMs > hungUpMs + STOP_MS_MAX);
      const wasAlive = packetsIn(one).some(({ atMs }) => atMs < hungUpMs);
      return spoke && wasAlive && !isAlive
        ? [callFinding(one, 'audio as before', 'none any more')]
        : [];
    },
  );
}

/** Packets that came, and were sent, well after the hang-up: some are long on their way. */
function sentAfter(one: Exchange): CallPacket[] {
  const hungUpMs = hangUpMsOf(one);
  const last = packetsIn(one).findLast(({ atMs }) => atMs <= hungUpMs);
  return packetsIn(one).filter(
    ({ atMs, timestamp, ssrc }) =>
      atMs > hungUpMs + STOP_MS_MAX &&
      (ssrc !== last?.ssrc || ((timestamp - last.timestamp) | 0) > STOP_MS_MAX * TICKS_PER_MS),
  );
}

/** A sandbox that sent up to the hang-up sends no more soon after. */
function stops(): Check {
  const isJudged = (one: Exchange): boolean => {
    const [released] = eventsOf(one, 'released');
    const hungUpMs = hangUpMsOf(one);
    return (
      released !== undefined &&
      released.atMs >= hungUpMs + STOP_MS_MAX &&
      packetsIn(one).some(({ atMs }) => atMs > hungUpMs - 500 && atMs <= hungUpMs)
    );
  };
  return checkConnectedCalls(
    isJudged,
    (one) => {
      const late = sentAfter(one);
      return late.length === 0
        ? []
        : [
            callFinding(
              one,
              `nothing ${STOP_MS_MAX} ms after the hang-up`,
              `${late.length} packets more`,
              'End the media when the WebSocket closes: the peer is not told otherwise.',
            ),
          ];
    },
    (transcript) =>
      transcript.exchanges.some(isConnected)
        ? unjudgedAs('not_observed', 'Nothing was sent up to the hang-up.')(transcript)
        : explainNoMedia(transcript),
  );
}
