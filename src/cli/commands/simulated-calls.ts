import type { Scenario } from '../../contract/index.ts';
import { audioFolder, type AudioFolder } from '../output/call-recordings.ts';
import { speechFrom } from '../flags/speech-from.ts';
import { UsageError } from '../flags/usage-error.ts';
import { voiceFlags, voiceOf, type VoiceFlags } from '../flags/voice-flags.ts';

type SimulateOptions = Parameters<typeof import('../../service/index.ts').simulate>[0];

/** Which sessions are held by voice, how, and where what was said goes to. */
export interface SimulatedCalls extends Pick<SimulateOptions, 'channel' | 'voice'> {
  audio?: AudioFolder | undefined;
}

/**
 * Which sessions are held by voice, and how their calls are placed. Makes the folder for audio.
 *
 * @throws {UsageError} where there are no calls that a flag could be about.
 */
export async function simulatedCalls(
  given: VoiceFlags & { voice: boolean },
  scenarios: readonly Scenario[],
): Promise<SimulatedCalls> {
  const { voice: allByVoice, 'save-audio': folder, ...call } = given;
  if (!allByVoice && !scenarios.some(({ channel }) => channel === 'voice')) {
    const named = Object.keys(voiceFlags).find((name) => given[name as keyof VoiceFlags]);
    if (named === undefined) return {};
    throw new UsageError(
      `--${named}: expected only together with --voice, or with a scenario by voice.`,
    );
  }
  const { url, answerForm, mediaAddress } = voiceOf(call);
  const audio = folder === undefined ? undefined : await audioFolder(folder, 'SCENARIO-SAMPLE');
  return {
    channel: allByVoice ? 'voice' : undefined,
    voice: {
      ...{ url, answerForm, mediaAddress, speech: speechFrom() },
      onAudio:
        audio && (({ scenario, sample }, heard) => audio.write(`${scenario.id}-${sample}`, heard)),
    },
    audio,
  };
}
