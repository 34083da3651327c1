import type { DiagnosisReport } from '../../conformance/index.ts';
import type { Area } from '../contract/index.ts';
import * as schemas from '../platform/options.ts';
import type { CallTarget } from './call-target.ts';
import { areasOption } from './check-options.ts';
import { rejectExposure } from './exposure.ts';
import { callTargetOption, normalizeBaseUrl, runOptions, type RunOptions } from './options.ts';
import { runDiagnosis } from './run-diagnosis.ts';

/** Options of `diagnose`. Only `url` is required. */
export interface DiagnoseOptions extends RunOptions {
  /** The areas to test: areas of a sandbox, or only `service` (default: all areas of a sandbox). */
  areas?: readonly Area[] | undefined;
  /** Header of the service's key; service only (default: `x-service-api-key`). */
  apiKeyHeader?: string | undefined;
  /** Timeout of chat and user requests in milliseconds (default: 30 000). */
  timeoutMs?: number | undefined;
  /** Settings of calls. If `url` is set, the WebSocket must open. */
  voice?: CallTarget | undefined;
}

const diagnoseOptionsSchema = schemas.optionsObject<DiagnoseOptions>(
  {
    ...runOptions,
    areas: areasOption,
    apiKeyHeader: schemas.nonEmptyStringOption,
    timeoutMs: schemas.integerOption(100, 600_000),
    voice: callTargetOption,
  },
  ['url'],
);

/**
 * Tests the address, TLS, the key, and one request per endpoint, and returns the diagnosis that
 * `sandbox-kit doctor --json` writes.
 *
 * @throws {TypeError} if an option is unknown or invalid.
 */
export async function diagnose(options: DiagnoseOptions): Promise<DiagnosisReport> {
  schemas.checkOptions('diagnose', diagnoseOptionsSchema, options);
  rejectExposure('diagnose', options);
  const { diagnosisJson } = await import('../../conformance/index.ts');
  const url = normalizeBaseUrl(options.url);
  return diagnosisJson(await runDiagnosis({ ...options, url }), url);
}
