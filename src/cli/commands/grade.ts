import type * as conformanceModule from '../../../conformance/index.ts';
import { isoTime, systemClock } from '../../platform/clock.ts';
import { argument, defineCommand } from '../command.ts';
import { UsageError } from '../errors.ts';
import { conformanceReports } from '../flags/shared-options.ts';
import * as values from '../flags/values.ts';
import { readTextFile } from '../input/files.ts';
import { describeUnselected, readKnownFailures } from '../input/report-files.ts';
import { openOutputs } from '../output/outputs.ts';
import { writeReports } from './check.ts';

type Conformance = typeof conformanceModule;

export const grade = defineCommand({
  arguments: { recording: argument(values.filePath, 'File written by sandbox-kit check --record') },
  options: conformanceReports,
  examples: [
    { command: 'sandbox-kit check http://127.0.0.1:8080 --record run.ndjson' },
    { command: 'sandbox-kit grade run.ndjson' },
    { command: 'sandbox-kit grade run.ndjson --strict --markdown summary.md' },
  ],
  exitCodes: { 0: 'conforming', 1: 'not conforming', 3: 'could not judge' },
  async run(flags) {
    const conformance = await import('../../../conformance/index.ts');
    const transcript = readRecording(flags.recording, conformance);
    const { areas } = transcript.run;
    const knownFailures = readKnownFailures(flags['known-failures'], areas, conformance);
    const out = openOutputs(flags);
    const { strict, verbose } = flags;
    const report = conformance.reportOf(transcript, isoTime(systemClock.nowMs()), { strict });
    writeReports(conformance.applyKnownFailures(report, knownFailures), {
      ...{ conformance, transcript, out, verbose },
      outputs: flags,
      note: describeUnselected(knownFailures, areas, conformance),
    });
  },
});

function readRecording(
  path: string,
  conformance: Conformance,
): ReturnType<Conformance['readTranscript']> {
  const recording = readTextFile(path, 'RECORDING');
  try {
    return conformance.readTranscript(recording);
  } catch (error) {
    if (!(error instanceof conformance.InvalidRecordingError)) throw error;
    throw new UsageError(
      `RECORDING must be a file of sandbox-kit check --record. ${path}: ${error.message}.`,
    );
  }
}
