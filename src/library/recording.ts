import type * as conformanceModule from '../../conformance/index.ts';
import type { CheckReport } from '../contract/index.ts';
import { isoTime, systemClock } from '../platform/clock.ts';
import { SandboxKitError } from '../platform/sandbox-kit-error.ts';
import { readTextFile } from './input/read-file.ts';
import type { KnownFailure } from './options.ts';
import { resolveSelection, type SelectionOptions } from './selection.ts';

type Conformance = typeof conformanceModule;
type Transcript = ReturnType<Conformance['readTranscript']>;

/**
 * Reads a file that a check recorded.
 *
 * @param option The option that names the file in messages.
 * @throws {SandboxKitError} if it can't be read, or is not a recording.
 */
export function readRecording(path: string, option: string, conformance: Conformance): Transcript {
  const recording = readTextFile(path, option);
  try {
    return conformance.readTranscript(recording);
  } catch (error) {
    if (!(error instanceof conformance.InvalidRecordingError)) throw error;
    throw new SandboxKitError(
      'invalid_file',
      `${option} must be a file of sandbox-kit check --record. ${path}: ${error.message}.`,
    );
  }
}

/** Judges a transcript again, and returns the report of the check. */
export function gradeTranscript(
  transcript: Transcript,
  {
    strict = false,
    knownFailures = [],
    ...options
  }: { strict?: boolean | undefined; knownFailures?: readonly KnownFailure[] } & SelectionOptions,
  conformance: Conformance,
): CheckReport {
  const { areas, selected: recorded } = transcript.run;
  const recording = { selected: recorded };
  const { selected, requirementSet } = resolveSelection(options, { areas, recording }, conformance);
  const report = conformance.reportOf(transcript, isoTime(systemClock.nowMs()), {
    ...{ strict, selected, requirementSet },
  });
  return conformance.applyKnownFailures(report, knownFailures);
}
