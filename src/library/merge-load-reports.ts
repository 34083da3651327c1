import * as z from 'zod';
import { wholeLoadReport } from '../../load/options.ts';
import type { LoadReport } from '../contract/index.ts';
import { reportSchema } from '../options/shared.ts';
import * as schemas from '../platform/options.ts';

/** Options of `mergeLoadReports`. */
export interface MergeLoadOptions {
  /** Reports exit code 0 if the verdict is NOT PROVEN (default: false). */
  acceptNotProven?: boolean | undefined;
  /** An earlier report. The merged report then has a `comparison`. */
  compareWith?: LoadReport | undefined;
}

const argumentsSchema = schemas.optionsObject<MergeLoadOptions & { reports: unknown }>(
  {
    reports: z.array(reportSchema('LoadReport'), 'an array of load reports'),
    acceptNotProven: schemas.booleanOption,
    compareWith: wholeLoadReport,
  },
  ['reports'],
);

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
  schemas.checkOptions('mergeLoadReports', argumentsSchema, { ...options, reports });
  const loadPackage = await import('../../load/index.ts');
  const { acceptNotProven = false, compareWith } = options;
  const named = reports.map((report, index) => ({ name: `reports[${index}]`, report }));
  try {
    const merged = loadPackage.mergeReports(named, { acceptNotProven });
    const isComparable = compareWith !== undefined && loadPackage.hasRun(merged);
    return isComparable ? loadPackage.withComparison(merged, compareWith) : merged;
  } catch (error) {
    if (!(error instanceof loadPackage.MergeError)) throw error;
    throw new TypeError(`mergeLoadReports: ${error.message}`, { cause: error });
  }
}
