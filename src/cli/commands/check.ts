import { serviceApiKeyHeader } from '../../contract/index.ts';
import { isLoopbackUrl } from '../../platform/loopback.ts';
import type { Argv, CommandModule } from 'yargs';
import { z } from 'zod';
import type { CheckReport } from '../../contract/index.ts';
import { randomSeed } from '../../platform/random.ts';
import { systemClock } from '../../platform/clock.ts';
import { wrap } from '../../report-kit/terminal.ts';
import { readBaseline } from '../input/known-failures.ts';
import { callRecordings } from '../output/call-recordings.ts';
import { writeTextFile } from '../input/files.ts';
import * as flags from '../flags/flags.ts';
import { kitVersion } from '../kit-version.ts';
import { openOutputs, type Outputs } from '../output/outputs.ts';
import { progress } from '../output/progress.ts';
import { readUserLines } from '../input/scenario-files.ts';
import { interruptible } from '../signals.ts';
import { terminalOf, type Terminal } from '../output/terminal.ts';
import { UsageError } from '../flags/usage-error.ts';
import { voiceFlags, voiceOf, voiceOptions } from '../flags/voice-flags.ts';

const checkFlags = z.object({
  url: flags.sandboxUrl.optional(),
  area: flags.checkedAreas.optional(),
  json: flags.filePath.optional(),
  junit: flags.filePath.optional(),
  markdown: flags.filePath.optional(),
  html: flags.filePath.optional(),
  record: flags.filePath.optional(),
  baseline: flags.filePath.optional(),
  'api-key-file': flags.filePath.optional(),
  'api-key-header': flags.headerName,
  intrusive: z.boolean().optional(),
  ca: flags.filePath.optional(),
  'allow-http': z.boolean(),
  strict: z.boolean(),
  verbose: z.boolean(),
  seed: flags.seed.optional(),
  concurrency: flags.wholeNumber(1, 64),
  rate: flags.positive.optional(),
  'timeout-ms': flags.wholeNumber(100, 600_000),
  ...voiceFlags,
  prompt: z.array(flags.word).max(50, 'expected 50 at most').optional(),
  scenario: z.array(flags.word).optional(),
  list: z.boolean(),
  'dry-run': z.boolean(),
});

type CheckFlags = z.infer<typeof checkFlags>;
type Judge = typeof import('../../../conformance/index.ts');

/** `sandbox-kit check URL`: does this sandbox obey the interface? */
export const checkVerb: CommandModule = {
  command: 'check [url]',
  describe: 'Check whether a sandbox obeys the interface',
  builder: (yargs) => examples(voiceOptions(sendingOptions(reportOptions(yargs)))),
  handler: async (argv) => {
    const given = flags.parseFlags(checkFlags, argv);
    const judge = await import('../../../conformance/index.ts');
    const prompts = promptsOf(given);
    const chosen = {
      ...(given.area ? { areas: given.area } : {}),
      ...(prompts.length > 0 ? { prompts } : {}),
      ...(isOfService(given) ? { intrusive: isIntrusive(given) } : {}),
    };
    checkServiceFlags(given);
    if (given.list || given['dry-run']) {
      const out = terminalOf(process.stdout);
      out.write(given.list ? judge.listing(chosen, out) : judge.dryRun(chosen, out));
    } else await runCheck(given, chosen, judge);
  },
};

/** The messages that are to make the agent use tools: those given, and what scenarios open with. */
function promptsOf({ prompt = [], scenario }: CheckFlags): string[] {
  const openings = scenario ? readUserLines(scenario).map(([opening = '']) => opening) : [];
  const prompts = [...prompt, ...openings];
  if (prompts.length <= PROMPTS_MAX) return prompts;
  throw new UsageError(
    `--scenario: expected ${PROMPTS_MAX} prompts at most, got ${prompts.length}.`,
  );
}

const PROMPTS_MAX = 50;

const isOfService = ({ area }: Pick<CheckFlags, 'area'>): boolean =>
  area?.includes('service') ?? false;

/** On this machine everything is sent; elsewhere what is large, many or slow only when asked for. */
function isIntrusive({ intrusive, url = '' }: CheckFlags): boolean {
  return intrusive ?? isLoopbackUrl(url);
}

/** What makes sense for the service alone must not pass unnoticed in a check of a sandbox. */
function checkServiceFlags(given: CheckFlags): void {
  if (isOfService(given) || given.intrusive === undefined) return;
  throw new UsageError('--intrusive: expected only together with --area service.');
}

/** What `--verbose` of a report does. */
export const VERBOSE = 'tell every note and the whole dialect';

function reportOptions(yargs: Argv): Argv {
  return yargs
    .usage('sandbox-kit check URL\n\nChecks a sandbox over the network and says what holds.')
    .positional('url', { type: 'string', describe: 'base address of the sandbox' })
    .option('area', { type: 'string', describe: 'only these: chat,health,users,voice; or service' })
    .option('json', { type: 'string', describe: 'write the report as JSON; - is stdout' })
    .option('junit', { type: 'string', describe: 'write the report as JUnit XML' })
    .option('markdown', { type: 'string', describe: 'write a summary as Markdown' })
    .option('html', { type: 'string', describe: 'write the report as one HTML page' })
    .option('record', { type: 'string', describe: 'write the recording, for grade' })
    .option('baseline', { type: 'string', describe: 'JSON file of accepted failures' })
    .option('strict', { type: 'boolean', default: false, describe: 'a warn is a fail' })
    .option('verbose', { type: 'boolean', default: false, describe: VERBOSE });
}

function sendingOptions(yargs: Argv): Argv {
  return yargs
    .option('api-key-file', { type: 'string', describe: 'file that holds the bearer key' })
    .option('api-key-header', {
      type: 'string',
      default: serviceApiKeyHeader,
      describe: "header of the service's key",
    })
    .option('intrusive', {
      type: 'boolean',
      describe: 'of a service: also what is large, many or slow; default on loopback',
    })
    .option('ca', { type: 'string', describe: 'PEM file of a CA to trust' })
    .option('allow-http', { type: 'boolean', default: false, describe: 'waive HTTPS' })
    .option('prompt', {
      type: 'string',
      array: true,
      describe: 'a message that makes the agent use a tool; may be repeated',
    })
    .option('scenario', {
      type: 'string',
      array: true,
      describe: 'scenarios whose openings are prompts, too',
    })
    .option('seed', { type: 'string', describe: 'repeat the ids of an earlier run' })
    .option('concurrency', { type: 'number', default: 6, describe: 'requests in flight' })
    .option('rate', { type: 'number', describe: 'requests a second at most' })
    .option('timeout-ms', { type: 'number', default: 30_000, describe: 'for chat and users' })
    .option('list', { type: 'boolean', default: false, describe: 'show the requirements' })
    .option('dry-run', { type: 'boolean', default: false, describe: 'show what would be sent' });
}

const examples = (yargs: Argv): Argv =>
  yargs.epilogue(`Examples:
  sandbox-kit check http://127.0.0.1:8080
  sandbox-kit check URL --json check.json --junit junit.xml
  sandbox-kit check URL --prompt "Where is my order 17?" --prompt "Cancel it."
  sandbox-kit check URL --record run.ndjson --baseline accepted.json
  sandbox-kit check URL --area voice --save-audio calls
  sandbox-kit check --dry-run --area users
  sandbox-kit check --dry-run --area service

A baseline accepts failures by name, and fails the run when they are mended:
  {"accepted":[{"id":"CHAT-024","comment":"null until release 7"}]}

The bearer key is read from SANDBOX_KIT_API_KEY, the service's from
SANDBOX_KIT_SERVICE_API_KEY, or either with --api-key-file.
Exit codes: 0 conforming, 1 not conforming, 3 could not judge.`);

async function runCheck(
  given: CheckFlags,
  chosen: Parameters<Judge['planned']>[0],
  judge: Judge,
): Promise<void> {
  const { url: target, seed = randomSeed() } = given;
  if (target === undefined) throw new UsageError(`URL: ${flags.NO_URL}.`);
  const baseline =
    given.baseline === undefined ? [] : readBaseline(given.baseline, idsOf(given, judge));
  const options = {
    ...chosen,
    target,
    kitVersion: kitVersion(),
    seed,
    ...flags.keysOf(given),
    ca: flags.caPem(given.ca),
    allowHttp: given['allow-http'],
    strict: given.strict,
    concurrency: given.concurrency,
    ratePerSecond: given.rate,
    timeoutMs: given['timeout-ms'],
  };
  const voice = voiceOf(given);
  const out = openOutputs(given);
  const audio = await recordingsOf(given);
  const plan = judge.planned(chosen);
  const intent = wrap(`${judge.planSentence(plan)} Seed ${seed}.`, out.width).join('\n');
  out.write(`${out.style('bold', `sandbox-kit check ${target}`)}\n${intent}\n\n`);
  const shown = progress(
    terminalOf(process.stderr),
    systemClock,
    plan.requests,
    'requests',
    plan.calls > 0,
  );
  const startedMs = systemClock.monotonicMs();
  using interrupt = interruptible(
    'Stopping: users that were created are deleted first. Once more leaves at once.',
  );
  const { transcript, report } = await judge.check({
    ...options,
    voice: { ...voice, ...(audio && { onAudio: audio.onAudio }) },
    signal: interrupt.signal,
    onExchange: (exchange) => {
      audio?.onExchange(exchange);
      shown.step(`${exchange.probe} ${exchange.step}`);
    },
  });
  shown.end();
  const tookMs = systemClock.monotonicMs() - startedMs;
  if (given.record !== undefined) {
    writeTextFile(given.record, judge.writeTranscript(transcript), '--record');
  }
  deliver(judge.applyKnownFailures(report, baseline), {
    ...{ judge, transcript, out, tookMs },
    outputs: given,
    verbose: given.verbose,
  });
  if (audio) out.write(`${wrap(audio.told(), out.width).join('\n')}\n`);
}

const recordingsOf = async (
  given: CheckFlags,
): Promise<Awaited<ReturnType<typeof callRecordings>> | undefined> => {
  const folder = given['save-audio'];
  return folder === undefined ? undefined : callRecordings(folder);
};

const idsOf = (given: CheckFlags, judge: Judge): readonly string[] =>
  isOfService(given) ? judge.serviceRequirementIds : judge.requirementIds;

/** Gives a report to all who are to have it, and to the caller as the exit code. */
export function deliver(
  report: CheckReport,
  to: {
    judge: Judge;
    transcript: Parameters<Judge['htmlReport']>[1];
    out: Terminal;
    outputs: Outputs;
    verbose: boolean;
    tookMs?: number;
  },
): void {
  const { judge, out, outputs, verbose, tookMs } = to;
  const { style, width } = out;
  out.write(
    judge.terminalReport(report, {
      style,
      width,
      verbose,
      ...(tookMs === undefined ? {} : { tookMs }),
    }),
  );
  const { json, junit, markdown, html } = outputs;
  if (json !== undefined) writeTextFile(json, `${JSON.stringify(report, null, 2)}\n`, '--json');
  if (junit !== undefined) writeTextFile(junit, judge.junitReport(report), '--junit');
  if (markdown !== undefined) writeTextFile(markdown, judge.markdownReport(report), '--markdown');
  if (html !== undefined) {
    writeTextFile(html, judge.htmlReport(report, to.transcript), '--html');
  }
  process.exitCode = report.exitCode;
}
