import type {
  Arrivals,
  LoadBlocker,
  LoadEngineName,
  LoadProfileName,
} from '../src/contract/index.ts';
import type { Clock } from '../src/platform/clock.ts';
import type { Connection } from '../src/platform/connection.ts';
import type { AnswerForm } from '../src/voice/call/index.ts';
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

/** Options of a load test. */
export interface LoadOptions {
  /** Base URL of the sandbox. */
  sandbox: string;
  kitVersion: string;
  /** Random seed from which every id and every random choice derives. */
  seed: string;
  clock: Clock;
  engine: LoadEngineName;
  /** Connections of the engine `autocannon` (default: 10). */
  connections?: number | undefined;
  profile: LoadProfileName;
  arrivals: Arrivals;
  /** Chat requests per second; health requests for the profile `health`. */
  ratePerSecond: number;
  /** For the profile `conversation`. */
  simulatedUsers: number;
  /** For the profiles `voice` and `all`. */
  voice?: VoicePlan | undefined;
  /** The messages of each simulated user (default: built-in messages). */
  lines?: readonly (readonly string[])[] | undefined;
  /** Duration of the steady state, which is judged, in milliseconds. */
  windowMs: number;
  /** Duration of warm-up and ramp-up together (default: a sixth of the steady state, at most 10 s). */
  warmUpMs?: number | undefined;
  /** The percentile of the response times that is judged. */
  percentile: number;
  /** Limits to judge in addition to the targets, from `parseThresholds` (default: none). */
  thresholds?: readonly Threshold[] | undefined;
  /** The bearer key of the sandbox; no key is sent when undefined. */
  apiKey: string | undefined;
  /** PEM of a CA to trust in addition to the system's CAs. */
  ca: string | undefined;
  /** Additional headers, client certificate, and proxies. */
  connection?: Connection | undefined;
  /** Search for the maximum rate in steps of this duration; the steady state becomes the confirmation. */
  findMax?: { stepMs: number } | undefined;
  /** The part of the run to send (default: all of it). */
  shard?: ShardOptions | undefined;
  /** Limits of the self-check, beyond which the run is invalid. */
  generatorLimits?: GeneratorLimits | undefined;
  /** Whether NOT PROVEN exits with code 0. */
  acceptNotProven: boolean;
  /** Returns the requirements that one exchange violates. */
  validateResponse: ValidateExchange;
  /** Checks that a sandbox is reachable. */
  preflight: (signal: AbortSignal) => Promise<Preflight>;
  /** Called once per second with the progress. */
  onTick: (live: LoadProgress) => void;
  /** Stops the run; the report then contains measurements but no verdicts. */
  signal: AbortSignal;
}

/** The progress of a run. */
export interface LoadProgress {
  phase: 'preflight' | 'warm-up' | 'ramp' | 'window' | 'drain';
  /** Requests of the main stream sent in the last second. */
  perSecond: number;
  inFlight: number;
  p50Ms: number | null;
  p99Ms: number | null;
  errors: number;
  /** For a run with calls only: connected calls, and received packets per second. */
  calls?: { up: number; packetsPerSecond: number };
  /** For a search only: the rate of the step; null before the first step. */
  search?: { perSecond: number | null };
  /** Milliseconds until the steady state ends; in a search, that of the step. */
  leftMs: number;
}
