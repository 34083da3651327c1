import { formatNumber } from '../../../report-kit/format.ts';
import { html, type Html } from '../../../report-kit/html.ts';
import { renderItems, type ItemColumn } from '../../../report-kit/table.ts';
import { renderVerdict } from '../../../report-kit/verdict.ts';
import { createTimeColumn } from '../../../report-kit/time.ts';
import { describeEnd } from '../../runs/reasons.ts';
import { decideVerdict } from '../../sessions/verdict.ts';
import type { Outcome, Session } from '../../store/store.ts';
import { linkTo, type PageContext } from '../frame/page-frame.ts';
import { pathOfRun } from '../runs/run-links.ts';
import { OUTCOME_LOOKS } from './outcome-looks.ts';
import { linkToSession, nameSession } from './session-links.ts';

/** With more evals than this on a page, or with longer names, one column lists the evals that did not pass. */
const EVAL_COLUMNS_MAX = 6;
const EVAL_NAME_LENGTH_MAX = 40;
const LISTED_EVALS_MAX = 5;

/** Renders sessions as a table: with a column for each eval, if they have few with short names. */
export function renderSessionTable(
  sessions: readonly Session[],
  query: URLSearchParams,
  context: PageContext,
): Html {
  const names = new Set(sessions.flatMap(({ outcomes }) => outcomes.map((o) => o.evalName)));
  const hasColumns =
    names.size <= EVAL_COLUMNS_MAX &&
    [...names].every(({ length }) => length <= EVAL_NAME_LENGTH_MAX);
  return renderItems({
    label: 'Sessions',
    className: 'sessions',
    items: sessions,
    columns: [
      {
        name: 'session',
        content: (session) => {
          const link = linkToSession(session, context, query);
          const name = nameSession(session);
          return link === undefined ? name : html`<a href="${link}">${name}</a>`;
        },
      },
      { name: 'verdict', content: renderSessionVerdict },
      ...(hasColumns
        ? [...names].sort().map((name) => columnOfEval(name, sessions))
        : SUMMARY_COLUMNS),
      // All sessions of a run have the same one.
      ...(query.has('run_id')
        ? []
        : [{ name: 'run', content: (session: Session) => renderRun(session, context) }]),
      createTimeColumn<Session>({ name: 'started', msOf: ({ startedAtMs }) => startedAtMs }),
    ],
  });
}

function renderRun({ kind, run, simulation, agent }: Session, context: PageContext): Html {
  const of = run ?? simulation;
  const name =
    of && !simulation?.deleted
      ? html`<a href="${linkTo(context, pathOfRun(kind, of.id))}">${of.name}</a>`
      : of?.name;
  return html`${name}${agent && html` <span class="soft">${agent.name}</span>`}`;
}

function renderSessionVerdict(session: Session): Html {
  const { status, endReason = '' } = session;
  const verdict = decideVerdict(session);
  const end = { status, end_reason: endReason };
  return html`${renderVerdict(verdict)}
  ${status !== 'completed' && html`<span class="soft">${describeEnd(end)}</span>`}`;
}

const columnOfEval = (name: string, sessions: readonly Session[]): ItemColumn<Session> => ({
  name,
  remark: isRequired(name, sessions) ? undefined : 'not required',
  headingClass: 'eval',
  content: ({ outcomes }) => renderOutcomes(outcomes, name),
});

/** Whether the verdict of one of these sessions depends on an eval. */
const isRequired = (name: string, sessions: readonly Session[]): boolean =>
  sessions.some(({ outcomes }) =>
    outcomes.some(({ evalName, required }) => evalName === name && required),
  );

function renderOutcomes(outcomes: readonly Outcome[], evalName: string): Html[] {
  return outcomes
    .filter((outcome) => outcome.evalName === evalName)
    .map(({ outcome }) => {
      const { className, icon, word } = OUTCOME_LOOKS[outcome];
      return html`<span class="outcome ${className}">${icon} ${word}</span>`;
    });
}

/** The columns of a table of sessions with many evals. */
const SUMMARY_COLUMNS: readonly ItemColumn<Session>[] = [
  {
    name: 'passed',
    isNumber: true,
    content: ({ outcomes }) => {
      const judged = outcomes.filter(({ outcome }) => outcome !== 'error');
      const passed = judged.filter(({ outcome }) => outcome === 'pass').length;
      return `${formatNumber(passed)} of ${formatNumber(judged.length)}`;
    },
  },
  {
    name: 'failed and errored evals',
    content: ({ outcomes }) => {
      const others = outcomes.filter(({ outcome }) => outcome !== 'pass');
      // On phones, a cell without content is hidden with its label; white space counts as content.
      if (others.length === 0) return undefined;
      const more = others.length - LISTED_EVALS_MAX;
      return html`${others
        .slice(0, LISTED_EVALS_MAX)
        .map(
          ({ evalName, outcome }) =>
            html`<span class="${OUTCOME_LOOKS[outcome].className}"
              >${evalName}${outcome === 'error' ? ' (errored)' : ''}</span
            >`,
        )}
      ${more > 0 && `and ${more} more`}`;
    },
  },
];

/**
 * CSS rules of the table. On phones, a session takes two lines, the name with the verdict and the run with the
 * time, and one more if evals did not pass: a list has many of them.
 */
export const SESSION_TABLE_CSS = `
.sessions th.eval { max-width: 10rem; overflow-wrap: anywhere; }
.sessions .outcome { white-space: nowrap; }
@media screen and (max-width: 48rem) {
  .sessions.labeled tbody tr { display: flex; flex-wrap: wrap; gap: 0 0.75rem; }
  .sessions.labeled tbody th { flex: 1 1 calc(100% - 8rem); }
  .sessions.labeled tbody td { margin: 0; order: 2; }
  .sessions.labeled tbody [data-label='verdict'] { order: 0; }
  .sessions.labeled tbody :is([data-label='run'], [data-label='started']) { font-size: 0.875rem;
    order: 1; }
  .sessions.labeled tbody :is([data-label='run'], [data-label='started'])::before { content: none; }
  .sessions.labeled tbody td:has(> .outcome.pass):not(:has(> .outcome:not(.pass))) {
    display: none; }
}
`;
