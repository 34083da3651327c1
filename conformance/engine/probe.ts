import type { Area, Endpoint, Intent } from '../../src/contract/index.ts';
import type { Random } from '../../src/platform/random.ts';
import type { CallScript } from './drive/call/script.ts';
import type { RequirementId } from './requirement.ts';
import type { Exchange } from './transcript/transcript.ts';

/** A key that a peer must not accept: none, an unknown one, or the right one changed. */
export type BadKey = 'none' | 'wrong' | 'longer' | 'shorter' | 'other case';

/**
 * `together`: the request stays concurrent with requests like it, even when others go one at a time.
 * `burst`: more requests may be in flight than `--concurrency` allows, unless they go one at a time.
 */
export type RequestOrder = 'together' | 'burst';

/** Maximum number of requests in flight when a request of a burst starts. */
export const BURST_CONCURRENCY = 32;

/** One request of a probe. An area narrows `Name` to the names of its steps. */
export interface Step<Name extends string = string> {
  endpoint: Endpoint;
  /** Names what is special about the request. Checks find the exchange by this name. */
  step: Name;
  intent: Intent;
  /** The accepted exchange that this request differs from in one edit. */
  control?: Exchange | undefined;
  /** What is special about a generated request. */
  properties?: readonly string[];
  /** A value to send as JSON, or text or bytes to send unchanged. */
  body?: { json: unknown } | { text: string } | { bytes: Uint8Array };
  /** The user in the path of `DELETE /users/{user_id}`. */
  userId?: string;
  /** The key to send (default: the key of the run). */
  key?: BadKey | { own: string; owner: string };
  /** What precedes the key of a sandbox in its header (default: `Bearer ` with a space). */
  keyScheme?: 'bearer ' | '';
  /** How the name of the header with the key is written (default: in lower case). */
  keyHeaderCase?: 'capitalized' | 'upper';
  /** `keep-alive` reuses one connection for all steps that set it. */
  connection?: 'keep-alive';
  /**
   * The session in `/v1/sessions/{path}/end`, the path and query of a results request, the path
   * below `/__admin` or elsewhere, or the path of a WebSocket (default: that of the voice URL).
   */
  path?: string;
  /** The method of a request to `/__admin` or elsewhere (default: POST). */
  method?: 'GET' | 'PUT' | 'DELETE';
  /** How it may be concurrent with other requests (default: as `--concurrency` allows). */
  order?: RequestOrder;
  /** How many requests start at the same moment. Their probe sends them one right after the other. */
  atOnce?: number;
  /** Don't repeat the request after a 429. */
  once?: true;
  /** Additional headers. They replace headers of the same name. */
  headers?: Record<string, string>;
  /** What a call does once its WebSocket is open. */
  call?: CallScript;
}

/** What every probe can use. A suite adds the state that its probes share. */
export interface ProbeContext {
  /** Sends a request and repeats it after a 429. Returns undefined if nothing was sent. */
  send(step: Step): Promise<Exchange | undefined>;
  /** Returns whether an exchange repeats a request whose connection failed at first. */
  wasCutOff(exchange: Exchange): boolean;
  /** Lets work continue in later phases, such as listening after a hang-up; the run waits for it at its end. */
  continueInBackground(work: Promise<void>): void;
  /** Random values for this probe alone, derived from the seed. */
  readonly random: Random;
  /** Messages that are likely to make the agent call a tool. */
  readonly prompts: readonly string[];
  /** The areas that the run checks. */
  readonly areas: readonly Area[];
}

/** When a probe runs. All probes of a phase finish before the next phase starts. */
export type Phase = 'preflight' | 'accepted' | 'refused' | 'after' | 'cleanup' | 'last' | 'end';

/** What a probe sends to a peer that never responds with 429. */
export interface Cost {
  /** Requests in total. */
  requests: number;
  /** Chat requests that reach a model. */
  modelCalls: number;
  /** Users that are created. */
  users: number;
  /** Voice calls. The WebSocket request of each call is also counted in `requests`. */
  calls: number;
}

/** How long the calls of a probe take. */
export interface CallTime {
  /** The duration of one call with a sandbox that responds immediately, in milliseconds. */
  eachMs: number;
  /** The calls are placed one after another. */
  isSerial?: true;
}

/** Sends traffic and nothing else; the checks decide what the responses mean. */
export interface Probe<State extends object = object, Id extends RequirementId = RequirementId> {
  id: string;
  area: Area;
  phase: Phase;
  /** Requirements for which this probe yields evidence from a peer that implements everything. */
  exercises: readonly Id[];
  /** Probes of an earlier phase whose effects this probe relies on. */
  needs?: readonly Probe<State>[];
  /** The other probes of its phase wait for it, unless it takes long: they change what it reads. */
  goesFirst?: true;
  /** Also runs when one of these areas is checked and the probe's own area is not. */
  alsoFor?: readonly Area[];
  /** Runs only with `--intrusive`. */
  intrusive?: true;
  /** Removes what the run created, so it also runs after an interruption. */
  cleansUp?: true;
  /** The maximum that the probe sends, given the number of users that the run created before. */
  cost: (prompts: readonly string[], usersBefore: number) => Cost;
  /** Needed for the estimate of the remaining time if the probe places calls. */
  callTime?: CallTime;
  run(context: ProbeContext & State): Promise<void>;
}

/** A probe where it is written. What it exercises follows from the requirements that name it. */
export interface ProbeEntry<State extends object = object> extends Omit<
  Probe<State>,
  'exercises' | 'needs'
> {
  /** Probes of an earlier phase whose effects this probe relies on. */
  needs?: readonly ProbeEntry<State>[];
}

/** Returns a cost that does not depend on the run. */
export function cost(requests: number, modelCalls = 0, users = 0, calls = 0): Probe['cost'] {
  return () => ({ requests, modelCalls, users, calls });
}

/**
 * Returns a function that creates predicates for the steps of an area:
 * `const isStep = stepsOf<ChatStep>('chat')`, then `isStep('minimal', 'full')(exchange)`.
 */
// The caller chooses the union of step names; nothing else names it.
// eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters
export function stepsOf<Name extends string>(
  ...endpoints: Endpoint[]
): (...names: Name[]) => (exchange: Pick<Exchange, 'endpoint' | 'step'>) => boolean {
  return (...names) =>
    ({ endpoint, step }) =>
      endpoints.includes(endpoint) && (names as string[]).includes(step);
}
