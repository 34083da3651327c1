import type { ScenarioResult } from '../../../contract/index.ts';
import { cutText, formatCount, formatNumber } from '../../../report-kit/format.ts';
import { html, type Html } from '../../../report-kit/html.ts';
import { renderVerdict } from '../../../report-kit/verdict.ts';
import {
  describeEnd,
  explainSession,
  groupUnpassed,
  isStopped,
  listSharedReasons,
  type ExplainedSession,
} from '../../runs/reasons.ts';
import type { Session } from '../../store/store.ts';
import type { PageContext } from '../frame/page-frame.ts';
import { linkToSession } from '../sessions/session-links.ts';

/** Sessions of a scenario that did not pass: the first ones, if there are many. */
export interface Unpassed {
  scenario: ScenarioResult;
  sessions: readonly Session[];
}

type Cause = ExplainedSession & { session: Session; scenarioId: string };

/** The most characters of a reason. */
const REASON_LENGTH_MAX = 500;
/** The most groups of sessions of a scenario. */
const GROUPS_MAX = 5;

/** Renders why sessions did not pass: errors that stopped several scenarios, then each scenario. */
export function renderCauses(
  unpassed: readonly Unpassed[],
  context: PageContext,
): Html | undefined {
  if (unpassed.length === 0) return undefined;
  const explained = unpassed.map(({ scenario, sessions }) => {
    const { scenario_id: scenarioId } = scenario;
    const causes = sessions.map((session) => ({ ...explainSession(session), session, scenarioId }));
    return { scenario, causes };
  });
  const stopped = explained.flatMap(({ causes }) => causes).filter(isStopped);
  const shared = groupUnpassed(stopped).filter((group) => groupByScenario(group).size > 1);
  const isShared = new Set(shared.flat());
  return html`<h2>Why sessions did not pass</h2>
    ${renderShared(shared, unpassed, context)}
    ${explained.flatMap(({ scenario, causes }) => {
      const own = causes.filter((cause) => !isShared.has(cause));
      return own.length === 0 ? [] : renderScenario(scenario, { own, causes }, context);
    })}`;
}

const groupByScenario = (group: readonly Cause[]): Map<string, Cause[]> =>
  Map.groupBy(group, ({ scenarioId }) => scenarioId);

const countUnpassed = ({ failed, undecided }: ScenarioResult): number => failed + undecided;

function renderShared(
  groups: readonly Cause[][],
  unpassed: readonly Unpassed[],
  context: PageContext,
): Html | undefined {
  if (groups.length === 0) return undefined;
  const isCut = unpassed.some(
    ({ scenario, sessions }) => sessions.length < countUnpassed(scenario),
  );
  return html`<section class="causes">
    <h3>Several scenarios</h3>
    ${isCut && html`<p class="soft">From the first sessions of each scenario:</p>`}
    ${renderGroups(groups, context)}
  </section>`;
}

function renderScenario(
  scenario: ScenarioResult,
  { own, causes }: { own: readonly Cause[]; causes: readonly Cause[] },
  context: PageContext,
): Html {
  const all = countUnpassed(scenario);
  return html`<section class="causes">
    <h3>
      ${scenario.scenario_id}
      <span class="soft"
        >${formatNumber(scenario.passed)} of ${formatNumber(scenario.samples)} passed</span
      >
    </h3>
    ${
      causes.length < all &&
      html`<p class="soft">
        From ${formatNumber(causes.length)} of ${formatCount(all, 'session')}:
      </p>`
    }
    ${renderGroups(groupUnpassed(own), context)}
  </section>`;
}

function renderGroups(groups: readonly Cause[][], context: PageContext): Html {
  const omitted = groups.length - GROUPS_MAX;
  return html`<ul>
      ${groups.slice(0, GROUPS_MAX).map((group) => renderGroup(group, context))}
    </ul>
    ${omitted > 0 && html`<p class="soft">and ${formatCount(omitted, 'more reason')}</p>`}`;
}

/** Renders sessions that have the same reason, by scenario if they are of several. */
function renderGroup(group: readonly Cause[], context: PageContext): Html {
  const [first] = group;
  if (!first) return html``;
  const scenarios = groupByScenario(group);
  return html`<li>
    ${renderVerdict(first.verdict)} ${formatCount(group.length, 'session')},
    <span class="soft">${describeEnd(first)}</span>
    ${scenarios.size === 1 && renderSamples(group, context)}
    <ul class="reasons">
      ${listSharedReasons(group).map(
        (reason) => html`<li>${cutText(reason, REASON_LENGTH_MAX)}</li>`,
      )}
    </ul>
    ${
      scenarios.size !== 1 &&
      html`<ul class="scenarios">
        ${Array.from(scenarios, ([id, causes]) => html`<li>${id} ${renderSamples(causes, context)}</li>`)}
      </ul>`
    }
  </li>`;
}

function renderSamples(group: readonly Cause[], context: PageContext): Html {
  const links = group.map(({ session }) => {
    const sample = session.simulated?.sample;
    const name = sample === undefined ? session.id : `#${sample}`;
    const link = linkToSession(session, context);
    return link === undefined ? html`${name}` : html`<a href="${link}">${name}</a>`;
  });
  return html`<span class="samples">${links}</span>`;
}

/** CSS rules of the causes. */
export const CAUSES_CSS = `
.causes li { margin: 0.3rem 0; }
.causes ul.reasons { list-style: disc; padding-left: 1.5rem; }
.causes ul.scenarios { list-style: none; padding-left: 0.5rem; }
.samples a { margin-left: 0.4rem; }
`;
