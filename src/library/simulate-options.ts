import * as z from 'zod';
import type {
  EvalDefinition,
  Persona,
  Scenario,
  SimulatedSessionReport,
  SimulationReport,
} from '../contract/index.ts';
import type { Log } from '../platform/log.ts';
import * as schemas from '../platform/options.ts';
import type { CallTarget } from './call-target.ts';
import {
  callTargetOption,
  modelOption,
  reportOption,
  runOptions,
  speechOption,
  type ModelEndpoint,
  type RunOptions,
  type SpeechModel,
} from './options.ts';

/** Options of `simulate`. Only `url` is required. */
export interface SimulateOptions extends RunOptions {
  /**
   * Scenarios, or patterns of scenario files: a file, a directory, a glob such as
   * `scenarios/*.scenario.yaml`, or ids of starter scenarios such as `refund-*` (default: all starter
   * scenarios, which are for the support agent of a shop).
   */
  scenarios?: readonly (Scenario | string)[] | undefined;
  /** Personas that scenarios refer to, in addition to those next to the files. */
  personas?: readonly Persona[] | undefined;
  /** Evals that scenarios refer to, in addition to those next to the files. */
  evals?: readonly EvalDefinition[] | undefined;
  /** Sessions per scenario, 1 to 1000 (default: `samples` of the scenario, or 1). */
  samples?: number | undefined;
  /** Concurrent sessions, 1 to 100 (default: 5; with voice: 10). */
  concurrency?: number | undefined;
  /** Replaces the channel of all scenarios. */
  channel?: 'chat' | 'voice' | undefined;
  /** The LLM judge, for evals of kind `judge`. */
  judge?: ModelEndpoint | undefined;
  /** The model that plays users of mode `llm`. */
  userModel?: ModelEndpoint | undefined;
  /** Speech synthesis for users in calls (default: the built-in English synthesizer). */
  speech?: SpeechModel | undefined;
  /** Settings of calls. */
  voice?: CallTarget | undefined;
  /** An earlier report. The new report then has a `comparison`. */
  compareWith?: SimulationReport | undefined;
  /** Called with each session when it ends. */
  onSession?: ((session: SimulatedSessionReport) => void) | undefined;
  /** Receives log lines, which contain no text of conversations (default: no log). */
  log?: Log | undefined;
}

const SCENARIOS_MAX = 1_000;

/** Schema of the options of `simulate`. Scenarios, personas, and evals are validated separately. */
export const simulateOptionsSchema = schemas.optionsObject<SimulateOptions>(
  {
    ...runOptions,
    scenarios: z
      .array(z.unknown(), 'an array')
      .min(1, 'an array of at least one scenario')
      .max(SCENARIOS_MAX, `an array of at most ${SCENARIOS_MAX} scenarios`),
    personas: schemas.arrayOption(z.unknown()),
    evals: schemas.arrayOption(z.unknown()),
    samples: schemas.integerOption(1, 1_000),
    concurrency: schemas.integerOption(1, 100),
    channel: schemas.enumOption(['chat', 'voice']),
    judge: modelOption,
    userModel: modelOption,
    speech: speechOption,
    voice: callTargetOption,
    compareWith: reportOption('SimulationReport'),
    onSession: schemas.functionOption,
    log: schemas.logOption,
  },
  ['url'],
);
