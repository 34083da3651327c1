import type {
  Arrivals,
  LoadBlocker,
  LoadEngineName,
  LoadProfileName,
} from '../src/contract/index.ts';
import type { Clock } from '../src/platform/clock.ts';
import type { AnswerForm } from '../src/voice/call/index.ts';
import type { ValidateExchange } from './profiles/examine.ts';
import type { CallerLimits } from './self-check/caller-check.ts';
import type { GeneratorLimits } from './self-check/self-check.ts';

/** What a preflight found: a cause for which nothing is sent, or what there is. */
export interface Preflight {
  blockedBy?: LoadBlocker | undefined;
  /** The sandbox has `/users`. */
  hasUsers: boolean;
}

/** Which calls to place, and how. */
export interface VoicePlan {
  /** At once. */
  calls: number;
  /** Placed a second, until all are. */
  callsPerSecond: number;
  /** Address of the voice WebSocket; `/voice` of the sandbox when undefined. */
  url?: string | undefined;
  answerForm?: AnswerForm | undefined;
  /** Of this machine, for the media; the one by which the sandbox is reached when undefined. */
  mediaAddress?: string | undefined;
  /** Processes that place them; by default as many as the calls need. */
  processes?: number | undefined;
  /** Beyond these the processes were the bottleneck. */
  callerLimits?: CallerLimits | undefined;
}

/** What to load, and how. */
export interface LoadOptions {
  /** Base URL of the sandbox. */
  sandbox: string;
  kitVersion: string;
  /** Every id and every draw of the run follows from it. */
  seed: string;
  clock: Clock;
  engine: LoadEngineName;
  profile: LoadProfileName;
  arrivals: Arrivals;
  /** Chat requests a second; of the profile health, health requests. */
  ratePerSecond: number;
  /** Of the profile conversation. */
  simulatedUsers: number;
  /** Of the profiles voice and all. */
  voice?: VoicePlan | undefined;
  /** What users say instead, the lines of each; the kit's own when left out. */
  lines?: readonly (readonly string[])[] | undefined;
  /** Length of the judged window, in milliseconds. */
  windowMs: number;
  /** Length of warm-up and ramp together; by default what fits the window. */
  warmUpMs?: number | undefined;
  /** Which percentile of the response times is judged. */
  percentile: number;
  /** The sandbox's bearer key; none is sent when undefined. */
  apiKey: string | undefined;
  /** PEM of a CA to trust besides the system's. */
  ca: string | undefined;
  /** Look for the rate that is held, by steps of this length; the window is the confirmation. */
  findMax?: { stepMs: number } | undefined;
  /** Beyond these the generator was the bottleneck; by default 5 % of the chat target at most. */
  generatorLimits?: GeneratorLimits | undefined;
  /** NOT PROVEN exits with 0. */
  acceptNotProven: boolean;
  /** What one exchange breaks of the interface. */
  judge: ValidateExchange;
  /** Looks whether there is a sandbox at all, and that it is one. */
  preflight: (signal: AbortSignal) => Promise<Preflight>;
  /** Told once a second how the run goes. */
  onTick: (live: LiveFigures) => void;
  /** Stops the run; what it has seen by then is reported, and not judged. */
  signal: AbortSignal;
}

/** How a run goes. */
export interface LiveFigures {
  phase: 'preflight' | 'warm-up' | 'ramp' | 'window' | 'drain';
  /** Sent in the last second, of the main stream. */
  perSecond: number;
  inFlight: number;
  p50Ms: number | null;
  p99Ms: number | null;
  errors: number;
  /** Of calls alone: those that are connected, and what comes of them. */
  calls?: { up: number; packetsPerSecond: number };
  /** Milliseconds until the window is over. */
  leftMs: number;
}
