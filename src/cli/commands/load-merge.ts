/** The option --merge of `load`, and the output that it shares with a run. */
import type * as loadModule from '../../../load/index.ts';
import type { LoadReport } from '../../contract/index.ts';
import { UsageError } from '../errors.ts';
import type { ValueOrigin } from '../flags/config-file.ts';
import type { Option } from '../flags/option.ts';
import { readEarlierReport, readReport } from '../input/report-files.ts';
import { openOutputs, rejectOverwriting, writeViews, type Outputs } from '../output/outputs.ts';
import type { Terminal } from '../output/terminal.ts';
import type { CommandProcess } from '../process.ts';

type Load = typeof loadModule;
type Options = Readonly<Record<string, Option>>;

/** The values that a merge uses. */
interface MergeFlags extends Outputs {
  url?: string | undefined;
  compare?: string | undefined;
  'accept-not-proven': boolean;
}

/** The options that apply to a merge. */
const MERGE_OPTIONS = [
  ...['merge', 'json', 'junit', 'markdown', 'html', 'compare', 'accept-not-proven', 'config'],
];

/** Merges the reports of shards, writes the result like the report of a run, and returns the exit code. */
export async function mergeFiles(
  paths: readonly string[],
  flags: MergeFlags,
  { options, origin, process }: { options: Options; origin: ValueOrigin; process: CommandProcess },
): Promise<number> {
  rejectRunOptions(flags, { options, origin });
  rejectOverwriting(flags, '--merge', paths);
  const loadPackage = await import('../../../load/index.ts');
  const reports = paths.map((path) => ({
    name: path,
    report: readReport(path, '--merge', 'LoadReport'),
  }));
  const earlier = readEarlierReport(flags.compare, 'LoadReport');
  const merged = mergeOrReject(reports, flags, loadPackage);
  const out = openOutputs(flags, process);
  out.write(`${out.style('bold', `sandbox-kit load ${merged.sandbox}`)}\n\n`);
  const isComparable = earlier !== undefined && loadPackage.hasRun(merged);
  const report = isComparable ? loadPackage.withComparison(merged, earlier) : merged;
  writeReports(report, { loadPackage, out, flags, process });
  return report.exitCode;
}

/** @throws {UsageError} unless the reports are all shards of one run. */
function mergeOrReject(
  reports: Parameters<Load['mergeReports']>[0],
  flags: MergeFlags,
  loadPackage: Load,
): LoadReport {
  try {
    return loadPackage.mergeReports(reports, { acceptNotProven: flags['accept-not-proven'] });
  } catch (error) {
    if (!(error instanceof loadPackage.MergeError)) throw error;
    throw new UsageError(`--merge: ${error.message}`);
  }
}

/** @throws {UsageError} about the first option of a run. Those of a configuration file are ignored. */
function rejectRunOptions(
  flags: MergeFlags,
  { options, origin }: { options: Options; origin: ValueOrigin },
): void {
  if (flags.url !== undefined && !origin.isFromFile('url')) {
    throw new UsageError("URL and --merge can't be combined: the reports name the sandbox.");
  }
  const isSet = ([name, { schema }]: [string, Option]): boolean => {
    const value = (flags as object as Record<string, unknown>)[name];
    return value !== schema.safeParse(undefined).data && !origin.isFromFile(name);
  };
  const used = Object.entries(options).find(
    (entry) => !MERGE_OPTIONS.includes(entry[0]) && isSet(entry),
  );
  if (!used) return;
  throw new UsageError(
    `--merge and --${used[0]} can't be combined: the reports determine the run.`,
  );
}

/** Writes a report to the terminal and to files. */
export function writeReports(
  report: LoadReport,
  {
    loadPackage,
    out,
    flags,
    process,
  }: { loadPackage: Load; out: Terminal; flags: Outputs; process: CommandProcess },
): void {
  out.write(loadPackage.terminalReport(report, out));
  const views = {
    json: report,
    junit: () => loadPackage.junitReport(report),
    markdown: () => loadPackage.markdownReport(report),
    html: () => loadPackage.htmlReport(report),
  };
  writeViews(flags, views, { out, stdout: process.stdout });
}
