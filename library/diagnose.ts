import type { DiagnoseOptions, DiagnosisReport } from '../conformance/index.ts';
import { diagnoseOptions } from '../conformance/options.ts';
import { normalizeBaseUrl } from '../src/options/run.ts';
import { optionsSchema } from '../src/options/table.ts';
import { validateOptions } from '../src/platform/options.ts';
import { rejectExposure } from './exposure.ts';
import { runDiagnosis } from './run-diagnosis.ts';

const schema = optionsSchema(diagnoseOptions);

/**
 * Tests the address, TLS, the key, and one request per endpoint, and returns the diagnosis that
 * `sandbox-kit doctor --json` writes.
 *
 * @throws {TypeError} if an option is unknown or invalid.
 */
export async function diagnose(options: DiagnoseOptions): Promise<DiagnosisReport> {
  validateOptions('diagnose', schema, options);
  rejectExposure('diagnose', options);
  const { diagnosisJson } = await import('../conformance/index.ts');
  const url = normalizeBaseUrl(options.url);
  return diagnosisJson(await runDiagnosis({ ...options, url }));
}
