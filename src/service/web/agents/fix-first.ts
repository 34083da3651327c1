import type {
  ReadinessPartReport,
  ReadinessReport,
  ReadinessScenario,
} from '../../../contract/index.ts';
import { formatCount } from '../../../report-kit/format.ts';
import { html, type Html } from '../../../report-kit/html.ts';
import type { PageContext } from '../frame/page-frame.ts';
import { linkToScenario, linkToScenarioSessions } from '../runs/run-links.ts';
import { withRequirementLinks } from '../requirements/requirement-links.ts';
import { renderAdvice } from './advice.ts';

/** The most reasons of a part. */
const REASONS_MAX = 10;

/**
 * Renders why an agent is not ready, what to fix first at the top; nothing if no part needs a fix.
 * @param linkToReport Returns the link to the report of a part, if it has one.
 */
export function renderFixFirst(
  { parts, readiness }: ReadinessReport,
  linkToReport: (id: ReadinessPartReport['id']) => string | undefined,
  context: PageContext,
): Html | undefined {
  const [connection] = parts;
  // Without a connection, the other parts describe an earlier state.
  const isDown = connection?.standing === 'fail';
  const byUrgency = sortFailuresFirst(parts, ({ standing }) => standing === 'fail');
  const shownParts = isDown ? [connection] : byUrgency;
  const reasons = shownParts
    .filter(({ standing }) => standing !== 'pass')
    .map((part) => listReasons(part, linkToReport(part.id), context));
  const shown = reasons.flatMap((ofPart) => {
    const omitted = ofPart.length - REASONS_MAX;
    const rest = omitted > 0 ? [html`and ${formatCount(omitted, 'more')}`] : [];
    return [...ofPart.slice(0, REASONS_MAX), ...rest];
  });
  if (shown.length === 0) return undefined;
  return html`<h2 id="fix-first">${readiness === 'not_ready' ? 'Fix first' : 'What is missing'}</h2>
    <ol class="fix-first">
      ${shown.map((reason) => html`<li>${reason}</li>`)}
    </ol>
    ${
      isDown &&
      html`<p class="soft">
        The other parts are judged when the sandbox can be reached. Their results are of an earlier
        state.
      </p>`
    }`;
}

/** Lists why a part did not pass: each cause, or else its result. */
function listReasons(
  part: ReadinessPartReport,
  link: string | undefined,
  context: PageContext,
): Html[] {
  const { name, verdict, detail, next_step: nextStep = '' } = part;
  const causes = part.outdated === undefined ? listCauses(part, link, context) : [];
  if (causes.length > 0) return causes;
  const label = link === undefined ? html`${name}:` : html`<a href="${link}">${name}</a>:`;
  return [
    html`${label} <b>${verdict.toLowerCase()}</b>.
      ${withRequirementLinks(toSentence(detail), context)} ${renderAdvice(nextStep)}`,
  ];
}

const toSentence = (text: string): string => (/[.!?]$/.test(text) ? text : `${text}.`);

function listCauses(
  part: ReadinessPartReport,
  link: string | undefined,
  context: PageContext,
): Html[] {
  const { name, standing } = part;
  const label = link === undefined ? html`${name}:` : html`<a href="${link}">${name}</a>:`;
  const missed = sortFailuresFirst(
    (part.targets ?? []).filter(({ verdict }) => MISSED.has(verdict)),
    ({ verdict }) => verdict === 'FAIL',
  );
  const unpassed = (part.scenarios ?? []).filter(({ verdict }) => verdict !== 'passed');
  if (standing === 'fail' && unpassed.length > 0 && unpassed.every(isUndecided)) {
    // All sessions stopped for a reason that is worth more than a list of them.
    return [html`${label} ${part.detail}`];
  }
  return [
    ...(part.fix_first ?? []).map(
      (cause) => html`${label} ${withRequirementLinks(cause, context)}`,
    ),
    ...missed.map(
      ({ statement, verdict, reason = '' }) =>
        html`${label} <b>${verdict.toLowerCase()}</b>: ${statement} ${reason}`,
    ),
    ...unpassed.map(
      ({ scenario_id: scenarioId, run_id: runId, verdict, passed, samples, reason = '' }) =>
        html`${label} <a href="${linkToScenario(scenarioId, context)}">${scenarioId}</a>
          <b>${verdict}</b>:
          <a href="${linkToScenarioSessions(runId, scenarioId, context)}"
            >${passed} of ${formatCount(samples, 'session')} passed</a
          >. ${reason}`,
    ),
  ];
}

const sortFailuresFirst = <Item>(
  items: readonly Item[],
  isFailure: (item: Item) => boolean,
): Item[] => items.toSorted((a, b) => Number(isFailure(b)) - Number(isFailure(a)));

const isUndecided = ({ verdict }: ReadinessScenario): boolean => verdict === 'undecided';

/** The verdicts of targets that keep an agent from being ready. */
const MISSED: ReadonlySet<string> = new Set(['FAIL', 'NOT PROVEN']);

/** CSS rules of the list. */
export const FIX_FIRST_CSS = `
.fix-first { list-style: decimal; max-width: 50rem; padding-left: 1.75rem; }
.fix-first li { margin: 0.35rem 0; overflow-wrap: anywhere; }
`;
