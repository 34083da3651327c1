import type { Scenario } from '../contract/index.ts';
import { speechFrom } from './speech-from.ts';
import { UsageError } from './usage-error.ts';
import { audioWriter, voiceFlags, voiceOf, type VoiceFlags } from './voice-flags.ts';

type SimulateOptions = Parameters<typeof import('../service/index.ts').simulate>[0];

/**
 * Which sessions are held by voice, and how their calls are placed. Makes the folder for audio.
 *
 * @throws {UsageError} where there are no calls that a flag could be about.
 */
export async function simulatedCalls(
  given: VoiceFlags & { voice: boolean },
  scenarios: readonly Scenario[],
): Promise<Pick<SimulateOptions, 'channel' | 'voice'>> {
  const { voice: allByVoice, 'save-audio': folder, ...call } = given;
  if (!allByVoice && !scenarios.some(({ channel }) => channel === 'voice')) {
    const named = Object.keys(voiceFlags).find((name) => given[name as keyof VoiceFlags]);
    if (named === undefined) return {};
    throw new UsageError(
      `--${named}: expected only together with --voice, or with a scenario by voice.`,
    );
  }
  const { url, answerForm, mediaAddress } = await voiceOf(call);
  const write = folder === undefined ? undefined : await audioWriter(folder);
  return {
    channel: allByVoice ? 'voice' : undefined,
    voice: {
      ...{ url, answerForm, mediaAddress, speech: speechFrom() },
      onAudio: write && (({ scenario, sample }, audio) => write(`${scenario.id}-${sample}`, audio)),
    },
  };
}
