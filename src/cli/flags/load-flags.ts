import type { Argv } from 'yargs';
import { z } from 'zod';
import * as flags from './flags.ts';
import { callFlags, callOptions } from './voice-flags.ts';

const RATE_MAX = 10_000;
const DAY_MS = 86_400_000;

const unitMs: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** A time such as 60s, 5m or 1h, in milliseconds; a second at least, a day at most. */
const timeSpan = (minMs: number): z.ZodType<number> =>
  z.string({ error: 'expected a time such as 60s or 5m' }).transform((text, context) => {
    const [, number = '', unit = ''] = /^(\d+(?:\.\d+)?)(ms|s|m|h)$/.exec(text) ?? [];
    const ms = Math.round(Number(number) * (unitMs[unit] ?? NaN));
    if (ms >= minMs && ms <= DAY_MS) return ms;
    const least = minMs === 0 ? '0s' : '1s';
    const message = `expected a time such as 60s or 5m, from ${least} to 24h, got ${JSON.stringify(text)}`;
    context.addIssue({ code: 'custom', message });
    return z.NEVER;
  });

const oneOf = <const Names extends readonly [string, ...string[]]>(names: Names) =>
  z.enum(names, { error: `expected one of ${names.join(', ')}` });

/** What `load` takes. */
export const loadFlags = z.object({
  url: flags.sandboxUrl,
  engine: oneOf(['open', 'autocannon']),
  profile: oneOf(['chat', 'conversation', 'health', 'mixed', 'voice', 'all']).optional(),
  'find-max': z.boolean(),
  step: timeSpan(1_000).optional(),
  rate: flags.positive
    .refine((rate) => rate <= RATE_MAX, `expected a number above 0, ${RATE_MAX} at most`)
    .optional(),
  scenario: z.array(flags.word).optional(),
  users: flags.wholeNumber(1, 5_000).optional(),
  calls: flags.wholeNumber(1, 1_000).optional(),
  'calls-per-second': flags.positive
    .refine((rate) => rate <= 100, 'expected a number above 0, 100 at most')
    .optional(),
  ...callFlags,
  duration: timeSpan(1_000).optional(),
  quick: z.boolean(),
  'warm-up': timeSpan(0).optional(),
  arrivals: oneOf(['uniform', 'poisson']),
  percentile: z
    .number({ error: 'expected a percentile from 50 to 99.9' })
    .min(50, 'expected a percentile from 50 to 99.9')
    .max(99.9, 'expected a percentile from 50 to 99.9'),
  'accept-not-proven': z.boolean(),
  yes: z.boolean(),
  seed: flags.seed.optional(),
  json: flags.filePath.optional(),
  junit: flags.filePath.optional(),
  markdown: flags.filePath.optional(),
  html: flags.filePath.optional(),
  baseline: flags.filePath.optional(),
  'api-key-file': flags.filePath.optional(),
  ca: flags.filePath.optional(),
});

export type LoadFlags = z.infer<typeof loadFlags>;

/** The options of `load` for the parser. */
export function loadOptions(yargs: Argv): Argv {
  return reportOptions(
    callOptions(callsOptions(yargs))
      .positional('url', { type: 'string', describe: 'base address of the sandbox' })
      .option('rate', { type: 'number', describe: 'requests a second; 100, of health 10' })
      .option('duration', { type: 'string', describe: 'judged window such as 60s; 5m' })
      .option('quick', { type: 'boolean', default: false, describe: 'a window of 60 s' })
      .option('profile', {
        type: 'string',
        describe: 'chat, conversation, health, voice; mixed: chat, health, users; all',
      })
      .option('find-max', {
        type: 'boolean',
        default: false,
        describe: 'look for the rate that is held',
      })
      .option('step', { type: 'string', describe: 'length of a step of --find-max; 20s' })
      .option('engine', {
        type: 'string',
        default: 'open',
        describe: 'open, or autocannon paced from outside',
      })
      .option('users', { type: 'number', describe: 'users who talk, of conversation' })
      .option('scenario', {
        type: 'string',
        array: true,
        describe: 'scenarios whose lines are said, of chat and conversation',
      })
      .option('arrivals', { type: 'string', default: 'uniform', describe: 'uniform or poisson' })
      .option('warm-up', { type: 'string', describe: 'time before the window; 10s at most' })
      .option('percentile', { type: 'number', default: 99, describe: 'of the times to judge' })
      .option('yes', { type: 'boolean', default: false, describe: 'send as many as it says' }),
  );
}

function callsOptions(yargs: Argv): Argv {
  return yargs
    .option('calls', { type: 'number', describe: 'calls at once, of voice and all; 100' })
    .option('calls-per-second', { type: 'number', describe: 'calls placed a second; 10' });
}

function reportOptions(yargs: Argv): Argv {
  return yargs
    .option('accept-not-proven', {
      type: 'boolean',
      default: false,
      describe: 'NOT PROVEN exits with 0, for short runs in CI',
    })
    .option('json', { type: 'string', describe: 'write the report as JSON; - is stdout' })
    .option('junit', { type: 'string', describe: 'write the report as JUnit XML' })
    .option('markdown', { type: 'string', describe: 'write a summary as Markdown' })
    .option('html', { type: 'string', describe: 'write a page with charts, in one file' })
    .option('baseline', { type: 'string', describe: 'JSON of an earlier run, to compare' })
    .option('seed', { type: 'string', describe: 'repeat the ids of an earlier run' })
    .option('api-key-file', { type: 'string', describe: 'file that holds the bearer key' })
    .option('ca', { type: 'string', describe: 'PEM file of a CA to trust' })
    .epilogue(EPILOGUE);
}

const EPILOGUE = `Examples:
  sandbox-kit load URL --profile chat --quick --html load.html
  sandbox-kit load URL --rate 20 --duration 5s --accept-not-proven
  sandbox-kit load URL --json run.json --baseline earlier.json
  sandbox-kit load URL --find-max --step 10s
  sandbox-kit load URL --profile voice --calls 100 --duration 60s

Verdicts: PASS, FAIL, NOT PROVEN (too few samples to tell), INVALID RUN (this
machine was the bottleneck, or the run broke off), NOT TESTED.
The bearer key is read from SANDBOX_KIT_API_KEY, or with --api-key-file.
Exit codes: 0 all that was tested holds, 1 something does not, 3 not known.`;
