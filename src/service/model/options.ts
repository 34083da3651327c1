/** The models that the service and a simulation use. */
import {
  integerOption,
  nonEmptyStringOption,
  optionsObject,
  urlOption,
} from '../../platform/options.ts';
import { codeOption } from '../../options/option.ts';
import type { SpeechModel } from '../../voice/speech/index.ts';
import type { TranscriptionModel } from '../../voice/transcription/index.ts';
import type { ModelEndpoint } from './endpoint.ts';

const model = optionsObject<ModelEndpoint>(
  {
    baseUrl: urlOption,
    model: nonEmptyStringOption,
    apiKey: nonEmptyStringOption,
    timeoutMs: integerOption(1, 600_000),
    retriesMax: integerOption(0, 100),
  },
  ['baseUrl', 'model'],
);

const speechModel = optionsObject<SpeechModel>(
  {
    baseUrl: urlOption,
    model: nonEmptyStringOption,
    voice: nonEmptyStringOption,
    apiKey: nonEmptyStringOption,
  },
  ['baseUrl'],
);

const transcriptionModel = optionsObject<TranscriptionModel>(
  { baseUrl: urlOption, model: nonEmptyStringOption, apiKey: nonEmptyStringOption },
  ['baseUrl'],
);

/** The LLM judge. */
export const judge = codeOption({
  schema: model,
  type: 'ModelEndpoint',
  about: 'The LLM judge, for evals of kind `judge`.',
});

/** The model of simulated users. */
export const userModel = codeOption({
  schema: model,
  type: 'ModelEndpoint',
  about: 'The language model that plays simulated users of mode `llm`.',
});

/** The speech of simulated users. */
export const speech = codeOption({
  schema: speechModel,
  type: 'SpeechModel',
  about: 'The speech API for simulated users in calls (default: the built-in synthesizer).',
});

/** The transcription of agents. */
export const transcription = codeOption({
  schema: transcriptionModel,
  type: 'TranscriptionModel',
  about:
    'Speech recognition that transcribes the agent in calls, to compare its speech with its text (default: not compared).',
});
