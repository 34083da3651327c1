import { html } from '../../../report-kit/html.ts';
import type { RunSummary, SessionKind } from '../../store/store.ts';
import { renderKindTabs, renderServicePage, type PageContext } from '../frame/page-frame.ts';
import { renderProblem } from '../frame/fields.ts';
import { renderChoice, RUNS_CSS } from '../runs/runs-page.ts';

/** The runs to choose from, and those that are chosen already. */
export interface RunChoice {
  kind: SessionKind;
  runs: readonly RunSummary[];
  chosen: { a: string | undefined; b: string | undefined };
  /** Why the runs in the URL can't be compared. */
  problem: string | undefined;
}

/** Renders the page where two runs are chosen for a comparison. */
export function renderChoicePage(
  { kind, runs, chosen, problem }: RunChoice,
  context: PageContext,
): string {
  return renderServicePage(
    {
      title: 'Compare',
      section: 'Runs',
      css: RUNS_CSS,
      main: html`<h1>Choose two to compare</h1>
        ${renderKindTabs(context, '/compare', kind)} ${renderProblem(problem)}
        ${
          runs.length < 2
            ? html`<p>
                There are fewer than two ${kind === 'production' ? 'runs' : 'simulations'}.
              </p>`
            : renderChoice(runs, kind, context, chosen)
        }`,
    },
    context,
  );
}
