/** The options of a simulation. */
import * as z from 'zod';
import { voiceOptions } from '../../options/call.ts';
import {
  codeOption,
  flagOnly,
  fromVariables,
  group,
  option,
  switchOption,
} from '../../options/option.ts';
import { runSeed, sandboxAccess, signal, url } from '../../options/run.ts';
import { callback, compareWith, reportFiles, scenarios } from '../../options/shared.ts';
import * as values from '../../options/values.ts';
import { arrayOption, enumOption, logOption } from '../../platform/options.ts';
import { judge, speech, transcription, userModel } from '../model/options.ts';

export const CHAT_CONCURRENCY = 5;
/** More than for chat, because calls need more time but little CPU. */
export const VOICE_CONCURRENCY = 10;

const SCENARIOS_MAX = 1_000;

/** The sets of scenarios that the package contains. */
export const SCENARIO_SETS = ['general', 'shop'] as const;
export type ScenarioSetName = (typeof SCENARIO_SETS)[number];
export const DEFAULT_SET: ScenarioSetName = 'general';

/** Options of a simulation. Scenarios, personas, and evals are validated separately. */
export const simulateOptions = {
  url,
  scenarios: {
    ...scenarios,
    code: {
      schema: z
        .array(z.unknown(), 'an array')
        .min(1, 'an array of at least one scenario')
        .max(SCENARIOS_MAX, `an array of at most ${SCENARIOS_MAX} scenarios`),
      type: 'readonly (Scenario | string)[]',
      about:
        'Scenarios, or patterns of scenario files: a file, a directory, a glob such as `scenarios/*.scenario.yaml`, or ids of shipped scenarios such as `refund-*` (default: those of `set`).',
    },
  },
  set: option(
    values.oneOf(SCENARIO_SETS),
    'NAME',
    'Shipped scenarios to run: general (any agent) or shop (the reference agent)',
    {
      default: DEFAULT_SET,
      inCode: {
        type: SCENARIO_SETS.map((name) => `'${name}'`).join(' | '),
        about: `Shipped scenarios to run, unless \`scenarios\` selects others: \`general\` is for any agent that talks, \`shop\` for the reference agent (default: ${DEFAULT_SET}).`,
      },
    },
  ),
  persona: option(
    values.text,
    'NAME',
    'Persona of all users: hesitant, on-a-train, rushed, speakerphone, or the id of one next to the scenarios',
    {
      default: 'that of the scenario',
      inCode:
        'Id of the persona of all users: `hesitant`, `on-a-train`, `rushed`, `speakerphone`, one of `personas`, or one next to the files (default: that of the scenario).',
    },
  ),
  personas: codeOption({
    schema: arrayOption(z.unknown()),
    type: 'readonly Persona[]',
    about: 'Personas that scenarios refer to, in addition to those next to the files.',
  }),
  evals: codeOption({
    schema: arrayOption(z.unknown()),
    type: 'readonly EvalDefinition[]',
    about: 'Evals that scenarios refer to, in addition to those next to the files.',
  }),
  samples: option(
    values.wholeNumber(1, 1_000),
    'N',
    'Sessions per scenario, 1 to 1000',
    'samples of the scenario, or 1',
  ),
  concurrency: option(
    values.wholeNumber(1, 100),
    'N',
    'Sessions at the same time, 1 to 100',
    `${CHAT_CONCURRENCY}; voice: ${VOICE_CONCURRENCY}`,
  ),
  seed: runSeed,
  ...sandboxAccess,
  ...group('Report', {
    ...flagOnly({ isVerbose: switchOption('Show each turn', { flag: 'verbose' }) }),
    ...reportFiles,
    compareWith: compareWith('SimulationReport'),
  }),
  ...group(
    'Voice',
    flagOnly({
      byVoice: switchOption('Run all scenarios by voice instead of chat', { flag: 'voice' }),
    }),
  ),
  channel: codeOption({
    schema: enumOption(['chat', 'voice']),
    type: "'chat' | 'voice'",
    about: 'Replaces the channel of all scenarios.',
  }),
  ...voiceOptions,
  userModel: fromVariables(
    {
      SANDBOX_KIT_USER_URL:
        'OpenAI-compatible endpoint of the model that plays users of mode llm; with _MODEL, _API_KEY',
    },
    userModel,
  ),
  judge: fromVariables(
    { SANDBOX_KIT_JUDGE_URL: 'Endpoint of the LLM judge; with _MODEL, _API_KEY' },
    judge,
  ),
  speech: fromVariables(
    {
      SANDBOX_KIT_SPEECH_URL:
        'Endpoint that speaks for users, instead of the built-in English synthesizer; with _MODEL, _VOICE, _API_KEY',
    },
    speech,
  ),
  transcription: fromVariables(
    {
      SANDBOX_KIT_TRANSCRIBE_URL:
        'Endpoint that transcribes the agent in calls, to compare its speech with its text; with _MODEL, _API_KEY',
    },
    transcription,
  ),
  onSession: callback(
    '(session: SimulatedSessionReport) => void',
    'Called with each session when it ends.',
  ),
  log: codeOption({
    schema: logOption,
    type: 'Log',
    about: 'Receives log lines, which contain no text of conversations (default: no log).',
  }),
  signal,
};
