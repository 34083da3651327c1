import type { Scenario } from '../../../contract/index.ts';
import { formatCount, formatNumber } from '../../../report-kit/format.ts';
import { html, type Html } from '../../../report-kit/html.ts';
import type { RunnableAgent } from '../../operations/agents.ts';
import { applyScenarioDefaults } from '../../scenarios/complete-scenario.ts';
import type { Page } from '../../store/store.ts';
import { renderProblem, renderSelect } from '../frame/fields.ts';
import { renderFilterField, renderFilterForm } from '../frame/filter-form.ts';
import { renderForm } from '../frame/forms.ts';
import {
  linkTo,
  renderNotice,
  renderPages,
  renderServicePage,
  renderTabs,
  type PageContext,
} from '../frame/page-frame.ts';
import { NEW_TEXTS, renderEditor, type EditedText } from './document-editor.ts';
import { renderHiddenScenarios, renderRunFields, RUN_PATH, type RunDraft } from './run-form.ts';
import { SCENARIO_CSS } from './scenario-view.ts';
import { renderItems } from '../../../report-kit/table.ts';

/** The content of the list of scenarios. */
export interface ScenarioList extends Page {
  query: URLSearchParams;
  scenarios: readonly Scenario[];
  /** How many match the search. */
  total: number;
  /** How many there are. */
  storedCount: number;
  agents: readonly RunnableAgent[];
  /** The starter scenarios that are not stored. */
  starters: Readonly<Record<'general' | 'shop', readonly Pick<Scenario, 'id' | 'name'>[]>>;
  run: RunDraft;
  /** The text of a new scenario, after a mistake. */
  edited?: EditedText | undefined;
  canEdit: boolean;
}

const NOTICES = {
  deleted: 'The scenario was deleted.',
  starters: 'The starter scenarios were added, with their personas and evals.',
};

/** Renders the scenarios, with the form that runs some of them. */
export function renderScenariosPage(list: ScenarioList, context: PageContext): string {
  const { scenarios, storedCount } = list;
  return renderServicePage(
    {
      title: 'Scenarios',
      css: SCENARIO_CSS,
      main: html`<h1>Scenarios</h1>
        ${renderDocumentTabs(context, 'scenario')} ${renderNotice(context, NOTICES)}
        <p>A scenario says what a simulated user wants, and how the conversation is scored.</p>
        ${storedCount === 0 ? html`<p>No scenarios yet. Add a starter scenario, or write one.</p>` : renderSearch(list, context)}
        ${storedCount > 0 && scenarios.length === 0 && html`<p>No scenario matches.</p>`}
        ${scenarios.length > 0 && renderRun(list, context)}
        ${renderPages({ path: '/scenarios', ...list })} ${renderStarters(list, context)}
        ${list.canEdit && context.token !== undefined && renderNew(list, context)}`,
    },
    context,
  );
}

/** Renders links to scenarios and personas. */
export const renderDocumentTabs = (context: PageContext, shown: 'scenario' | 'persona'): Html =>
  renderTabs('Documents', [
    { url: linkTo(context, '/scenarios'), name: 'Scenarios', isCurrent: shown === 'scenario' },
    { url: linkTo(context, '/personas'), name: 'Personas', isCurrent: shown === 'persona' },
  ]);

function renderSearch({ query, storedCount, total }: ScenarioList, context: PageContext): Html {
  const text = query.get('q') ?? '';
  const labels = { q: 'Name, id, category, or tag contains' };
  return html`${renderFilterForm(context, {
      path: '/scenarios',
      body: html`${renderFilterField({ query, labels }, 'q')}
        <button class="quiet">Search</button>`,
    })}
    <p>
      ${text === '' ? formatCount(storedCount, 'scenario') : `${total} of ${formatCount(storedCount, 'scenario')}`}.
    </p>`;
}

function renderRun(list: ScenarioList, context: PageContext): Html {
  const { agents, run, query, total, scenarios } = list;
  const { problems } = run;
  const table = renderScenarios(list, context);
  const elsewhere = run.scenarioIds.filter((id) => scenarios.every((shown) => shown.id !== id));
  if (agents.length === 0) {
    return html`${table}
      <p>To run scenarios, first <a href="${linkTo(context, '/agents')}">add an agent</a>.</p>`;
  }
  if (context.token === undefined) return table;
  return renderForm(context, {
    action: RUN_PATH,
    body: html`${table} ${renderProblem(problems.scenarios)}
      <div class="run" role="group" aria-labelledby="run">
        <h2 id="run">Run</h2>
        <label
          ><input type="checkbox" name="all" value="yes" />
          ${(query.get('q') ?? '') === '' ? 'All' : 'All matching'} scenarios
          (${formatNumber(total)})</label
        >
        ${elsewhere.length !== 0 && renderElsewhere(elsewhere)}
        <input type="hidden" name="q" value="${query.get('q') ?? ''}" />
        ${renderRunFields(agents, run)}
        <p>
          <button>Show the cost</button>
          <span class="soft">Nothing starts before you confirm it.</span>
        </p>
      </div>`,
  });
}

/** Keeps the scenarios that were chosen before a mistake, and that are not in the table. */
function renderElsewhere(ids: readonly string[]): Html {
  const count = formatCount(ids.length, 'chosen scenario');
  return html`<p class="soft">${count} on other pages will run, too.</p>
    ${renderHiddenScenarios(ids)}`;
}

function renderScenarios({ scenarios, run, agents }: ScenarioList, context: PageContext): Html {
  const canRun = agents.length > 0 && context.token !== undefined;
  const renderName = ({ id, name }: Scenario): Html =>
    html`${canRun && renderCheck({ id, name }, run)}
      <a href="${linkTo(context, `/scenarios/${encodeURIComponent(id)}`)}">${name}</a>`;
  return renderItems({
    label: 'Scenarios',
    items: scenarios.map((scenario) => applyScenarioDefaults(scenario)),
    columns: [
      { name: 'scenario', content: renderName },
      {
        name: 'category',
        content: ({ category = 'general', tags = [] }) =>
          html`${category} <span class="soft">${tags.join(', ')}</span>`,
      },
      { name: 'user', content: ({ user }) => user.mode },
      { name: 'channel', content: ({ channel }) => channel },
      { name: 'evals', isNumber: true, content: ({ evals = [] }) => evals.length },
      { name: 'samples', isNumber: true, content: ({ samples }) => samples },
    ],
  });
}

/** Renders the box that chooses a scenario for a run. */
const renderCheck = ({ id, name }: Pick<Scenario, 'id' | 'name'>, run: RunDraft): Html =>
  html`<input
    type="checkbox"
    name="scenario"
    value="${id}"
    aria-label="Run ${name}"
    ${run.scenarioIds.includes(id) ? 'checked' : ''}
  />`;

function renderStarters(
  { starters, storedCount, run }: ScenarioList,
  context: PageContext,
): Html | undefined {
  const { general, shop } = starters;
  if (general.length + shop.length === 0 || context.token === undefined) return undefined;
  const all = (name: string, { length }: { length: number }, whom: string) =>
    length === 0 ? [] : [[name, `All ${length} for ${whom}`] as const];
  return html`<details ${storedCount === 0 ? 'open' : ''}>
    <summary>Add a starter scenario</summary>
    <p>The first ones are for any agent, the others for the support agent of a shop.</p>
    ${renderForm(context, {
      action: '/scenarios/starters',
      body: html`${renderSelect({ name: 'starter', label: 'Starter scenario' }, [
          ...all('general', general, 'any agent'),
          ...all('shop', shop, 'the agent of a shop'),
          ...[...general, ...shop].map(({ id, name }) => [id, name] as const),
        ])}
        <input type="hidden" name="agent" value="${run.values.agent ?? ''}" />
        <p><button>Add</button></p>`,
    })}
  </details>`;
}

function renderNew({ edited }: ScenarioList, context: PageContext): Html {
  return html`<details ${edited ? 'open' : ''}>
    <summary>Write a scenario</summary>
    ${renderEditor(context, {
      kind: 'scenario',
      action: '/scenarios',
      button: 'Add the scenario',
      edited: edited ?? { text: NEW_TEXTS.scenario },
    })}
  </details>`;
}
