import { gradeTranscript, readRecording } from '../../library/recording.ts';
import { argument, defineCommand } from '../command.ts';
import { conformanceReports, selectionOptions } from '../flags/shared-options.ts';
import * as values from '../flags/values.ts';
import { describeUnselected, readKnownFailures } from '../input/report-files.ts';
import { readSelection } from '../input/selection.ts';
import { openOutputs } from '../output/outputs.ts';
import { writeReports } from './check.ts';

export const grade = defineCommand({
  arguments: {
    recording: argument(values.filePath, 'File written by --record of sandbox-kit check or exec'),
  },
  options: { ...selectionOptions, ...conformanceReports },
  examples: [
    { command: 'sandbox-kit check http://127.0.0.1:8080 --record run.ndjson' },
    { command: 'sandbox-kit grade run.ndjson' },
    { command: 'sandbox-kit grade run.ndjson --strict --markdown summary.md' },
    { command: 'sandbox-kit grade run.ndjson --only CHAT-024 --requirements 0.2' },
  ],
  exitCodes: { 0: 'conforming', 1: 'not conforming', 3: 'could not judge' },
  async run(flags, { process }) {
    const conformance = await import('../../../conformance/index.ts');
    const transcript = readRecording(flags.recording, 'RECORDING', conformance);
    const { areas } = transcript.run;
    const recording = { selected: transcript.run.selected };
    const selection = readSelection(flags, { areas, recording }, conformance);
    const knownFailures = readKnownFailures(flags['known-failures'], areas, conformance);
    const out = openOutputs(flags, process);
    const { strict, verbose, only, skip, requirements } = flags;
    const options = { strict, knownFailures, only, skip, requirements };
    const report = gradeTranscript(transcript, options, conformance);
    writeReports(report, {
      ...{ conformance, process, transcript, out, verbose },
      outputs: flags,
      note: describeUnselected(knownFailures, selection, conformance),
    });
    return report.exitCode;
  },
});
