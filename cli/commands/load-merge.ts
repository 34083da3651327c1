/** The option --merge of `load`, and the output that it shares with a run. */
import type * as loadModule from '../../load/index.ts';
import { loadOptions } from '../../load/options.ts';
import type { LoadReport } from '../../src/contract/index.ts';
import { UsageError } from '../errors.ts';
import type { ValueOrigin } from '../flags/config-file.ts';
import { findSetFlag } from '../flags/set-flag.ts';
import { readEarlierReport, readReport } from '../input/report-files.ts';
import { openOutputs, rejectOverwriting, writeViews, type Outputs } from '../output/outputs.ts';
import type { Terminal } from '../output/terminal.ts';
import type { CommandProcess } from '../process.ts';

type Load = typeof loadModule;

/** The values that a merge uses. */
interface MergeValues extends Outputs {
  url?: string | undefined;
  compareWith?: string | undefined;
  acceptNotProven: boolean;
}

/** The options that apply to a merge. */
const MERGE_OPTIONS = [
  ...['merge', 'json', 'junit', 'markdown', 'html', 'compareWith', 'acceptNotProven'],
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
  const merged = mergeOrReject(reports, values, loadPackage);
  const out = openOutputs(values, process);
  out.write(`${out.style('bold', `sandbox-kit load ${merged.sandbox}`)}\n\n`);
  const isComparable = earlier !== undefined && loadPackage.hasRun(merged);
  const report = isComparable ? loadPackage.withComparison(merged, earlier) : merged;
  writeReports(report, { loadPackage, out, outputs: values, process });
  return report.exitCode;
}

/** @throws {UsageError} unless the reports are all shards of one run. */
function mergeOrReject(
  reports: Parameters<Load['mergeReports']>[0],
  { acceptNotProven }: MergeValues,
  loadPackage: Load,
): LoadReport {
  try {
    return loadPackage.mergeReports(reports, { acceptNotProven });
  } catch (error) {
    if (!(error instanceof loadPackage.MergeError)) throw error;
    throw new UsageError(`--merge: ${error.message}`);
  }
}

/** @throws {UsageError} about the first option of a run. Those of a configuration file are ignored. */
function rejectRunOptions(values: MergeValues, origin: ValueOrigin): void {
  if (values.url !== undefined && !origin.isFromFile('url')) {
    throw new UsageError("URL and --merge can't be combined: the reports name the sandbox.");
  }
  const names = Object.keys(loadOptions).filter((name) => !MERGE_OPTIONS.includes(name));
  const used = findSetFlag(loadOptions, names, values, origin);
  if (used === undefined) return;
  throw new UsageError(`--merge and --${used} can't be combined: the reports determine the run.`);
}

/** Writes a report to the terminal and to files. */
export function writeReports(
  report: LoadReport,
  {
    loadPackage,
    out,
    outputs,
    process,
  }: { loadPackage: Load; out: Terminal; outputs: Outputs; process: CommandProcess },
): void {
  out.write(loadPackage.terminalReport(report, out));
  const views = {
    json: report,
    junit: () => loadPackage.junitReport(report),
    markdown: () => loadPackage.markdownReport(report),
    html: () => loadPackage.htmlReport(report),
  };
  writeViews(outputs, views, { out, stdout: process.stdout });
}
