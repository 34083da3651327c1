/** `load --merge`: judges the reports of all shards together. */
import { mergeOrReject } from '../../library/merge-load-reports.ts';
import { loadOptions } from '../../load/options.ts';
import { rejectFlags, UsageError } from '../errors.ts';
import type { ValueOrigin } from '../flags/config-option.ts';
import { findSetFlag } from '../flags/set-flag.ts';
import { readEarlierReport, readReport } from '../input/report-files.ts';
import { writeLoadReports } from '../output/load-reports.ts';
import { openOutputs, rejectOverwriting, type Outputs } from '../output/outputs.ts';
import type { CommandProcess } from '../process.ts';

/** The values that a merge uses. */
interface MergeValues extends Outputs {
  url?: string | undefined;
  compareWith?: string | undefined;
  acceptNotProven: boolean;
}

/** The options that apply to a merge. */
const MERGE_OPTIONS = [
  'merge',
  'json',
  'junit',
  'markdown',
  'html',
  'compareWith',
  'acceptNotProven',
];

/** Merges the reports of shards, writes the result like the report of a run, and returns the exit code. */
export async function mergeFiles(
  paths: readonly string[],
  values: MergeValues,
  { origin, process }: { origin: ValueOrigin; process: CommandProcess },
): Promise<number> {
  rejectRunOptions(values, origin);
  rejectOverwriting(values, '--merge', paths);
  const loadPackage = await import('../../load/index.ts');
  const reports = paths.map((path) => ({
    name: path,
    report: readReport(path, '--merge', 'LoadReport'),
  }));
  const earlier = readEarlierReport(values.compareWith, 'LoadReport');
  const settings = { acceptNotProven: values.acceptNotProven, compareWith: earlier };
  const report = mergeOrReject(reports, settings, loadPackage, (message) =>
    rejectFlags(`--merge: ${message}`),
  );
  const out = openOutputs(values, process);
  out.write(`${out.style('bold', `sandbox-kit load ${report.sandbox}`)}\n\n`);
  writeLoadReports(report, { loadPackage, out, outputs: values, process });
  return report.exitCode;
}

/** @throws {UsageError} about the first option of a run. Those of a configuration file are ignored. */
function rejectRunOptions(values: MergeValues, origin: ValueOrigin): void {
  if (values.url !== undefined && !origin.isFromFile('url')) {
    throw new UsageError("URL and --merge can't be combined: the reports name the sandbox.");
  }
  const names = Object.keys(loadOptions).filter((name) => !MERGE_OPTIONS.includes(name));
  const used = findSetFlag(loadOptions, names, values, origin);
  if (used === undefined) return;
  throw new UsageError(`--merge and ${used} can't be combined: the reports determine the run.`);
}
