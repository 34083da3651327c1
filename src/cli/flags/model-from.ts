import { readEnvironment } from './environment.ts';
import { UsageError } from './usage-error.ts';

/** A language model behind an OpenAI-compatible API. */
export interface ModelPlace {
  baseUrl: string;
  model: string;
  apiKey?: string;
}

/**
 * The model that the environment names for a part: who judges, or who plays users.
 *
 * @throws {UsageError} where the variables make no whole.
 */
export function modelFrom(part: 'JUDGE' | 'USER'): ModelPlace | undefined {
  const environment = readEnvironment();
  const [urlName, modelName] = [`SANDBOX_KIT_${part}_URL`, `SANDBOX_KIT_${part}_MODEL`] as const;
  const baseUrl = environment[urlName];
  const model = environment[modelName];
  if (baseUrl === undefined && model === undefined) return undefined;
  if (baseUrl === undefined || model === undefined) {
    const [set, missing] = baseUrl === undefined ? [modelName, urlName] : [urlName, modelName];
    const what = missing === urlName ? 'the address of the model' : 'the name of the model there';
    throw new UsageError(`${set} is set and ${missing} is not: set that too, ${what}.`);
  }
  if (!URL.canParse(baseUrl)) {
    throw new UsageError(`${urlName}: expected an address, got ${JSON.stringify(baseUrl)}.`);
  }
  const apiKey = environment[`SANDBOX_KIT_${part}_API_KEY`];
  return { baseUrl, model, ...(apiKey === undefined ? {} : { apiKey }) };
}
