import type { Area, Endpoint, RunRecord } from '../../../src/contract/index.ts';
import type { Clock } from '../../../src/platform/clock.ts';
import type { RequirementId } from '../requirement.ts';
import type { VoiceTransformFactory } from './call-transform.ts';

/** A request as the proxy got it. */
export interface ProxyRequest {
  /** Undefined for a path or a method that the interface does not have. */
  endpoint: Endpoint | undefined;
  method: string;
  path: string;
  /** Lower-case names. */
  headers: Record<string, string>;
  body: string;
  /** The body as it came; a transform that changes `body` takes it away. */
  bytes?: Uint8Array;
  /** The body as JSON; undefined where it is not. */
  json: unknown;
  /** The same for all requests that came on one connection. */
  connection: object;
}

/** An answer as the proxy gives it. */
export interface ProxyResponse {
  status: number;
  /** Sent in the case in which they are written here. */
  headers: Record<string, string>;
  body: string;
  /** The reason phrase, where it is not the usual one. */
  reason?: string;
  /** How the end of the body is told, where not by its length. */
  framing?: 'chunked' | 'close';
}

/** An answer, or a connection that is dropped without one. */
export type ProxyResult = ProxyResponse | 'dropped';

/** Has the sandbox behind the proxy answer a request. */
export type Forward = (asked: ProxyRequest) => Promise<ProxyResponse>;

/** Stands between the judge and a sandbox; may ask the sandbox, or not, and change what it says. */
export type Transform = (
  asked: ProxyRequest,
  forward: Forward,
  clock: Clock,
) => Promise<ProxyResult>;

/** Makes a transform with a state of its own, so that no run sees what another one did. */
export type TransformFactory = () => Transform;

/** A conforming sandbox, made different. */
export interface Distortion {
  /** E.g. `chat/content-null`; never used twice. */
  id: string;
  /** What a run must be of to see it. */
  areas: readonly Area[];
  /** Of the service: seen by an intrusive run alone. */
  intrusive?: boolean;
  /** How many times as fast as the machine's the clock runs, where there is something to wait for. */
  clockFactor?: number;
  /** What is left of a longer wait, in milliseconds, where there is one to be skipped. */
  sleepMsMax?: number;
  transform: TransformFactory;
  /** What becomes of calls; they are passed on when left out. */
  voice?: VoiceTransformFactory;
  /** A change to what the run was asked to do, for what no traffic can show on this machine. */
  run?: (run: RunRecord) => RunRecord;
}

/** A distortion that breaks one rule. */
export interface Mutant extends Distortion {
  /** What it does wrong, in one sentence. */
  description: string;
  /** Exactly the requirements that turn red: `fail`, or `warn` for a target. */
  kills: readonly RequirementId[];
}

/** A distortion that is odd but breaks no rule: nothing may turn red. */
export interface Variant extends Distortion {
  /** What is odd about it, in one sentence. */
  description: string;
}

/** Writes a mutant of an area: its name, what it does wrong, what it turns red, and how. */
export type MutantFactory = (
  name: string,
  description: string,
  kills: RequirementId | readonly RequirementId[],
  transform: TransformFactory,
  more?: Partial<Mutant>,
) => Mutant;

/** A writer of the mutants of one area, whose ids all begin with its name. */
export function createMutantFactory(area: Area): MutantFactory {
  return (name, description, kills, transform, more = {}) => ({
    id: `${area}/${name}`,
    areas: [area],
    description,
    kills: [kills].flat(),
    transform,
    ...more,
  });
}

/** Writes a legal variant: its name, what is odd about it, and how. */
export type VariantFactory = (
  name: string,
  description: string,
  transform: TransformFactory,
  more?: Partial<Variant>,
) => Variant;

/** A writer of the legal variants of a kind, whose ids say it; runs are of the area of that name. */
export function createVariantFactory(area: Area): VariantFactory;
export function createVariantFactory(kind: string, areas: readonly Area[]): VariantFactory;
export function createVariantFactory(
  kind: string,
  areas: readonly Area[] = [kind as Area],
): VariantFactory {
  return (name, description, transform, more = {}) => ({
    id: `legal/${kind}-${name}`,
    areas,
    description,
    transform,
    ...more,
  });
}
