import { DAY_MS } from '../src/platform/clock.ts';
import * as z from 'zod';
import type { AgentFault } from '../src/contract/index.ts';
import type { Clock } from '../src/platform/clock.ts';
import type { Log } from '../src/platform/log.ts';
import * as options from '../src/platform/options.ts';
import type { Script } from './script.ts';
import type { TlsOptions } from './tls.ts';

/** The options of `startAgent`. */
export interface AgentOptions {
  /** Address to listen on (default: `127.0.0.1`). */
  host: string;
  /** Port to listen on; 0, the default, picks a free port. */
  port: number;
  /** Bearer key that callers must send; null, the default, requires none. */
  apiKey: string | null;
  /** Allows an agent without a key to listen on an address other than loopback (default: false). */
  open: boolean;
  /** Random seed of all ids and delays (default: `reference`). */
  seed: string;
  clock: Clock;
  log: Log;
  /** Certificate for HTTPS; null, the default, serves plain HTTP. */
  tls: TlsOptions | null;
  /** Faults at the start (default: null, no faults). */
  faults: AgentFault[] | null;
  /** Scripted replies, which take precedence over the agent's own (default: null, no script). */
  script: Script | null;
  /** Limits of calls, and the address of their media; null turns voice off. */
  voice: VoiceOptions | null;
  /** Number of requests that `/__admin/requests` stores (default: 1000). */
  journalEntriesMax: number;
  /** Whether `/__admin/requests` also stores bodies (default: false). */
  journalBodies: boolean;
}

/** How an agent accepts calls. */
export interface VoiceOptions {
  /** Concurrent calls (default: 200). */
  callsMax?: number;
  /** Maximum length of a call, in milliseconds (default: 30 minutes). */
  callMsMax?: number;
  /** Time for the answer to an offer, and for `start_call`, in milliseconds (default: 10 s). */
  answerMsMax?: number;
  /** Silence that ends a turn of the caller, in milliseconds (default: 140). */
  hangOverMs?: number;
  /** Whether callers may send captions, an extension (default: true). */
  captions?: boolean;
  /** Local address of media (default: `host` if it is an IP address, otherwise loopback). */
  address?: string;
  /** First and last UDP port for media (default: any free ports). */
  ports?: readonly [number, number];
}

type TlsFiles = Extract<TlsOptions, { kind: 'files' }>;

const tlsOptions = options.optionsObject<TlsFiles>(
  {
    kind: options.enumOption(['generated', 'files']),
    certFile: options.nonEmptyStringOption,
    keyFile: options.nonEmptyStringOption,
  },
  ['kind'],
);

const voiceOptions = options.optionsObject<VoiceOptions>({
  address: options.nonEmptyStringOption,
  ports: options.arrayOption(options.portOption),
  callsMax: options.integerOption(1, 100_000),
  callMsMax: options.integerOption(1, DAY_MS),
  answerMsMax: options.integerOption(1, DAY_MS),
  hangOverMs: options.integerOption(1, 60_000),
  captions: options.booleanOption,
});

/** Schema of the options of `startAgent`. Faults and scripts are validated separately. */
export const agentOptionsSchema = options.optionsObject<AgentOptions>({
  host: options.nonEmptyStringOption,
  port: options.portOption,
  apiKey: options.nonEmptyStringOption.nullable(),
  open: options.booleanOption,
  seed: options.nonEmptyStringOption,
  clock: options.clockOption,
  log: options.logOption,
  tls: tlsOptions.nullable(),
  faults: options.arrayOption(z.unknown()).nullable(),
  script: options.objectOption.nullable(),
  voice: voiceOptions.nullable(),
  journalEntriesMax: options.integerOption(0, 1_000_000),
  journalBodies: options.booleanOption,
});
