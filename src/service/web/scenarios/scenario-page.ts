import type { EvalDefinition, Persona, Scenario } from '../../../contract/index.ts';
import { cutText, formatCount, formatNumber } from '../../../report-kit/format.ts';
import { html, type Html } from '../../../report-kit/html.ts';
import { renderItems } from '../../../report-kit/table.ts';
import { renderVerdict } from '../../../report-kit/verdict.ts';
import { createTimeColumn } from '../../../report-kit/time.ts';
import type { JudgedRun } from '../runs/judge-runs.ts';
import { linkToScenarioSessions, pathOfRun } from '../runs/run-links.ts';
import type { SimulationEstimate } from '../../operations/simulations.ts';
import type { RunnableAgent } from '../../operations/agents.ts';
import { renderForm } from '../frame/forms.ts';
import { linkTo, renderNotice, renderServicePage, type PageContext } from '../frame/page-frame.ts';
import { renderDocumentForms, type EditedText } from './document-editor.ts';
import {
  emptyRun,
  renderEstimate,
  renderHiddenRun,
  renderRunFields,
  renderStart,
  RUN_PATH,
} from './run-form.ts';
import { renderScenario, SCENARIO_CSS } from './scenario-view.ts';

/** The content of the page of a scenario. */
export interface ScenarioPage {
  scenario: Scenario;
  personas: readonly Persona[];
  evals: readonly EvalDefinition[];
  agents: readonly RunnableAgent[];
  /** What a run with the first agent costs, or why it can't run. */
  estimate: SimulationEstimate | { problem: string } | undefined;
  /** Its results in the newest simulations, newest first. */
  runs: readonly JudgedRun[];
  /** The text in the editor; undefined if the service can't edit. */
  edited: EditedText | undefined;
  /** What a scenario leaves out that was just made from a conversation, in sentences. */
  notes: readonly string[];
}

/** The query parameter with the conversation that a new scenario was made from, if there are notes. */
export const SOURCE_PARAMETER = 'conversation';

/** Renders the page of a scenario: how to run it, what it says, and its editor. */
export function renderScenarioPage(content: ScenarioPage, context: PageContext): string {
  const { scenario, edited, notes } = content;
  const { id, name, category = 'general', tags = [] } = scenario;
  const path = `/scenarios/${encodeURIComponent(id)}`;
  const notices = {
    added: ['The scenario was added.', ...notes].join(' '),
    saved: 'The scenario was saved.',
  };
  return renderServicePage(
    {
      title: name,
      section: 'Scenarios',
      css: SCENARIO_CSS,
      main: html`<h1>${name}</h1>
        <p class="soft">${[id, category, ...tags].join(' · ')}</p>
        ${renderNotice(context, notices)} ${renderRun(content, context)}
        ${renderResults(content, context)} ${renderScenario(scenario, content, context)}
        ${renderDocumentForms(context, { kind: 'scenario', name: scenario.name, path, edited, consequences: KEPT })}`,
    },
    context,
  );
}

/** Renders the results of the scenario in the newest simulations that played it. */
function renderResults({ scenario: { id }, runs }: ScenarioPage, context: PageContext): Html {
  const played = runs.flatMap(({ run, results }) => {
    const result = results.find((each) => each.scenario_id === id);
    return result ? [{ run, result }] : [];
  });
  return html`<h2>Simulations</h2>
    ${
      played.length === 0
        ? html`<p>
            ${runs.length === 0 ? 'No simulation has played it yet.' : `None of the newest ${formatCount(runs.length, 'simulation')} played it.`}
          </p>`
        : renderItems({
            label: 'Simulations',
            items: played,
            columns: [
              {
                name: 'simulation',
                content: ({ run }) =>
                  html`<a href="${linkTo(context, pathOfRun('simulation', run.id))}"
                    >${run.name}</a
                  >`,
              },
              {
                name: 'verdict',
                content: ({ result: { verdict } }) => renderVerdict(verdict),
              },
              {
                name: 'sessions passed',
                isNumber: true,
                content: ({ run, result: { passed, samples } }) =>
                  html`<a href="${linkToScenarioSessions(run.id, id, context)}"
                    >${formatNumber(passed)} of ${formatNumber(samples)}</a
                  >`,
              },
              createTimeColumn<(typeof played)[number]>({
                name: 'newest session',
                msOf: ({ run }) => run.newestStartMs,
              }),
            ],
          })
    }`;
}

/** What a deletion of a scenario keeps. */
const KEPT =
  'Simulations that played it keep their results, and can run again with their own copy of it. ' +
  'Its persona and its evals stay.';

/** The most characters of the name of an agent on a button. */
const AGENT_LENGTH_MAX = 40;

function renderRun({ scenario, agents, estimate }: ScenarioPage, context: PageContext): Html {
  const [agent, ...others] = agents;
  if (!agent || !estimate) {
    return html`<p>
      To run this scenario, first <a href="${linkTo(context, '/agents')}">add an agent</a>.
    </p>`;
  }
  if ('problem' in estimate) {
    return html`<p class="remark">This scenario can't run. ${estimate.problem}</p>`;
  }
  const draft = { ...emptyRun(agent.id), scenarioIds: [scenario.id] };
  const oneClick =
    others.length === 0
      ? renderForm(context, {
          action: RUN_PATH,
          body: html`${renderHiddenRun(draft)}
            <p>${renderStart(`Run with ${cutText(agent.name, AGENT_LENGTH_MAX)}`)}</p>`,
        })
      : undefined;
  const settings = renderForm(context, {
    action: RUN_PATH,
    body: html`<input type="hidden" name="scenario" value="${scenario.id}" />
      ${renderRunFields(agents, draft)}
      <p><button class="${oneClick ? 'quiet' : ''}">Show the cost</button></p>`,
  });
  return html`<div class="run" role="group" aria-labelledby="run">
    <h2 id="run">Run</h2>
    ${renderEstimate(estimate)} ${oneClick}
    ${
      oneClick === undefined
        ? settings
        : context.token === undefined
          ? undefined
          : html`<details>
              <summary>Run with other settings</summary>
              ${settings}
            </details>`
    }
  </div>`;
}
