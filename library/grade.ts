import type { GradeOptions } from '../conformance/index.ts';
import { gradeOptions } from '../conformance/options.ts';
import type { CheckReport } from '../src/contract/index.ts';
import { optionsSchema, spellInCode } from '../src/options/table.ts';
import { validateOptions } from '../src/platform/options.ts';
import { rejectKnownFailures } from './known-failures.ts';
import { gradeTranscript, readRecording, recordedSelection } from './recording.ts';
import { rejectCall } from './rejection.ts';
import { selectOrReject } from './selection.ts';

const schema = optionsSchema(gradeOptions);

/**
 * Judges a recorded check again, without the sandbox, and returns the report that
 * `sandbox-kit grade --json` writes.
 *
 * @throws {TypeError} if an option is unknown or invalid.
 * @throws {SandboxKitError} `unreadable_file` or `invalid_file` about the recording.
 */
export async function grade(options: GradeOptions): Promise<CheckReport> {
  validateOptions('grade', schema, options);
  const conformance = await import('../conformance/index.ts');
  const { recordFile, strict, knownFailures = [] } = options;
  const transcript = readRecording(recordFile, 'recordFile', conformance);
  const selection = selectOrReject(
    () => recordedSelection(transcript, options, conformance, spellInCode),
    conformance,
    rejectCall('grade'),
  );
  const { areas } = transcript.run;
  rejectKnownFailures('grade', { knownFailures, areas }, conformance);
  return gradeTranscript(transcript, { strict, knownFailures, ...selection }, conformance);
}
