import { writeFileSync } from 'node:fs';
import type { CheckOptions } from '../conformance/index.ts';
import * as tables from '../conformance/options.ts';
import type { CheckReport } from '../src/contract/index.ts';
import { normalizeBaseUrl } from '../src/options/run.ts';
import { optionsSchema, spellInCode } from '../src/options/table.ts';
import { validateOptions } from '../src/platform/options.ts';
import { SandboxKitError } from '../src/platform/sandbox-kit-error.ts';
import { rejectExposure } from './exposure.ts';
import { describeWriteError, reserve } from './input/files.ts';
import { rejectKnownFailures } from './known-failures.ts';
import { runCheck, selectionOf } from './run-check.ts';
import { rejectCall } from './rejection.ts';
import { selectOrReject } from './selection.ts';

const schema = optionsSchema(tables.checkOptions);

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
  validateOptions('check', schema, options);
  rejectExposure('check', options);
  const conformance = await import('../conformance/index.ts');
  const { areas = conformance.areas, knownFailures = [] } = options;
  rejectKnownFailures('check', { knownFailures, areas }, conformance);
  const selection = selectOrReject(
    () => selectionOf(options, conformance, spellInCode),
    conformance,
    rejectCall('check'),
  );
  if (options.intrusive !== undefined && !areas.includes('service')) {
    throw new TypeError("check: intrusive needs areas ['service'].");
  }
  const { recordFile } = options;
  // Fails before the run, not after it, if the file can't be written.
  if (recordFile !== undefined) writeOrReject(recordFile, () => reserve(recordFile));
  const url = normalizeBaseUrl(options.url);
  const { transcript, report } = await runCheck({ ...options, url }, selection);
  if (recordFile !== undefined) {
    const recording = conformance.writeTranscript(transcript);
    writeOrReject(recordFile, () => writeFileSync(recordFile, recording));
  }
  return report;
}

function writeOrReject(path: string, write: () => void): void {
  try {
    write();
  } catch (error) {
    const message = describeWriteError(path, 'recordFile', error);
    throw new SandboxKitError('unwritable_file', message, { cause: error });
  }
}
