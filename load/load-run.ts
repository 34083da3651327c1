import type { LoadBlocker, LoadProfileName } from '../src/contract/index.ts';
import { withDefaults, type WithDefaults, type WithoutDefaults } from '../src/options/table.ts';
import type { RunOptionOfLibrary } from '../src/options/run.ts';
import type { Clock } from '../src/platform/clock.ts';
import type { Connection } from '../src/platform/connection.ts';
import type { AnswerForm } from '../src/voice/call/index.ts';
import type { NetworkPresetName } from '../src/voice/line-impairment/index.ts';
import type { LoadOptions } from './generated/options.ts';
import { loadOptions } from './options.ts';
import type { LoadProgress } from './progress.ts';
import type { ValidateExchange } from './profiles/validate-response.ts';
import type { Shard } from './schedule/shard.ts';
import type { Threshold } from './thresholds/threshold.ts';
import type { CallerLimits, GeneratorLimits } from './self-check/self-check.ts';

/** The result of the preflight. */
export interface Preflight {
  /** Why no load is sent. */
  blockedBy?: LoadBlocker | undefined;
  /** Whether the sandbox has `/users`. */
  hasUsers: boolean;
  /** The version that `GET /health` reported; undefined if it reported none. */
  agentVersion?: string | undefined;
}

/** The calls to place. */
export interface VoicePlan {
  /** Number of concurrent calls. */
  calls: number;
  /** Calls to place per second. */
  callsPerSecond: number;
  /** URL of the voice WebSocket (default: `/voice` of the sandbox). */
  url?: string | undefined;
  answerForm?: AnswerForm | undefined;
  /** Local address for media (default: the local address that reaches the sandbox). */
  mediaAddress?: string | undefined;
  /** Network from the callers to the sandbox (default: the real one alone). */
  network?: NetworkPresetName | undefined;
  /** Processes that place the calls (default: as many as the calls need). */
  processes?: number | undefined;
  /** Limits beyond which the run is invalid. */
  callerLimits?: CallerLimits | undefined;
}

/** The part of a run that one load generator sends. */
export interface ShardOptions extends Shard {
  /** When the ramp-up starts, in Unix milliseconds (default: as soon as the warm-up ends). */
  startAtMs?: number | undefined;
}

/** The options whose values depend on each other, which a run gets in the form below. */
type PreparedOption =
  | 'profile'
  | 'rate'
  | 'durationMs'
  | 'users'
  | 'findMax'
  | 'stepMs'
  | 'thresholds'
  | 'calls'
  | 'callsPerSecond'
  | 'network'
  | 'voice'
  | 'shard';

/** The options that determine what a run sends and judges, with defaults. */
export interface LoadSettings extends Omit<
  WithDefaults<typeof loadOptions, LoadOptions>,
  PreparedOption | RunOptionOfLibrary | 'allowHttp' | 'compareWith' | 'onProgress'
> {
  profile: LoadProfileName;
  /** Chat requests per second; health requests for the profile `health`. */
  ratePerSecond: number;
  /** For the profile `conversation`. */
  simulatedUsers: number;
  /** For the profiles `voice` and `all`. */
  voice?: VoicePlan | undefined;
  /** Duration of the steady state, which is judged, in milliseconds. */
  windowMs: number;
  /** Limits to judge in addition to the targets, from `parseThresholds` (default: none). */
  thresholds?: readonly Threshold[] | undefined;
  /** Search for the maximum rate in steps of this duration; the steady state becomes the confirmation. */
  findMax?: { stepMs: number } | undefined;
  /** The part of the run to send (default: all of it). */
  shard?: ShardOptions | undefined;
}

/** What starts a load test: a run whose options with a default value can be left out. */
export type LoadInput = WithoutDefaults<typeof loadOptions, LoadRun>;

/** A load test: its settings, and what the package above adds. */
export interface LoadRun extends LoadSettings {
  /** Base URL of the sandbox. */
  sandbox: string;
  kitVersion: string;
  /** Random seed of every id and every random choice. */
  seed: string;
  clock: Clock;
  /** Additional headers, client certificate, and proxies. */
  connection?: Connection | undefined;
  /** Limits of the self-check, beyond which the run is invalid. */
  generatorLimits?: GeneratorLimits | undefined;
  /** Returns the requirements that one exchange violates. */
  validateResponse: ValidateExchange;
  /** Checks that a sandbox is reachable. */
  preflight: (signal: AbortSignal) => Promise<Preflight>;
  /** Called once per second with the progress. */
  onTick: (live: LoadProgress) => void;
  /** Stops the run; the report then contains measurements but no verdicts. */
  signal: AbortSignal;
}

/** Completes a run with the default values of its options. */
export function completeRun(input: LoadInput): LoadRun {
  return { ...withDefaults(loadOptions, input), findMax: input.findMax };
}
