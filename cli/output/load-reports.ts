import type * as loadModule from '../../load/index.ts';
import type { LoadReport } from '../../src/contract/index.ts';
import type { CommandProcess } from '../process.ts';
import { writeViews, type Outputs } from './outputs.ts';
import type { Terminal } from './terminal.ts';

type Load = typeof loadModule;

/** Writes the report of a load test to the terminal and to files. */
export function writeLoadReports(
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
