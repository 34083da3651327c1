import { gradeOptions } from '../../conformance/options.ts';
import { gradeTranscript, readRecording, recordedSelection } from '../../library/recording.ts';
import { selectOrReject } from '../../library/selection.ts';
import { filePath } from '../../src/options/values.ts';
import { argument, defineCommand } from '../command.ts';
import { rejectFlags } from '../errors.ts';
import { describeUnselected, readKnownFailures } from '../input/known-failures.ts';
import { writeCheckReports } from '../output/check-reports.ts';
import { openOutputs } from '../output/outputs.ts';

export const grade = defineCommand({
  arguments: {
    recording: argument(filePath, 'File written by --record of sandbox-kit check or exec'),
  },
  options: gradeOptions,
  examples: [
    { command: 'sandbox-kit check http://127.0.0.1:8080 --record run.ndjson' },
    { command: 'sandbox-kit grade run.ndjson' },
    { command: 'sandbox-kit grade run.ndjson --strict --markdown summary.md' },
    { command: 'sandbox-kit grade run.ndjson --only CHAT-024 --requirements 0.2' },
  ],
  exitCodes: { 0: 'conforming', 1: 'not conforming', 3: 'could not judge' },
  async run(values, { process }) {
    const conformance = await import('../../conformance/index.ts');
    const transcript = readRecording(values.recording, 'RECORDING', conformance);
    const selection = selectOrReject(
      () => recordedSelection(transcript, values, conformance),
      conformance,
      rejectFlags,
    );
    const { areas } = transcript.run;
    const knownFailures = readKnownFailures(values.knownFailures, areas, conformance);
    const out = openOutputs(values, process);
    const { strict, verbose } = values;
    const report = gradeTranscript(
      transcript,
      { strict, knownFailures, ...selection },
      conformance,
    );
    writeCheckReports(report, {
      conformance,
      process,
      transcript,
      out,
      verbose,
      outputs: values,
      recording: values.recording,
      note: describeUnselected(knownFailures, selection, conformance),
    });
    return report.exitCode;
  },
});
