import type { CommandModule } from 'yargs';
import { z } from 'zod';
import type { CheckReport } from '../contract/index.ts';
import { randomSeed } from '../shared/chance.ts';
import { systemClock } from '../shared/clock.ts';
import { writeTextFile } from './files.ts';
import * as flags from './flags.ts';
import { kitVersion } from './kit-version.ts';
import { progress } from './progress.ts';
import { terminalOf } from './terminal.ts';

const checkFlags = z.object({
  url: flags.sandboxUrl,
  area: flags.areas.optional(),
  json: flags.filePath.optional(),
  junit: flags.filePath.optional(),
  markdown: flags.filePath.optional(),
  record: flags.filePath.optional(),
  'api-key-file': flags.filePath.optional(),
  ca: flags.filePath.optional(),
  'allow-http': z.boolean(),
  strict: z.boolean(),
  seed: flags.seed.optional(),
  concurrency: flags.wholeNumber(1, 64),
  rate: z.number({ error: 'expected a number' }).gt(0, 'expected more than 0').optional(),
  'timeout-ms': flags.wholeNumber(100, 600_000),
  prompt: z.array(z.string().min(1, 'expected a message, got ""')).max(50).optional(),
  list: z.boolean(),
  'dry-run': z.boolean(),
});

type CheckFlags = z.infer<typeof checkFlags>;

/** `sandbox-kit check URL`: does this sandbox obey the interface? */
export const checkVerb: CommandModule = {
  command: 'check <url>',
  describe: 'Check whether a sandbox obeys the interface',
  builder: (yargs) =>
    yargs
      .usage('sandbox-kit check URL\n\nChecks a sandbox over the network and says what holds.')
      .positional('url', { type: 'string', describe: 'base address of the sandbox' })
      .option('area', { type: 'string', describe: 'only these: chat,health,users' })
      .option('json', { type: 'string', describe: 'write the report as JSON; - is stdout' })
      .option('junit', { type: 'string', describe: 'write the report as JUnit XML' })
      .option('markdown', { type: 'string', describe: 'write a summary as Markdown' })
      .option('record', { type: 'string', describe: 'write the recording, for grade' })
      .option('api-key-file', { type: 'string', describe: 'file that holds the bearer key' })
      .option('ca', { type: 'string', describe: 'PEM file of a CA to trust' })
      .option('allow-http', { type: 'boolean', default: false, describe: 'waive HTTPS' })
      .option('strict', { type: 'boolean', default: false, describe: 'a warn is a fail' })
      .option('prompt', {
        type: 'string',
        array: true,
        describe: 'a message that makes the agent use a tool',
      })
      .option('seed', { type: 'string', describe: 'repeat the ids of an earlier run' })
      .option('concurrency', { type: 'number', default: 6, describe: 'requests in flight' })
      .option('rate', { type: 'number', describe: 'requests a second at most' })
      .option('timeout-ms', { type: 'number', default: 30_000, describe: 'for chat and users' })
      .option('list', { type: 'boolean', default: false, describe: 'show the requirements' })
      .option('dry-run', { type: 'boolean', default: false, describe: 'show what would be sent' })
      .example('sandbox-kit check http://127.0.0.1:8080', '')
      .example('SANDBOX_KIT_API_KEY=… sandbox-kit check URL --junit out.xml', '')
      .example('sandbox-kit check URL --prompt "Where is my order 1?"', ''),
  handler: async (argv) => {
    await runCheck(flags.parseFlags(checkFlags, argv));
  },
};

async function runCheck(given: CheckFlags): Promise<void> {
  const judge = await import('../../conformance/index.ts');
  const chosen = {
    ...(given.area ? { areas: given.area } : {}),
    ...(given.prompt ? { prompts: given.prompt } : {}),
  };
  const out = terminalOf(given.json === '-' ? process.stderr : process.stdout);
  if (given.list || given['dry-run']) {
    out.write(given.list ? judge.listing(chosen, out) : judge.dryRun(chosen, out));
    return;
  }
  const plan = judge.planned(chosen);
  const seed = given.seed ?? randomSeed();
  const options = {
    ...chosen,
    target: given.url,
    kitVersion: kitVersion(),
    seed,
    apiKey: flags.sandboxKey(given['api-key-file']),
    ca: flags.caPem(given.ca),
    allowHttp: given['allow-http'],
    strict: given.strict,
    concurrency: given.concurrency,
    ratePerSecond: given.rate,
    timeoutMs: given['timeout-ms'],
  };
  out.write(
    `${out.paint('bold', `sandbox-kit check ${given.url}`)}\n` +
      `${judge.planSentence(plan)} Seed ${seed}.\n\n`,
  );
  const shown = progress(terminalOf(process.stderr), systemClock, plan.requests, 'requests');
  const startedMs = systemClock.monotonicMs();
  const { transcript, report } = await judge.check({
    ...options,
    onExchange: ({ scenario, step }) => shown.step(`${scenario} ${step}`),
  });
  shown.end();
  const tookMs = systemClock.monotonicMs() - startedMs;
  out.write(judge.terminalReport(report, { paint: out.paint, width: out.width, tookMs }));
  if (given.record !== undefined) {
    writeTextFile(given.record, judge.writeTranscript(transcript), '--record');
  }
  await writeReports(report, given);
  process.exitCode = report.exitCode;
}

/** Writes the views of a report that flags ask for. */
export async function writeReports(
  report: CheckReport,
  wanted: { json?: string | undefined; junit?: string | undefined; markdown?: string | undefined },
): Promise<void> {
  const judge = await import('../../conformance/index.ts');
  if (wanted.json !== undefined) {
    writeTextFile(wanted.json, `${JSON.stringify(report, null, 2)}\n`, '--json');
  }
  if (wanted.junit !== undefined) {
    writeTextFile(wanted.junit, judge.junitReport(report), '--junit');
  }
  if (wanted.markdown !== undefined) {
    writeTextFile(wanted.markdown, judge.markdownReport(report), '--markdown');
  }
}
