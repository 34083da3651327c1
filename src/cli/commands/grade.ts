import type { CommandModule } from 'yargs';
import { z } from 'zod';
import { isoTime, systemClock } from '../../platform/clock.ts';
import { readBaseline } from '../input/known-failures.ts';
import { deliver, VERBOSE } from './check.ts';
import { readTextFile } from '../input/files.ts';
import * as flags from '../flags/flags.ts';
import { openOutputs } from '../output/outputs.ts';
import { UsageError } from '../flags/usage-error.ts';

const gradeFlags = z.object({
  recording: flags.filePath,
  json: flags.filePath.optional(),
  junit: flags.filePath.optional(),
  markdown: flags.filePath.optional(),
  html: flags.filePath.optional(),
  baseline: flags.filePath.optional(),
  strict: z.boolean(),
  verbose: z.boolean(),
});

/** `sandbox-kit grade RECORDING`: judge a recorded run again, without any network. */
export const gradeVerb: CommandModule = {
  command: 'grade <recording>',
  describe: 'Judge a recording of check --record again, offline',
  builder: (yargs) =>
    yargs
      .usage('sandbox-kit grade RECORDING\n\nJudges a recorded run again, without any network.')
      .positional('recording', { type: 'string', describe: 'file that check --record wrote' })
      .option('json', { type: 'string', describe: 'write the report as JSON; - is stdout' })
      .option('junit', { type: 'string', describe: 'write the report as JUnit XML' })
      .option('markdown', { type: 'string', describe: 'write a summary as Markdown' })
      .option('html', { type: 'string', describe: 'write the report as one HTML page' })
      .option('baseline', { type: 'string', describe: 'JSON file of accepted failures' })
      .option('strict', { type: 'boolean', default: false, describe: 'a warn is a fail' })
      .option('verbose', { type: 'boolean', default: false, describe: VERBOSE }).epilogue(`Examples:
  sandbox-kit check http://127.0.0.1:8080 --record run.ndjson
  sandbox-kit grade run.ndjson
  sandbox-kit grade run.ndjson --strict --markdown summary.md`),
  handler: async (argv) => {
    const given = flags.parseFlags(gradeFlags, argv);
    const judge = await import('../../../conformance/index.ts');
    const text = readTextFile(given.recording, 'RECORDING');
    const transcript = readRecording(text, given.recording, judge);
    const { baseline: file, strict } = given;
    const ids = judge.idsOfRun(transcript.run);
    const baseline = file === undefined ? [] : readBaseline(file, ids);
    const out = openOutputs(given);
    const report = judge.reportOf(transcript, isoTime(systemClock.nowMs()), { strict });
    deliver(judge.applyKnownFailures(report, baseline), {
      ...{ judge, transcript, out },
      outputs: given,
      verbose: given.verbose,
    });
  },
};

type Judge = typeof import('../../../conformance/index.ts');

function readRecording(
  text: string,
  path: string,
  judge: Judge,
): ReturnType<Judge['readTranscript']> {
  try {
    return judge.readTranscript(text);
  } catch (error) {
    if (!(error instanceof judge.UnreadableRecording)) throw error;
    throw new UsageError(`RECORDING: ${path} is not a recording of check: ${error.message}.`);
  }
}
