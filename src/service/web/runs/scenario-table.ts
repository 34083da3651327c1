import type { ScenarioResult } from '../../../contract/index.ts';
import { formatCount, formatNumber } from '../../../report-kit/format.ts';
import { html, type Html } from '../../../report-kit/html.ts';
import { RELIABILITY_COLUMNS } from '../../../report-kit/scenario-columns.ts';
import { renderItems, type ItemColumn } from '../../../report-kit/table.ts';
import { renderVerdict } from '../../../report-kit/verdict.ts';
import { sortByUrgency } from '../../runs/scenario-results.ts';

/** What a table of scenarios links to. */
export interface ScenarioTableOptions {
  /** Whether sessions that are not decided yet still run. */
  isRunning?: boolean;
  linkToSessions: (scenarioId: string) => string;
  /** Returns the link to the page of a scenario; undefined if it is not stored. */
  linkToPage: (scenarioId: string) => string | undefined;
}

/** The most scenarios to show: those that did not pass first. */
const SCENARIOS_MAX = 200;

/** So many scenarios that passed are folded, so that the others stand out. */
const FOLDED_MIN = 4;

/** Renders the results of scenarios, those that did not pass first. */
export function renderScenarios(
  scenarios: readonly ScenarioResult[],
  options: ScenarioTableOptions,
): Html {
  const omitted = scenarios.length - SCENARIOS_MAX;
  const shown = sortByUrgency(scenarios).slice(0, SCENARIOS_MAX);
  const isFolded = ({ verdict, flaky }: ScenarioResult): boolean => verdict === 'passed' && !flaky;
  const [passed, others] = [shown.filter(isFolded), shown.filter((each) => !isFolded(each))];
  const renderTable = (label: string, items: readonly ScenarioResult[]): Html =>
    renderItems({ label, items, columns: listColumns(options) });
  return html`${
    others.length === 0 || passed.length < FOLDED_MIN
      ? renderTable('Scenarios', shown)
      : html`${renderTable('Scenarios that did not pass', others)}
          <details>
            <summary>${formatCount(passed.length, 'scenario')} passed</summary>
            ${renderTable('Scenarios that passed', passed)}
          </details>`
  }
  ${
    omitted > 0 &&
    html`<p class="soft">and ${formatNumber(omitted)} more scenarios, all of them not worse.</p>`
  }`;
}

const listColumns = ({
  isRunning = false,
  linkToSessions,
  linkToPage,
}: ScenarioTableOptions): readonly ItemColumn<ScenarioResult>[] => [
  {
    name: 'scenario',
    content: ({ scenario_id: id, scenario, persona }) => {
      const page = linkToPage(id);
      const name = page === undefined ? scenario : html`<a href="${page}">${scenario}</a>`;
      const hasName = page !== undefined || scenario !== id;
      return html`<a href="${linkToSessions(id)}">${id}</a>
        <div class="soft">${hasName && name}${hasName && persona !== '' && ', '}${persona}</div>`;
    },
  },
  {
    name: 'verdict',
    content: ({ verdict, flaky }) =>
      html`${renderVerdict(verdict, isRunning && verdict === 'undecided' ? 'running' : verdict)}${flaky && html`<span class="undecided">flaky</span>`}`,
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
  ...RELIABILITY_COLUMNS,
];
