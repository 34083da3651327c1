import type { GradeOptions } from '../conformance/index.ts';
import type { CheckReport } from '../src/contract/index.ts';
import { isoTime, systemClock } from '../src/platform/clock.ts';
import { SandboxKitError } from '../src/platform/sandbox-kit-error.ts';
import { readFilledFile } from './input/files.ts';
import {
  resolveSelection,
  type ResolvedSelection,
  type RequirementOptions,
  type SelectionSource,
} from './selection.ts';
import type { Conformance } from './packages.ts';

type Transcript = ReturnType<Conformance['readTranscript']>;

/**
 * Reads a file that a check recorded.
 *
 * @param option The option that names the file in messages.
 * @throws {SandboxKitError} if it can't be read, or is not a recording.
 */
export function readRecording(path: string, option: string, conformance: Conformance): Transcript {
  return parseRecording(readFilledFile(path, option, EXPECTED), { path, option }, conformance);
}

const EXPECTED = 'a file of sandbox-kit check --record';

/** Same as `readRecording`, with the text of the file. */
export function parseRecording(
  recording: string,
  { path, option }: { path: string; option: string },
  conformance: Conformance,
): Transcript {
  try {
    return conformance.readTranscript(recording);
  } catch (error) {
    if (!(error instanceof conformance.InvalidRecordingError)) throw error;
    throw new SandboxKitError(
      'invalid_file',
      `${option} must be ${EXPECTED}. ${path}: ${error.message}.`,
    );
  }
}

/**
 * Returns the requirements of a recording that options select.
 *
 * @throws {SelectionError} if a requirement or a set is unknown, or no requirement is left.
 */
export function recordedSelection(
  { run: { areas, selected } }: Transcript,
  options: RequirementOptions,
  conformance: Conformance,
  spell?: SelectionSource['spell'],
): ResolvedSelection {
  return resolveSelection(options, { areas, recording: { selected }, spell }, conformance);
}

/** Judges a transcript again, and returns the report of the check. */
export function gradeTranscript(
  transcript: Transcript,
  {
    strict = false,
    knownFailures = [],
    selected,
    requirementSet,
  }: Pick<GradeOptions, 'strict' | 'knownFailures'> & ResolvedSelection,
  { reportOf, applyKnownFailures }: Conformance,
): CheckReport {
  const endedAt = isoTime(systemClock.nowMs());
  const report = reportOf(transcript, endedAt, { strict, selected, requirementSet });
  return applyKnownFailures(report, knownFailures);
}
