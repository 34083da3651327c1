// Generated from tables of options by packaging/generate-options.ts, do not edit.
import type { AgentFault, AgentScript } from '../../src/contract/index.ts';
import type { Clock } from '../../src/platform/clock.ts';
import type { Log } from '../../src/platform/log.ts';
import type { TlsOptions } from '../tls.ts';

/** The options of `startAgent`. */
export interface AgentOptions {
  /** Port to listen on; 0, the default, picks a free port. */
  port: number;
  /** Host name or IP address to listen on (default: 127.0.0.1). */
  host: string;
  /** Bearer key that callers must send; null, the default, requires none. */
  apiKey: string | null;
  /** Allows an agent without a key to listen on an address other than loopback (default: false). */
  open: boolean;
  /** Random seed of all ids and delays (default: `reference`). */
  seed: string;
  /** Certificate for HTTPS; null, the default, serves plain HTTP. */
  tls: TlsOptions | null;
  /**
   * Breaks one requirement: an id that `sandbox-kit selftest --list` lists, such as
   * `chat/content-null`.
   */
  mutant: string;
  /** Scripted replies, which take precedence over the agent's own (default: null, no script). */
  script: AgentScript | null;
  /** Faults at the start (default: null, no faults). */
  faults: AgentFault[] | null;
  /** Whether `/__admin/requests` also stores bodies (default: false). */
  journalBodies: boolean;
  /** Number of requests that `/__admin/requests` stores (default: 1000). */
  journalEntriesMax: number;
  /** Limits of calls, and the address of their media; null turns voice off. */
  voice: VoiceOptions | null;
  /** The clock of the agent (default: the system clock). */
  clock: Clock;
  /** Receives log lines (default: no log). */
  log: Log;
}

/** How an agent accepts calls. */
export interface VoiceOptions {
  /** Concurrent calls (default: 200). */
  callsMax?: number;
  /** Maximum length of a call, in milliseconds (default: 30 minutes). */
  callMsMax?: number;
  /** Time for the answer to an offer, and for `start_call`, in milliseconds (default: 10 s). */
  answerMsMax?: number;
  /** Whether callers may send captions, an extension (default: true). */
  captions?: boolean;
  /** Local address of media (default: `host` if it is an IP address, otherwise loopback). */
  address?: string;
  /** First and last UDP port for media (default: any free ports). */
  ports?: readonly [number, number];
  /** Silence that ends a turn of the caller, in milliseconds (default: 140). */
  hangOverMs?: number;
  /**
   * Time until the agent stops speaking when the caller speaks over it, in milliseconds (default:
   * 200).
   */
  yieldMs?: number;
}
