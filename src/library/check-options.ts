import * as z from 'zod';
import type { Area, CheckReport, ExchangeRecord } from '../contract/index.ts';
import * as schemas from '../platform/options.ts';
import type { CallTarget } from './call-target.ts';
import {
  callTargetOption,
  knownFailuresOption,
  positiveNumberOption,
  reportOption,
  runOptions,
  type KnownFailure,
  type RunOptions,
} from './options.ts';

/** Options of `check`. Only `url` is required. */
export interface CheckOptions extends RunOptions {
  /**
   * The areas to check: `chat`, `health`, `users`, `voice`, or only `service` (default: all areas of a
   * sandbox).
   */
  areas?: readonly Area[] | undefined;
  /** Header of the service's key; service only (default: `x-service-api-key`). */
  apiKeyHeader?: string | undefined;
  /** Messages that make the agent use a tool, at most 50 (default: three messages to a shop). */
  prompts?: readonly string[] | undefined;
  /** Requests in flight, 1 to 64 (default: 6). */
  concurrency?: number | undefined;
  /** Maximum requests per second (default: no limit). */
  rate?: number | undefined;
  /** Timeout of chat and user requests in milliseconds (default: 30 000). */
  timeoutMs?: number | undefined;
  /** Also sends large, numerous, or slow requests; service only (default: true on loopback). */
  intrusive?: boolean | undefined;
  /** Treats warnings as failures (default: false). */
  strict?: boolean | undefined;
  /** Ids or patterns such as `USERS-*` of the requirements to judge (default: all of the areas). */
  only?: readonly string[] | undefined;
  /** Ids or patterns of the requirements to skip. */
  skip?: readonly string[] | undefined;
  /** Requirement set of a release, such as `0.2`; later requirements are notes (default: newest). */
  requirements?: string | undefined;
  /** Failures to accept, each with the reason. */
  knownFailures?: readonly KnownFailure[] | undefined;
  /** An earlier report. The new report then has a `comparison`. */
  compareWith?: CheckReport | undefined;
  /** Settings of calls. */
  voice?: CallTarget | undefined;
  /** Path of a file for all exchanges, which `grade` can judge again. */
  recordFile?: string | undefined;
  /** Called after every exchange. */
  onExchange?: ((exchange: ExchangeRecord) => void) | undefined;
}

const PROMPTS_MAX = 50;

const sandboxAreas = ['chat', 'health', 'users', 'voice'] as const;
const AREAS = 'an array of chat, health, users, and voice, or only service';

/** Areas of a sandbox, or only the area of the service. */
export const areasOption = z
  .array(z.enum([...sandboxAreas, 'service'], 'one of chat, health, users, voice, service'), AREAS)
  .min(1, AREAS)
  .refine(
    (areas) => areas.length === 1 || !areas.includes('service'),
    "can't combine service with other areas: the service and a sandbox are different servers.",
  );

const REQUIREMENTS_MAX = 1_000;

/** Ids of requirements, or patterns with `*`. */
export const requirementIdsOption = z
  .array(schemas.nonEmptyStringOption, 'an array of requirements')
  .min(1, 'an array of at least one requirement')
  .max(REQUIREMENTS_MAX, `an array of at most ${REQUIREMENTS_MAX} requirements`);

/** Schema of the options of `check`. */
export const checkOptionsSchema = schemas.optionsObject<CheckOptions>(
  {
    ...runOptions,
    areas: areasOption,
    apiKeyHeader: schemas.nonEmptyStringOption,
    prompts: z
      .array(schemas.nonEmptyStringOption, 'an array')
      .max(PROMPTS_MAX, `an array of at most ${PROMPTS_MAX} texts`),
    concurrency: schemas.integerOption(1, 64),
    rate: positiveNumberOption(1_000_000),
    timeoutMs: schemas.integerOption(100, 600_000),
    intrusive: schemas.booleanOption,
    strict: schemas.booleanOption,
    only: requirementIdsOption,
    skip: requirementIdsOption,
    requirements: schemas.nonEmptyStringOption,
    knownFailures: knownFailuresOption,
    compareWith: reportOption('CheckReport'),
    voice: callTargetOption,
    recordFile: schemas.nonEmptyStringOption,
    onExchange: schemas.functionOption,
  },
  ['url'],
);
