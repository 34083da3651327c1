import type { Endpoint, Intent } from '../../src/contract/index.ts';
import type { Random } from '../../src/platform/random.ts';
import type { Exchange } from './transcript/transcript.ts';
import type { CallScript, VoiceContext } from './drive/call/script.ts';
import type { ServiceContext } from '../areas/service/context.ts';

/** One request of a scenario. */
export interface Step {
  endpoint: Endpoint;
  /** What is special about it; checks find it by this name. */
  step: string;
  intent: Intent;
  /** The exchange that it is one edit away from. */
  control?: Exchange | undefined;
  /** A value to send as JSON, or text or bytes to send as they are. */
  body?: { json: unknown } | { text: string } | { bytes: Uint8Array };
  /** Of whom `DELETE /users/{user_id}` speaks. */
  userId?: string;
  /** Which key goes along: the given one unless it says otherwise. */
  key?: 'none' | 'wrong' | { own: string };
  /** `kept` sends it on the connection of the last one that was kept. */
  connection?: 'kept';
  /**
   * Of `/v1/sessions/{path}/end`, of results with their query, or below `/__admin`; of a WebSocket,
   * in place of its own.
   */
  path?: string;
  /** Of `/__admin`; POST unless it says otherwise. */
  method?: 'GET' | 'PUT' | 'DELETE';
  /** Sent once, also when it is put off. */
  once?: true;
  /** Headers besides the usual ones, or in their place. */
  headers?: Record<string, string>;
  /** Of the voice endpoint: what the call does once its WebSocket is open. */
  call?: CallScript;
}

/** What a scenario can do, and what it knows of the run. */
export interface ProbeContext {
  /** Sends a request, again if it is put off; undefined when the endpoint was given up. */
  send(step: Step): Promise<Exchange | undefined>;
  readonly users: SimulatedUsers;
  /** Chance for this scenario alone. */
  readonly random: Random;
  /** Messages that may make the agent use a tool. */
  readonly prompts: readonly string[];
  /** What the scenarios of the service share. */
  readonly service: ServiceContext;
  /** What the scenarios of voice share. */
  readonly voice: VoiceContext;
}

/** The simulated users of a run, which its scenarios share. */
export interface SimulatedUsers {
  /** Whose id goes into chat requests; undefined where no user could be created. */
  chatAs: string | undefined;
  /** There is no `POST /users` here. */
  isUnsupported: boolean;
  /** Ids of users that exist, to be deleted at the end. */
  readonly existing: Set<string>;
  /** Ids that should have been refused and were not, to be deleted as well. */
  readonly wronglyAccepted: Set<string>;
}
