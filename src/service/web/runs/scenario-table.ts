import type { ScenarioResult } from '../../../contract/index.ts';
import { formatNumber, formatShare } from '../../../report-kit/format.ts';
import { html, type Html } from '../../../report-kit/html.ts';
import { numberColumn, renderCount, renderTable } from '../../../report-kit/table.ts';
import { sortByUrgency } from '../../domain/simulation-results/scenario-results.ts';

/** The most scenarios to show: those that did not pass first. */
const SCENARIOS_MAX = 200;

/** Renders the results of scenarios, those that did not pass first. */
export function renderScenarios(scenarios: readonly ScenarioResult[]): Html {
  const omitted = scenarios.length - SCENARIOS_MAX;
  return html`${renderTable({
    label: 'Scenarios',
    columns: [
      'scenario',
      'verdict',
      ...['passed', 'failed', 'undecided', 'required', 'pass^k'].map(numberColumn),
    ],
    rows: sortByUrgency(scenarios).slice(0, SCENARIOS_MAX).map(renderScenario),
  })}
  ${
    omitted > 0 &&
    html`<p class="soft">and ${formatNumber(omitted)} more scenarios, all of them not worse.</p>`
  }`;
}

function renderScenario(result: ScenarioResult): Html {
  const { scenario_id: id, scenario, persona, verdict, passed, failed, undecided } = result;
  const { samples, flaky, required_pass_rate: required, pass_hat_k: passHat } = result;
  const about = [...(scenario === id ? [] : [scenario]), ...(persona === '' ? [] : [persona])];
  return html`<tr>
    <td>${id} <span class="soft">${about.join(', ')}</span></td>
    <td>
      <span class="mark ${verdict}">${verdict}</span
      >${flaky && html`<span class="undecided">flaky</span>`}
    </td>
    <td class="number">${formatNumber(passed)} of ${formatNumber(samples)}</td>
    ${renderCount(failed, 'failed')} ${renderCount(undecided, 'undecided')}
    <td class="number">${formatShare(required, 0)}</td>
    <td class="number">${passHat.length === 0 ? '–' : (passHat.at(-1) ?? 0).toFixed(2)}</td>
  </tr>`;
}
