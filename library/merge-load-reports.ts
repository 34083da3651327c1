import * as z from 'zod';
import type { MergeLoadOptions } from '../load/index.ts';
import { mergeLoadOptions } from '../load/options.ts';
import type { LoadReport } from '../src/contract/index.ts';
import { requiredCodeOption } from '../src/options/option.ts';
import { reportSchema } from '../src/options/shared.ts';
import { optionsSchema } from '../src/options/table.ts';
import { validateOptions } from '../src/platform/options.ts';
import type { Load } from './packages.ts';
import { rejectCall, type Reject } from './rejection.ts';

const schema = optionsSchema({
  reports: requiredCodeOption({
    schema: z.array(reportSchema('LoadReport'), 'an array of load reports'),
    type: 'readonly LoadReport[]',
    about: 'The reports of all shards.',
  }),
  ...mergeLoadOptions,
});

/**
 * Merges the reports of all shards of a load test into one report with one verdict. Histograms and
 * counts are those of a single load generator that measured the same requests.
 *
 *     const report = await mergeLoadReports([first, second]);
 *
 * @throws {TypeError} if an option is invalid, or unless the reports are all shards of one run, each
 *   once, that started together.
 */
export async function mergeLoadReports(
  reports: readonly LoadReport[],
  options: MergeLoadOptions = {},
): Promise<LoadReport> {
  validateOptions('mergeLoadReports', schema, { ...options, reports });
  const loadPackage = await import('../load/index.ts');
  const { acceptNotProven = false, compareWith } = options;
  const named = reports.map((report, index) => ({ name: `reports[${index}]`, report }));
  const settings = { acceptNotProven, compareWith };
  return mergeOrReject(named, settings, loadPackage, rejectCall('mergeLoadReports'));
}

/**
 * Merges reports and compares the result with an earlier one. The error of `reject` says why they are
 * not all shards of one run.
 */
export function mergeOrReject(
  reports: readonly { name: string; report: LoadReport }[],
  settings: { acceptNotProven: boolean; compareWith: LoadReport | undefined },
  loadPackage: Load,
  reject: Reject,
): LoadReport {
  const { acceptNotProven, compareWith } = settings;
  try {
    const merged = loadPackage.mergeReports(reports, { acceptNotProven });
    const isComparable = compareWith !== undefined && loadPackage.hasRun(merged);
    return isComparable ? loadPackage.withComparison(merged, compareWith) : merged;
  } catch (error) {
    throw error instanceof loadPackage.MergeError ? reject(error.message, error) : error;
  }
}
