import type { LoadOptions } from '../load/index.ts';
import { loadOptions } from '../load/options.ts';
import type { LoadReport } from '../src/contract/index.ts';
import { normalizeBaseUrl } from '../src/options/run.ts';
import { optionsSchema } from '../src/options/table.ts';
import { checkOptions } from '../src/platform/options.ts';
import { rejectExposure } from './exposure.ts';
import {
  findLoadConflict,
  findProxyConflict,
  findSizeProblem,
  prepareLoad,
  type PreparedLoad,
  type ShowOption,
} from './load-plan.ts';
import { runLoad } from './run-load.ts';

const schema = optionsSchema(loadOptions);

/**
 * Load-tests a sandbox, and returns the report that `sandbox-kit load --json` writes. Its `verdict`
 * is `PASS`, `FAIL`, `NOT PROVEN`, `INVALID RUN`, or `NOT TESTED`; a broken sandbox never rejects the
 * promise. A large run needs no confirmation: you choose the rate, the duration, and the target.
 *
 *     const report = await load({ url, profile: 'chat', rate: 20, durationMs: 3000 });
 *
 * @throws {TypeError} if an option is unknown or invalid, or options conflict. No request is sent then.
 */
export async function load(options: LoadOptions): Promise<LoadReport> {
  checkOptions('load', schema, options);
  rejectExposure('load', options);
  const showName: ShowOption = (name) => name;
  const conflict =
    findLoadConflict(options, showName) ?? findProxyConflict(options, showName, 'proxies.noProxy');
  if (conflict !== undefined) throw new TypeError(`load: ${conflict}`);
  const prepared = await prepare(options);
  const sizeProblem = findSizeProblem(prepared.size, showName);
  if (sizeProblem !== undefined) throw new TypeError(`load: ${sizeProblem}`);
  return runLoad({ ...options, url: normalizeBaseUrl(options.url) }, prepared);
}

/** @throws {TypeError} if a threshold is invalid, or the run can't measure it. */
async function prepare(options: LoadOptions): Promise<PreparedLoad> {
  const loadPackage = await import('../load/index.ts');
  try {
    return prepareLoad(options, loadPackage);
  } catch (error) {
    if (error instanceof loadPackage.ThresholdError) {
      throw new TypeError(`load: thresholds: ${error.message}`, { cause: error });
    }
    throw error;
  }
}
