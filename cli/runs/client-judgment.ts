/** `exec --judge-client`: judges the requests of a command to the service. */
import type * as conformanceModule from '../../conformance/index.ts';
import type { CheckResult } from '../../conformance/index.ts';
import type { RunningService } from '../../src/service/index.ts';
import { isoTime, systemClock } from '../../src/platform/clock.ts';
import { spellAsFlag, type FlagValues } from '../../src/options/table.ts';
import { UsageError } from '../errors.ts';
import { group, option, switchOption } from '../../src/options/option.ts';
import { conformanceReports } from '../../src/options/shared.ts';
import { filePath } from '../../src/options/values.ts';
import { readKnownFailures } from '../input/known-failures.ts';
import { kitVersion } from '../../library/kit-version.ts';
import { writeCheckReports } from '../output/check-reports.ts';
import { writeOutput } from '../output/files.ts';
import { openOutputs } from '../output/outputs.ts';
import { createTerminal } from '../output/terminal.ts';
import type { CommandProcess } from '../process.ts';

/** The options of `exec` that need --judge-client. */
const judgmentOptions = {
  injectFaults: switchOption(
    'Respond to the first trace requests with 429 and 503, and to the first end call with 503',
  ),
  ...conformanceReports,
  ...group('Report', {
    record: option(filePath, 'FILE', 'Record all requests with their text, for sandbox-kit grade'),
  }),
};

/** The options of `exec` that judge the command. */
export const clientJudgmentOptions = {
  judgeClient: switchOption('Judge the requests that the command sends to the service'),
  ...judgmentOptions,
};

type JudgmentValues = FlagValues<typeof clientJudgmentOptions>;

/** The judgment of a command that is about to run. */
interface ClientJudgment {
  /** Makes the service respond to some requests with an error, if the user asked for it. */
  injectFaults(service: Pick<RunningService, 'setFaults'>): void;
  /** Judges what the service recorded, writes the reports, and returns the exit code. */
  conclude(
    service: Pick<RunningService, 'url' | 'callerRecording'>,
    options: { isInterrupted: boolean },
  ): Promise<number>;
}

/**
 * Prepares a judgment; undefined without --judge-client.
 *
 * @throws {UsageError} if another option needs --judge-client, or a file can't be used.
 */
export async function prepareClientJudgment(
  values: JudgmentValues,
  process: CommandProcess,
): Promise<ClientJudgment | undefined> {
  if (!values.judgeClient) {
    rejectJudgmentOptions(values);
    return undefined;
  }
  const conformance = await import('../../conformance/index.ts');
  const { clientArea } = conformance;
  const knownFailures = readKnownFailures(values.knownFailures, clientArea, conformance);
  openOutputs(values, process);
  return {
    injectFaults(service) {
      if (values.injectFaults) service.setFaults(conformance.retryFaults);
    },
    async conclude(service, { isInterrupted }) {
      const { strict } = values;
      const { transcript, report } = await judge(conformance, service, { strict, isInterrupted });
      if (values.record !== undefined) {
        const recording = conformance.writeTranscript(transcript);
        writeOutput(values.record, recording, '--record', process.stdout);
      }
      const judged = conformance.applyKnownFailures(report, knownFailures);
      writeCheckReports(judged, {
        conformance,
        process,
        transcript,
        verbose: values.verbose,
        outputs: values,
        // stdout is the output of the command.
        out: createTerminal(process.stderr, process.env),
      });
      return judged.exitCode;
    },
  };
}

function rejectJudgmentOptions(values: JudgmentValues): void {
  for (const name of Object.keys(judgmentOptions)) {
    const value = values[name as keyof JudgmentValues];
    if (value !== undefined && value !== false) {
      throw new UsageError(`${spellAsFlag(judgmentOptions)(name)} needs --judge-client.`);
    }
  }
}

async function judge(
  conformance: typeof conformanceModule,
  { url, callerRecording }: Pick<RunningService, 'url' | 'callerRecording'>,
  options: { strict: boolean; isInterrupted: boolean },
): Promise<CheckResult> {
  const recording = await callerRecording();
  if (!recording) throw new Error('The service did not record its callers.');
  return conformance.judgeClient({
    ...options,
    recording,
    target: url,
    kitVersion: kitVersion(),
    endedAt: isoTime(systemClock.nowMs()),
  });
}
