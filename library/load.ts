import type { LoadOptions } from '../load/index.ts';
import { loadOptions } from '../load/options.ts';
import type { LoadReport } from '../src/contract/index.ts';
import { normalizeBaseUrl } from '../src/options/run.ts';
import { optionsSchema, spellInCode } from '../src/options/table.ts';
import { validateOptions } from '../src/platform/options.ts';
import { rejectExposure } from './exposure.ts';
import {
  findLoadConflict,
  findProxyConflict,
  findSizeProblem,
  prepareOrReject,
} from './load-plan.ts';
import { rejectCall } from './rejection.ts';
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
  validateOptions('load', schema, options);
  rejectExposure('load', options);
  const reject = rejectCall('load');
  const conflict =
    findLoadConflict(options, spellInCode) ??
    findProxyConflict(options, spellInCode, 'proxies.noProxy');
  if (conflict !== undefined) throw reject(conflict);
  const loadPackage = await import('../load/index.ts');
  const prepared = prepareOrReject(options, loadPackage, { spell: spellInCode, reject });
  const sizeProblem = findSizeProblem(prepared.size, spellInCode);
  if (sizeProblem !== undefined) throw reject(sizeProblem);
  return runLoad({ ...options, url: normalizeBaseUrl(options.url) }, prepared);
}
