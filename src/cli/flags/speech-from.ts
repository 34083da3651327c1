import type { SpeechEndpoint } from '../../voice/speech/index.ts';
import { checkedKey, readEnvironment } from './environment.ts';
import { UsageError } from './usage-error.ts';

/**
 * Who speaks instead of the synthesizer in the process, as the environment names it.
 *
 * @throws {UsageError} where the variables make no whole.
 */
export function speechFrom(): SpeechEndpoint | undefined {
  const environment = readEnvironment();
  const { SANDBOX_KIT_SPEECH_URL: baseUrl, SANDBOX_KIT_SPEECH_MODEL: model } = environment;
  const { SANDBOX_KIT_SPEECH_VOICE: voice, SANDBOX_KIT_SPEECH_API_KEY: key } = environment;
  if (baseUrl === undefined) {
    if (model === undefined && voice === undefined) return undefined;
    throw new UsageError('SANDBOX_KIT_SPEECH_MODEL and _VOICE go together with _URL.');
  }
  if (!URL.canParse(baseUrl)) {
    throw new UsageError(
      `SANDBOX_KIT_SPEECH_URL: expected an address, got ${JSON.stringify(baseUrl)}.`,
    );
  }
  return {
    baseUrl,
    ...(model !== undefined && { model }),
    ...(voice !== undefined && { voice }),
    ...(key !== undefined && { apiKey: checkedKey(key, 'SANDBOX_KIT_SPEECH_API_KEY') }),
  };
}
