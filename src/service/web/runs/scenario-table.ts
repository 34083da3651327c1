import type { ScenarioResult } from '../../../contract/index.ts';
import { formatNumber, formatShare } from '../../../report-kit/format.ts';
import { html, type Html } from '../../../report-kit/html.ts';
import { renderItems, type ItemColumn } from '../../../report-kit/table.ts';
import { sortByUrgency } from '../../domain/simulation-results/scenario-results.ts';

/** The most scenarios to show: those that did not pass first. */
const SCENARIOS_MAX = 200;

/**
 * Renders the results of scenarios, those that did not pass first.
 * @param options.isRunning Whether sessions that are not decided yet still run.
 */
export function renderScenarios(
  scenarios: readonly ScenarioResult[],
  {
    isRunning = false,
    linkToSessions,
  }: { isRunning?: boolean; linkToSessions: (scenarioId: string) => string },
): Html {
  const omitted = scenarios.length - SCENARIOS_MAX;
  return html`${renderItems({
    label: 'Scenarios',
    items: sortByUrgency(scenarios).slice(0, SCENARIOS_MAX),
    columns: listColumns(isRunning, linkToSessions),
  })}
  ${
    omitted > 0 &&
    html`<p class="soft">and ${formatNumber(omitted)} more scenarios, all of them not worse.</p>`
  }`;
}

const listColumns = (
  isRunning: boolean,
  linkToSessions: (scenarioId: string) => string,
): readonly ItemColumn<ScenarioResult>[] => [
  {
    name: 'scenario',
    content: ({ scenario_id: id, scenario, persona }) => {
      const about = [...(scenario === id ? [] : [scenario]), ...(persona === '' ? [] : [persona])];
      return html`<a href="${linkToSessions(id)}">${id}</a>
        <span class="soft">${about.join(', ')}</span>`;
    },
  },
  {
    name: 'verdict',
    content: ({ verdict, flaky }) =>
      html`<span class="mark ${verdict}"
          >${isRunning && verdict === 'undecided' ? 'running' : verdict}</span
        >${flaky && html`<span class="undecided">flaky</span>`}`,
  },
  {
    name: 'passed',
    isNumber: true,
    content: ({ passed, samples }) => `${formatNumber(passed)} of ${formatNumber(samples)}`,
  },
  { name: 'failed', count: ({ failed }) => failed, mark: 'failed' },
  {
    name: isRunning ? 'not ended' : 'undecided',
    count: ({ undecided }) => undecided,
    mark: 'undecided',
  },
  {
    name: 'required',
    isNumber: true,
    content: ({ required_pass_rate: required }) => formatShare(required, 0),
  },
  {
    name: 'pass^k',
    isNumber: true,
    content: ({ pass_hat_k: passHat }) => passHat.at(-1)?.toFixed(2) ?? '–',
  },
];
