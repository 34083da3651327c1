import * as kinds from '../../platform/option-kinds.ts';
import type { ServiceKey, ServiceOptions } from './start-service.ts';

const aKey = kinds.optionsOf<ServiceKey>({ key: kinds.aText, owner: kinds.aText }, ['key']);

const model = {
  baseUrl: kinds.anAddress,
  apiKey: kinds.aText,
  model: kinds.aText,
  timeoutMs: kinds.aWholeNumber(1, 600_000),
  retriesMax: kinds.aWholeNumber(0, 100),
};

const aJudge = kinds.optionsOf<ServiceOptions['judge']>(model, ['baseUrl', 'model']);
const aUserModel = kinds.optionsOf<ServiceOptions['userModel']>(model, ['baseUrl', 'model']);

const aSpeech = kinds.optionsOf<ServiceOptions['speech']>(
  { baseUrl: kinds.anAddress, model: kinds.aText, voice: kinds.aText, apiKey: kinds.aText },
  ['baseUrl'],
);

/** What each option of `startService` must be. */
export const serviceOptionKinds: kinds.OptionKinds<ServiceOptions> = {
  host: kinds.aText,
  port: kinds.aPort,
  dataDir: kinds.aText,
  clock: kinds.aClock,
  // What is in it, the seed's own schema says.
  seed: kinds.anObject,
  onSeedProgress: kinds.aFunction,
  chanceSeed: kinds.aText,
  log: kinds.aLog,
  apiKeyHeader: kinds.aText,
  keys: kinds.listOf(aKey),
  judge: aJudge,
  userModel: aUserModel,
  speech: aSpeech,
  appUrl: kinds.anAddress,
};
