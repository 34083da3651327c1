/** Endpoints of models, from environment variables. */
import { isHttpUrl, quoteUrl } from '../../src/platform/base-url.ts';
import type { ModelEndpoint } from '../../src/service/index.ts';
import type { SpeechModel } from '../../src/voice/speech/index.ts';
import { UsageError } from '../errors.ts';
import { readEnvironment } from '../flags/environment.ts';
import type { Variables } from '../process.ts';
import { checkKey } from './keys.ts';

/**
 * Reads the model of the LLM judge or of the simulated users.
 *
 * @throws {UsageError} if only one of URL and MODEL is set, or the URL or the key is invalid.
 */
export function readModelEndpoint(
  role: 'JUDGE' | 'USER',
  env: Variables,
): ModelEndpoint | undefined {
  const endpoint = readEndpoint(role, env);
  if (!endpoint) return undefined;
  const { model, ...others } = endpoint;
  if (model === undefined) throw missingVariable(role, 'URL', 'MODEL');
  return { ...others, model };
}

/**
 * Reads an OpenAI-compatible endpoint: the one that speaks instead of the built-in synthesizer, the one
 * that transcribes the agent's speech in calls, or that of a language model. Returns undefined if
 * none of its variables is set.
 *
 * @throws {UsageError} if others of its variables are set without URL, or the URL or the key is invalid.
 */
export function readEndpoint(role: Role, env: Variables): SpeechModel | undefined {
  const variables = readEnvironment(env);
  const baseUrl = variables[`SANDBOX_KIT_${role}_URL`];
  const model = variables[`SANDBOX_KIT_${role}_MODEL`];
  const apiKey = variables[`SANDBOX_KIT_${role}_API_KEY`];
  const voice = role === 'SPEECH' ? variables.SANDBOX_KIT_SPEECH_VOICE : undefined;
  if (baseUrl === undefined) {
    const others = Object.entries({ MODEL: model, VOICE: voice, API_KEY: apiKey });
    const set = others.find(([, value]) => value !== undefined);
    if (!set) return undefined;
    throw missingVariable(role, set[0], 'URL');
  }
  const name = `SANDBOX_KIT_${role}`;
  if (!isHttpUrl(baseUrl)) {
    throw new UsageError(
      `${name}_URL must be a URL that starts with http:// or https://, got ${quoteUrl(baseUrl)}.`,
    );
  }
  return {
    baseUrl,
    ...(model !== undefined && { model }),
    ...(voice !== undefined && { voice }),
    ...(apiKey !== undefined && { apiKey: checkKey(apiKey, `The key in ${name}_API_KEY`) }),
  };
}

type Role = 'JUDGE' | 'USER' | 'SPEECH' | 'TRANSCRIBE';

const missingVariable = (role: Role, set: string, missing: string): UsageError =>
  new UsageError(
    `SANDBOX_KIT_${role}_${set} is set, but SANDBOX_KIT_${role}_${missing} is not. Set both or neither.`,
  );
