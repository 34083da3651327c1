import type {
  ReadinessPartReport,
  ReadinessReport,
  ReadinessScenario,
} from '../../../contract/index.ts';
import { toSentence } from '../../../platform/sandbox-kit-error.ts';
import { formatCount } from '../../../report-kit/format.ts';
import { html, type Html } from '../../../report-kit/html.ts';
import { renderVerdict } from '../../../report-kit/verdict.ts';
import { renderAdvice } from './advice.ts';

/** The most reasons of a part. */
const REASONS_MAX = 10;

/** What the reasons link to. A link is undefined if there is no page. */
export interface ReasonLinks {
  linkToReport: (id: ReadinessPartReport['id']) => string | undefined;
  linkToScenario: (id: string) => string | undefined;
  linkToSessions: (runId: string, scenarioId: string) => string | undefined;
  /** Renders a text whose ids of requirements may lead to their pages. */
  linkRequirements: (text: string) => Html;
}

/** Renders why an agent is not ready, what to fix first at the top; nothing if no part needs a fix. */
export function renderFixFirst(report: ReadinessReport, links: ReasonLinks): Html | undefined {
  const reasons = renderReasons(report, links);
  return (
    reasons &&
    html`<h2 id="fix-first">${nameReasons(report)}</h2>
      ${reasons}`
  );
}

/** The heading of the reasons. */
export const nameReasons = ({ readiness }: Pick<ReadinessReport, 'readiness'>): string =>
  readiness === 'not_ready' ? 'Fix first' : 'What is missing';

/** Renders the reasons without their heading. */
export function renderReasons(
  { parts }: Pick<ReadinessReport, 'parts'>,
  links: ReasonLinks,
): Html | undefined {
  const [connection] = parts;
  // Without a connection, the other parts describe an earlier state.
  const isDown = connection?.standing === 'fail';
  const byUrgency = sortFailuresFirst(parts, ({ standing }) => standing === 'fail');
  const reasons = (isDown ? [connection] : byUrgency)
    .filter(({ standing }) => standing !== 'pass')
    .map((part) => dropRepeated(listReasons(part, links)));
  const shown = reasons.flatMap((ofPart) => {
    const omitted = ofPart.length - REASONS_MAX;
    const rest = omitted > 0 ? [html`and ${formatCount(omitted, 'more')}`] : [];
    return [...ofPart.slice(0, REASONS_MAX), ...rest];
  });
  if (shown.length === 0) return undefined;
  return html`<ol class="fix-first">
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

const dropRepeated = (reasons: readonly Html[]): Html[] => [
  ...new Map(reasons.map((reason) => [reason.text, reason])).values(),
];

/** Lists why a part did not pass: each cause, or else its result. */
function listReasons(part: ReadinessPartReport, links: ReasonLinks): Html[] {
  const { id, name, standing, verdict, detail, next_step: nextStep = '' } = part;
  const label = html`${renderLink(links.linkToReport(id), name)}:`;
  const causes = part.outdated === undefined ? listCauses(part, label, links) : [];
  if (causes.length > 0) return causes;
  return [
    html`${label} ${renderVerdict(standing, verdict.toLowerCase())}
    ${links.linkRequirements(toSentence(detail))} ${renderAdvice(nextStep)}`,
  ];
}

function listCauses(part: ReadinessPartReport, label: Html, links: ReasonLinks): Html[] {
  const { standing } = part;
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
    ...(part.fix_first ?? []).map((cause) => html`${label} ${links.linkRequirements(cause)}`),
    ...missed.map(
      ({ statement, verdict, reason = '' }) =>
        html`${label} ${renderVerdict(verdict === 'FAIL' ? 'fail' : 'warn', verdict.toLowerCase())}
        ${statement} ${reason}`,
    ),
    ...unpassed.map(
      ({ scenario_id: scenarioId, run_id: runId, verdict, passed, samples, reason = '' }) =>
        html`${label} ${renderLink(links.linkToScenario(scenarioId), scenarioId)}
        ${renderVerdict(verdict)}
        ${renderLink(
          links.linkToSessions(runId, scenarioId),
          `${passed} of ${formatCount(samples, 'session')} passed`,
        )}.
        ${reason}`,
    ),
  ];
}

const renderLink = (link: string | undefined, text: string): Html | string =>
  link === undefined ? text : html`<a href="${link}">${text}</a>`;

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
