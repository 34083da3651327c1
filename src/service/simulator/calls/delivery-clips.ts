import type { Clip } from '../../../voice/opus/index.ts';
import { joinClips, trimStart, type PausedClip } from '../../../voice/speech/join-clips.ts';
import type { PlannedDelivery } from './delivery.ts';

/** What the user may say around a line, as audio. */
export interface DeliveryClips {
  line: PausedClip;
  interruption?: PausedClip;
  backchannel?: PausedClip;
}

/** Synthesizes everything that the user may say around a line, before it is needed. */
export async function makeDeliveryClips(
  { parts, interruption, backchannel }: PlannedDelivery,
  speak: (text: string) => Promise<Clip>,
): Promise<DeliveryClips> {
  const speakAlone = async (text: string): Promise<PausedClip> => ({
    clip: trimStart(await speak(text)),
    pauses: [],
  });
  const spoken = [];
  for (const { text, pauseMs } of parts) spoken.push({ clip: await speak(text), pauseMs });
  return {
    line: joinClips(spoken),
    ...(interruption && { interruption: await speakAlone(interruption.say) }),
    ...(backchannel && { backchannel: await speakAlone(backchannel.say) }),
  };
}
