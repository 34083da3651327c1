/** What every report of a run shows of a comparison with an earlier run. */
import { formatInstant } from './format.ts';
import { html, type Html } from './html.ts';
import type { Block } from './markdown.ts';
import type { ReportSection } from './run-report.ts';

/** A setting of two runs that are compared. */
export type ComparedSetting = readonly [name: string, before: unknown, now: unknown];

/** Names the settings that differ between two runs: they may explain a change, not the sandbox. */
export function describeDifferences(settings: readonly ComparedSetting[]): string[] {
  return settings
    .filter(([, before, now]) => before !== now)
    .map(
      ([name, before, now]) => `Different ${name}: ${String(before)} before, ${String(now)} now.`,
    );
}

/** A comparison in a report. */
export interface Compared {
  /** Start of the earlier run, an ISO time. */
  startedAt: string;
  /** The verdict about the runs with its figures, if there is one. */
  sentence?: string;
  differences: readonly string[];
}

/** Returns the heading of a comparison. */
export const comparisonHeading = ({ startedAt }: Pick<Compared, 'startedAt'>): string =>
  `Compared with the run of ${formatInstant(startedAt)}`;

/** Returns a comparison for Markdown: the verdict, what makes the runs differ, then the changes. */
export function comparisonBlocks(
  compared: Compared,
  changes: readonly Block[],
  heading = comparisonHeading(compared),
): Block[] {
  const { sentence, differences } = compared;
  return [{ heading }, sentence, ...differences.map((quote) => ({ quote })), ...changes];
}

/** Returns a comparison for a page: the verdict, what makes the runs differ, then the changes. */
export function comparisonSection(
  compared: Compared,
  changes: Html,
  title = comparisonHeading(compared),
): ReportSection {
  const { sentence, differences } = compared;
  const body = html`${sentence !== undefined && html`<p>${sentence}</p>`}
  ${differences.map((difference) => html`<p class="soft">${difference}</p>`)} ${changes}`;
  return { id: 'comparison', title, body };
}
