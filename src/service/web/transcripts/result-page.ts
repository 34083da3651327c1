import { formatCount, formatNumber } from '../../../report-kit/format.ts';
import { html, type Html } from '../../../report-kit/html.ts';
import type { StoredSessions } from '../../operations/transcripts.ts';
import { linkTo, renderDone, renderServicePage, type PageContext } from '../frame/page-frame.ts';
import { PROBLEM_LIST_CSS, renderProblems, type FileReport } from './problem-list.ts';
import { UPLOAD_PATH } from './upload-page.ts';

/** What was stored of a file, and what was left out. */
export interface UploadResult extends StoredSessions {
  report: FileReport;
}

const RUNS_SHOWN_MAX = 50;

/** Renders the result of an upload. */
export function renderResultPage(result: UploadResult, context: PageContext): string {
  const { stored, replaced, queued, report } = result;
  const counts: [count: number, label: string][] = [
    [stored, stored === 1 ? 'session stored' : 'sessions stored'],
    ...(replaced > 0
      ? [
          [replaced, replaced === 1 ? 'replaced an earlier one' : 'replaced earlier ones'] as [
            number,
            string,
          ],
        ]
      : []),
    [queued, queued === 1 ? 'eval queued' : 'evals queued'],
    ...(report.invalid > 0
      ? [
          [
            report.invalid,
            report.invalid === 1 ? 'conversation left out' : 'conversations left out',
          ] as [number, string],
        ]
      : []),
  ];
  return renderServicePage(
    {
      title: 'Upload finished',
      section: 'Upload',
      css: PROBLEM_LIST_CSS,
      main: html`<h1>Upload finished</h1>
        ${renderDone(
          `${formatCount(stored, 'session')} ${stored === 1 ? 'was' : 'were'} stored. ` +
            (queued === 0
              ? 'No evals apply, so there will be no scores.'
              : 'Scores appear as soon as the evals have run.'),
        )}
        <ul class="counts">
          ${counts.map(([count, label]) => html`<li><b>${formatNumber(count)}</b> ${label}</li>`)}
        </ul>
        ${
          replaced > 0 &&
          html`<p>
            A session replaces the one with the same <code>session_id</code> in the same run, with
            its scores.
          </p>`
        }
        ${renderRuns(result, context)} ${report.problemCount > 0 && html`<h2>Left out</h2>`}
        ${renderProblems(report)}
        <p><a href="${linkTo(context, UPLOAD_PATH)}">Upload another file</a></p>`,
    },
    context,
  );
}

function renderRuns({ runs }: UploadResult, context: PageContext): Html {
  const rest = runs.length - RUNS_SHOWN_MAX;
  return html`<h2>${runs.length === 1 ? 'Run' : 'Runs'}</h2>
    <ul class="runs">
      ${runs.slice(0, RUNS_SHOWN_MAX).map(
        ({ name, sessions }) =>
          html`<li>
            <a href="${linkTo(context, '/sessions', { kind: 'production', run: name })}">${name}</a>
            <span class="soft">${formatCount(sessions, 'session')}</span>
          </li>`,
      )}
    </ul>
    ${
      rest > 0 &&
      html`<p>
        And ${formatCount(rest, 'more run')}:
        <a href="${linkTo(context, '/runs', { kind: 'production' })}">all runs</a>.
      </p>`
    }`;
}
