import type { EvalDefinition } from '../../../contract/index.ts';
import { renderFactList } from '../../../report-kit/fact-list.ts';
import { formatCount, formatNumber, formatShare } from '../../../report-kit/format.ts';
import { html, type Html } from '../../../report-kit/html.ts';
import { renderItems, type ItemColumn } from '../../../report-kit/table.ts';
import type { Agreement } from '../../evals/agreement.ts';
import type { Page, RecentOutcomes } from '../../store/store.ts';
import {
  linkTo,
  renderNotice,
  renderPages,
  renderServicePage,
  type PageContext,
} from '../frame/page-frame.ts';
import { linkToEval } from '../runs/run-links.ts';
import { USERS_ANCHOR } from './eval-page.ts';
import { evalKinds } from './eval-fields.ts';
import { REVIEWS_ANCHOR } from './review-list.ts';

/** An eval in the list. */
export interface ListedEval {
  definition: EvalDefinition;
  /** Whether it scores live traces. */
  isLive: boolean;
  /** The scenarios that refer to it. */
  scenarios: number;
  /** The newest outcomes of its current version that are not errors. */
  recent: RecentOutcomes;
  /** How far people agree with outcomes of its current version. */
  agreement: Agreement | undefined;
}

/** A page of the list of evals. */
export interface EvalList extends Page {
  evals: readonly ListedEval[];
  total: number;
  query: URLSearchParams;
  /** The number of newest outcomes that pass rates count. */
  recentMax: number;
}

const listNotices = (context: PageContext): Record<string, string | Html> => ({
  saved: 'The eval was saved. Live traces that are closed from now on are scored with it.',
  'saved-not-live': html`The eval was saved. Live traces are not scored with it until you choose it
    in the <a href="${linkTo(context, '/settings')}">settings</a>.`,
  deleted: 'The eval was deleted. Its outcomes are kept.',
});

/** Renders the list of the evals of an owner. */
export function renderEvalsPage(list: EvalList, context: PageContext): string {
  const { evals, total } = list;
  return renderServicePage(
    {
      title: 'Evals',
      main: html`<h1>Evals</h1>
        ${renderNotice(context, listNotices(context))}
        <p>
          An eval is one criterion that scores a conversation. Choose the evals that score live
          traces in the <a href="${linkTo(context, '/settings')}">settings</a>.
        </p>
        <p><a class="button" href="${linkTo(context, '/evals/new')}">Add an eval</a></p>
        ${total === 0 && html`<p>There are no evals yet.</p>`}
        ${evals.length !== 0 && renderEvals(list, context)}
        ${renderPages({ path: '/evals', ...list })}`,
    },
    context,
  );
}

function renderEvals({ evals, recentMax }: EvalList, context: PageContext): Html {
  return html`${renderItems({
      label: 'Evals',
      items: evals,
      columns: [
        {
          name: 'eval',
          content: ({ definition: { id, name } }) =>
            html`<a href="${linkTo(context, '/evals/edit', { id })}">${name}</a>
              <div class="soft">${id}</div>`,
        },
        { name: 'kind', content: ({ definition }) => evalKinds[definition.kind].name },
        { name: 'category', content: ({ definition: { category = 'general' } }) => category },
        {
          name: 'required',
          content: ({ definition: { required = true } }) => (required ? 'yes' : 'no'),
        },
        { name: 'used by', content: (listed) => renderUsers(listed, context) },
        { name: 'pass rate', isNumber: true, content: renderRecent },
        ...(evals.some(({ agreement }) => agreement?.reviewed) ? [columnOfAgreement(context)] : []),
      ],
    })}
    <p class="soft">
      Pass rates count the newest outcomes of the current version of each eval, at most
      ${recentMax}, without errors.
    </p>`;
}

function renderUsers(
  { definition: { id }, isLive, scenarios }: ListedEval,
  context: PageContext,
): Html | string {
  if (!isLive && scenarios === 0) return html`<span class="soft">nothing</span>`;
  const link = `${linkToEval(id, context)}#${USERS_ANCHOR}`;
  return html`${isLive && 'live traces'}${isLive && scenarios > 0 && ', '}${
    scenarios > 0 && html`<a href="${link}">${formatCount(scenarios, 'scenario')}</a>`
  }`;
}

const columnOfAgreement = (context: PageContext): ItemColumn<ListedEval> => ({
  name: 'people agree',
  isNumber: true,
  content: ({ definition: { id }, agreement }) => {
    if (!agreement || agreement.reviewed === 0) return undefined;
    const { reviewed, right, kappa } = agreement;
    return html`<a href="${linkToEval(id, context)}#${REVIEWS_ANCHOR}"
        >${formatNumber(right)} of ${formatNumber(reviewed)}</a
      >
      ${kappa !== undefined && html`<span class="soft">kappa ${kappa.toFixed(2)}</span>`}`;
  },
});

function renderRecent({ recent }: ListedEval): Html | false {
  const { outcomes, passed, hasOtherVersions } = recent;
  const since = hasOtherVersions ? ' since it was edited' : '';
  if (outcomes === 0) return hasOtherVersions && html`<span class="soft">none${since}</span>`;
  return html`${formatShare(passed / outcomes, 1)}
    <span class="soft">of ${outcomes}${since}</span>`;
}

/** Renders the choice of the kind of a new eval. */
export function renderKindsPage(context: PageContext): string {
  return renderServicePage(
    {
      title: 'Add an eval',
      section: 'Evals',
      main: html`<h1>Add an eval</h1>
        <p>Choose how the eval decides whether a conversation passes.</p>
        ${renderFactList(
          Object.entries(evalKinds).map(([kind, { name, passesIf }]) => [
            html`<a href="${linkTo(context, '/evals/new', { kind })}">${name}</a>`,
            `passes if ${passesIf}`,
          ]),
        )}
        <p>
          <a href="${linkTo(context, '/evals/new', { as: 'json' })}">Write the eval as JSON</a>
        </p>`,
    },
    context,
  );
}
