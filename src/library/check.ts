import { writeFile } from 'node:fs/promises';
import type { CheckReport } from '../contract/index.ts';
import { checkOptions } from '../platform/options.ts';
import { SandboxKitError } from '../platform/sandbox-kit-error.ts';
import { checkOptionsSchema, type CheckOptions } from './check-options.ts';
import { rejectExposure } from './exposure.ts';
import { describeWriteError } from './input/read-file.ts';
import { rejectKnownFailures } from './known-failures.ts';
import { normalizeBaseUrl } from './options.ts';
import { runCheck } from './run-check.ts';
import { rejectSelection } from './selection.ts';

export type { CheckOptions } from './check-options.ts';

/**
 * Checks whether a sandbox or a service obeys the interface, and returns the report that
 * `sandbox-kit check --json` writes. A broken sandbox never rejects the promise: `verdict` is
 * `conforming`, `not-conforming`, or `not-judged`, with the one cause in `blockedBy`.
 *
 *     const report = await check({ url: 'http://127.0.0.1:8080', areas: ['chat', 'health'] });
 *
 * @throws {TypeError} if an option is unknown or invalid. No request is sent then.
 * @throws {SandboxKitError} `unwritable_file` if `recordFile` can't be written.
 */
export async function check(options: CheckOptions): Promise<CheckReport> {
  checkOptions('check', checkOptionsSchema, options);
  rejectExposure('check', options);
  const conformance = await import('../../conformance/index.ts');
  const { areas = conformance.areas, knownFailures = [] } = options;
  rejectKnownFailures('check', { knownFailures, areas }, conformance);
  rejectSelection('check', options, { areas }, conformance);
  if (options.intrusive !== undefined && !areas.includes('service')) {
    throw new TypeError("check: intrusive needs areas ['service'].");
  }
  const { recordFile } = options;
  // Fails before the run, not after it, if the file can't be written.
  if (recordFile !== undefined) await writeRecording(recordFile, '');
  const { transcript, report } = await runCheck({ ...options, url: normalizeBaseUrl(options.url) });
  if (recordFile !== undefined) {
    await writeRecording(recordFile, conformance.writeTranscript(transcript));
  }
  return report;
}

async function writeRecording(path: string, text: string): Promise<void> {
  try {
    await writeFile(path, text);
  } catch (error) {
    const message = describeWriteError(path, 'recordFile', error);
    throw new SandboxKitError('unwritable_file', message, { cause: error });
  }
}
