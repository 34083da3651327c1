import type * as conformanceModule from '../../conformance/index.ts';
import type { CheckReport } from '../../src/contract/index.ts';
import { wrap } from '../../src/report-kit/terminal.ts';
import type { CommandProcess } from '../process.ts';
import { writeViews, type Outputs } from './outputs.ts';
import type { Terminal } from './terminal.ts';

type Conformance = typeof conformanceModule;

/** Writes the report of a check to the terminal and to files. */
export function writeCheckReports(
  report: CheckReport,
  {
    conformance,
    process,
    transcript,
    out,
    outputs,
    verbose,
    note,
    durationMs,
    recording,
  }: {
    conformance: Conformance;
    process: CommandProcess;
    transcript: Parameters<Conformance['htmlReport']>[1];
    out: Terminal;
    outputs: Outputs;
    verbose: boolean;
    /** A sentence before the report. */
    note?: string | undefined;
    durationMs?: number;
    /** The recording that was judged. */
    recording?: string;
  },
): void {
  const { style, width, program } = out;
  if (note !== undefined) out.write(`${wrap(note, width).join('\n')}\n\n`);
  const duration = durationMs === undefined ? {} : { tookMs: durationMs };
  const resendFile = outputs.json ?? outputs.record ?? recording;
  const layout = { style, width, program, verbose, resendFile };
  out.write(conformance.terminalReport(report, { ...layout, ...duration }));
  const views = {
    json: report,
    junit: () => conformance.junitReport(report, resendFile, program),
    markdown: () => conformance.markdownReport(report, resendFile, program),
    html: () => conformance.htmlReport(report, transcript, resendFile, program),
  };
  writeViews(outputs, views, { out, stdout: process.stdout });
}
