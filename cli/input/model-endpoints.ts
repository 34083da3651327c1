/** Endpoints of models, from environment variables. */
import { quoteUrl } from '../../src/platform/base-url.ts';
import type { ModelEndpoint } from '../../src/service/index.ts';
import type { SpeechModel } from '../../src/voice/speech/index.ts';
import type { TranscriptionModel } from '../../src/voice/transcription/index.ts';
import { UsageError } from '../errors.ts';
import { readEnvironment } from '../flags/environment.ts';
import type { Variables } from '../process.ts';
import { checkKey } from './keys.ts';

/**
 * Reads the model of the LLM judge or of the simulated users.
 *
 * @throws {UsageError} if only one of URL and MODEL is set, or the URL is invalid.
 */
export function readModelEndpoint(
  role: 'JUDGE' | 'USER',
  env: Variables,
): ModelEndpoint | undefined {
  const variables = readEnvironment(env);
  const [urlName, modelName] = [`SANDBOX_KIT_${role}_URL`, `SANDBOX_KIT_${role}_MODEL`] as const;
  const baseUrl = variables[urlName];
  const model = variables[modelName];
  if (baseUrl === undefined && model === undefined) return undefined;
  if (baseUrl === undefined || model === undefined) {
    const [setName, missingName] =
      baseUrl === undefined ? [modelName, urlName] : [urlName, modelName];
    throw new UsageError(`${setName} is set, but ${missingName} is not. Set both or neither.`);
  }
  checkEndpointUrl(urlName, baseUrl);
  return { baseUrl, model, apiKey: variables[`SANDBOX_KIT_${role}_API_KEY`] };
}

/**
 * Reads the endpoint that replaces the built-in speech synthesizer.
 *
 * @throws {UsageError} if MODEL or VOICE is set without URL, or the URL is invalid.
 */
export function readSpeechEndpoint(env: Variables): SpeechModel | undefined {
  const {
    SANDBOX_KIT_SPEECH_URL: baseUrl,
    SANDBOX_KIT_SPEECH_MODEL: model,
    SANDBOX_KIT_SPEECH_VOICE: voice,
    SANDBOX_KIT_SPEECH_API_KEY: key,
  } = readEnvironment(env);
  const others = { SANDBOX_KIT_SPEECH_MODEL: model, SANDBOX_KIT_SPEECH_VOICE: voice };
  if (!hasEndpoint('SANDBOX_KIT_SPEECH_URL', baseUrl, others)) return undefined;
  return {
    baseUrl,
    ...(model !== undefined && { model }),
    ...(voice !== undefined && { voice }),
    ...(key !== undefined && { apiKey: checkKey(key, 'The key in SANDBOX_KIT_SPEECH_API_KEY') }),
  };
}

/**
 * Reads the endpoint that transcribes what is heard of the agent in calls.
 *
 * @throws {UsageError} if MODEL or KEY is set without URL, or the URL or the key is invalid.
 */
export function readTranscriptionEndpoint(env: Variables): TranscriptionModel | undefined {
  const {
    SANDBOX_KIT_TRANSCRIBE_URL: baseUrl,
    SANDBOX_KIT_TRANSCRIBE_MODEL: model,
    SANDBOX_KIT_TRANSCRIBE_API_KEY: key,
  } = readEnvironment(env);
  const others = { SANDBOX_KIT_TRANSCRIBE_MODEL: model, SANDBOX_KIT_TRANSCRIBE_API_KEY: key };
  if (!hasEndpoint('SANDBOX_KIT_TRANSCRIBE_URL', baseUrl, others)) return undefined;
  return {
    baseUrl,
    ...(model !== undefined && { model }),
    ...(key !== undefined && {
      apiKey: checkKey(key, 'The key in SANDBOX_KIT_TRANSCRIBE_API_KEY'),
    }),
  };
}

/** Whether an endpoint is set. @throws {UsageError} if only its other variables are, or its URL is invalid. */
function hasEndpoint(
  urlName: string,
  url: string | undefined,
  others: Readonly<Record<string, string | undefined>>,
): url is string {
  if (url !== undefined) {
    checkEndpointUrl(urlName, url);
    return true;
  }
  const name = Object.keys(others).find((each) => others[each] !== undefined);
  if (name === undefined) return false;
  throw new UsageError(`${name} is set, but ${urlName} is not. Set the URL too.`);
}

function checkEndpointUrl(name: string, url: string): void {
  if (/^https?:$/.test(URL.parse(url)?.protocol ?? '')) return;
  throw new UsageError(
    `${name} must be a URL that starts with http:// or https://, got ${quoteUrl(url)}.`,
  );
}
