import type { CheckReport } from '../contract/index.ts';
import * as schemas from '../platform/options.ts';
import { requirementIdsOption } from './check-options.ts';
import { rejectKnownFailures } from './known-failures.ts';
import { knownFailuresOption, type KnownFailure } from './options.ts';
import { gradeTranscript, readRecording } from './recording.ts';
import { rejectSelection } from './selection.ts';

/** Options of `grade`. Only `recordFile` is required. */
export interface GradeOptions {
  /** A file that `check` wrote with `recordFile`, or `sandbox-kit check --record`. */
  recordFile: string;
  /** Treats warnings as failures (default: false). */
  strict?: boolean | undefined;
  /** Ids or patterns such as `USERS-*` of the requirements to judge (default: all that the run judged). */
  only?: readonly string[] | undefined;
  /** Ids or patterns of the requirements to skip. */
  skip?: readonly string[] | undefined;
  /** Requirement set of a release, such as `0.2`; later requirements are notes (default: newest). */
  requirements?: string | undefined;
  /** Failures to accept, each with the reason. */
  knownFailures?: readonly KnownFailure[] | undefined;
}

const gradeOptionsSchema = schemas.optionsObject<GradeOptions>(
  {
    recordFile: schemas.nonEmptyStringOption,
    strict: schemas.booleanOption,
    only: requirementIdsOption,
    skip: requirementIdsOption,
    requirements: schemas.nonEmptyStringOption,
    knownFailures: knownFailuresOption,
  },
  ['recordFile'],
);

/**
 * Judges a recorded check again, without the sandbox, and returns the report that
 * `sandbox-kit grade --json` writes.
 *
 * @throws {TypeError} if an option is unknown or invalid.
 * @throws {SandboxKitError} `unreadable_file` or `invalid_file` about the recording.
 */
export async function grade(options: GradeOptions): Promise<CheckReport> {
  schemas.checkOptions('grade', gradeOptionsSchema, options);
  const conformance = await import('../../conformance/index.ts');
  const { recordFile, strict, knownFailures = [], only, skip, requirements } = options;
  const transcript = readRecording(recordFile, 'recordFile', conformance);
  const { areas, selected } = transcript.run;
  rejectSelection('grade', options, { areas, recording: { selected } }, conformance);
  rejectKnownFailures('grade', { knownFailures, areas }, conformance);
  return gradeTranscript(
    transcript,
    { strict, knownFailures, only, skip, requirements },
    conformance,
  );
}
