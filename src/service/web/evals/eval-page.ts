import { renderFactList } from '../../../report-kit/fact-list.ts';
import { formatCount, formatNumber } from '../../../report-kit/format.ts';
import { html, type Html } from '../../../report-kit/html.ts';
import type { SessionKind } from '../../store/store.ts';
import type { Edit } from '../frame/edits.ts';
import {
  renderCheckbox,
  renderField,
  renderProblem,
  renderSelect,
  renderTextArea,
} from '../frame/fields.ts';
import { renderDeletion } from '../frame/deletion.ts';
import { renderForm } from '../frame/forms.ts';
import { linkTo, renderServicePage, type PageContext } from '../frame/page-frame.ts';
import { linkToScenario } from '../runs/run-links.ts';
import { renderDryRun, renderTrial, TRIAL_CSS, type ShownTrial } from './dry-run.ts';
import { JSON_FIELD, type EvalDraft, type Problems } from './eval-form.ts';
import { evalKinds, listFields, type EvalField } from './eval-fields.ts';
import { renderReviews, REVIEWS_CSS, type EvalReviewSummary } from './review-list.ts';

/** Anchor of the scenarios that refer to an eval. */
export const USERS_ANCHOR = 'scenarios';

/** The content of the editor of an eval. */
export interface EvalPage {
  draft: EvalDraft;
  problems?: Problems;
  /** Whether it scores live traces. */
  isLive: boolean;
  /** The ids of the scenarios that refer to it. */
  scenarios: readonly string[];
  trial: ShownTrial;
  /** Undefined if it is new. */
  edit: Edit | undefined;
  /** What people think of its outcomes; undefined if it is new. */
  reviews: EvalReviewSummary | undefined;
}

const JSON_HINT =
  `An object with id, name, kind, and params; category, required, type, and reason are optional. ` +
  `The kinds are ${Object.keys(evalKinds).join(', ')}. The form of each kind explains its params.`;

/** Renders the editor of an eval, with a dry run on a stored conversation. */
export function renderEvalPage(page: EvalPage, context: PageContext): string {
  const { draft, trial } = page;
  const { original } = draft;
  const title = original === undefined ? 'Add an eval' : `Eval ${original}`;
  return renderServicePage(
    {
      title,
      section: 'Evals',
      css: `${CSS}${TRIAL_CSS}${REVIEWS_CSS}`,
      main: html`<h1>${title}</h1>
        ${renderKind(draft, context)}
        ${renderForm(context, { action: '/evals/save', body: renderBody(page, context), edit: page.edit })}
        ${renderDryRun(trial)}
        ${original !== undefined && renderUses(original, page.scenarios, context)}
        ${page.reviews && renderReviews(page.reviews, context)}
        ${original !== undefined && renderEvalDeletion(page, original, context)}`,
    },
    context,
  );
}

function renderKind({ kind, original }: EvalDraft, context: PageContext): Html {
  const asJson =
    original === undefined
      ? undefined
      : html`<a
          href="${linkTo(context, '/evals/edit', { id: original, ...(kind !== undefined && { as: 'json' }) })}"
          >${kind === undefined ? 'Edit it in a form' : 'Edit it as JSON'}</a
        >`;
  if (kind === undefined) {
    const toForm = html`<a href="${linkTo(context, '/evals/new')}">Use the form of a kind</a>`;
    return html`<p>Write the definition as JSON. ${asJson ?? toForm}</p>`;
  }
  const { name, passesIf } = evalKinds[kind];
  return html`<p>
    <b>${name}</b>: the eval passes if ${passesIf}.
    ${original === undefined ? html`<a href="${linkTo(context, '/evals/new')}">Another kind</a>` : asJson}
  </p>`;
}

function renderBody(page: EvalPage, context: PageContext): Html {
  const { draft, problems, trial } = page;
  const { kind, original } = draft;
  const fields = kind === undefined ? [] : listFields(kind, original === undefined);
  // The parameters of the kind come first, because they are why the reader is here.
  const isParam = ({ pointer }: EvalField): boolean => pointer.startsWith('/params/');
  const inOrder = [...fields.filter(isParam), ...fields.filter((field) => !isParam(field))];
  return html`${original !== undefined && html`<input type="hidden" name="original" value="${original}" />`}
    ${kind === undefined ? renderDefinition(page) : html`<input type="hidden" name="kind" value="${kind}" />`}
    ${renderProblem(problems?.get(''))} ${inOrder.map((field) => renderEvalField(field, page))}
    <p><button>Save</button> <a href="${linkTo(context, '/evals')}">Cancel</a></p>
    ${renderTrial(trial, context)}`;
}

function renderDefinition({ draft, problems }: EvalPage): Html {
  return renderTextArea({
    name: JSON_FIELD,
    label: 'Definition',
    hint: JSON_HINT,
    value: draft.values.get(JSON_FIELD),
    problem: problems?.get(JSON_FIELD),
    rows: 16,
  });
}

function renderEvalField(field: EvalField, { draft, problems }: EvalPage): Html {
  const { pointer, label, hint, input, choices = [] } = field;
  const value = draft.values.get(pointer) ?? '';
  const shown = { name: pointer, label, hint, value, problem: problems?.get(pointer) };
  switch (input) {
    case 'flag':
      return renderCheckbox(pointer, label, { value: 'true', isChecked: value !== '' });
    case 'choice':
      return renderSelect(shown, choices);
    case 'text':
    case 'lines':
    case 'json':
      return renderTextArea({ ...shown, rows: 3 });
    case 'number':
      return renderField(shown, html`inputmode="decimal"`);
    case 'line':
      return renderField(shown);
  }
}

/** The most scenarios that the page lists. */
const SCENARIOS_MAX = 50;

/** Renders links to the sessions that the eval scored, and to the scenarios that refer to it. */
function renderUses(id: string, scenarios: readonly string[], context: PageContext): Html {
  const link = (kind: SessionKind, more = {}): Html =>
    html`<a href="${linkTo(context, '/sessions', { kind, eval_id: id, ...more })}">${kind}</a>`;
  const failed = { failed_only: 'true' };
  return html`<h2>Sessions and scenarios</h2>
    ${renderFactList([
      ['Scored sessions', html`${link('production')}, ${link('simulation')}`],
      ['Failed sessions', html`${link('production', failed)}, ${link('simulation', failed)}`],
      ['Scenarios', scenarios.length === 0 ? undefined : renderScenarios(scenarios, context)],
    ])}`;
}

function renderScenarios(scenarios: readonly string[], context: PageContext): Html {
  const more = scenarios.length - SCENARIOS_MAX;
  return html`<span id="${USERS_ANCHOR}">
    ${scenarios
      .slice(0, SCENARIOS_MAX)
      .map((id) => html`<a class="user" href="${linkToScenario(id, context)}">${id}</a>`)}
    ${more > 0 && `and ${formatNumber(more)} more`}
  </span>`;
}

const renderEvalDeletion = (
  { isLive, scenarios }: EvalPage,
  id: string,
  context: PageContext,
): Html | undefined =>
  renderDeletion(context, {
    summary: 'Delete this eval',
    consequences: html`Its outcomes are kept.
    ${isLive ? 'Live traces skip it from then on, and the settings show it as deleted.' : ''}
    ${scenarios.length === 0 ? '' : `${formatCount(scenarios.length, 'scenario')} can't run until it is removed there, too.`}`,
    button: `Delete ${id}`,
    action: '/evals/delete',
    fields: html`<input type="hidden" name="id" value="${id}" />`,
  });

const CSS = `
.form textarea { min-height: 0; }
a.user { margin-right: 0.5rem; }
`;
