import type { ReadinessPartReport, ReadinessReport } from '../../../contract/index.ts';
import { CHART_CSS } from '../../../report-kit/chart.ts';
import { FACT_LIST_CSS } from '../../../report-kit/fact-list.ts';
import { capitalize, formatAge } from '../../../report-kit/format.ts';
import { html, withCode, type Html } from '../../../report-kit/html.ts';
import { toVisible } from '../../../report-kit/printable.ts';
import { renderRunReport } from '../../../report-kit/run-report.ts';
import { renderTime } from '../../../report-kit/time.ts';
import { renderVerdict, type Standing } from '../../../report-kit/verdict.ts';
import { renderAdvice } from './advice.ts';
import { describeEvidenceTimes } from './evidence-times.ts';
import { FIX_FIRST_CSS, nameReasons, renderReasons, type ReasonLinks } from './fix-first.ts';
import { listJudge, renderDetails } from './readiness-details.ts';

/** The words and the color of each readiness. */
const LOOKS: Readonly<Record<ReadinessReport['readiness'], { word: string; standing: Standing }>> =
  {
    ready: { word: 'Ready', standing: 'pass' },
    not_ready: { word: 'Not ready', standing: 'fail' },
    not_judged: { word: 'Not judged yet', standing: 'warn' },
  };

/** Names the readiness; that of a ready agent says what it covers. */
const nameReadiness = ({ readiness, sentence }: ReadinessReport): string =>
  readiness === 'ready' ? sentence.replace(/\.$/, '') : LOOKS[readiness].word;

/**
 * Renders the readiness of an agent as one HTML page that needs no server.
 * @param agentPage The link to the page of the agent; undefined in an export.
 */
export function renderReadinessPage(
  original: ReadinessReport,
  { nowMs, agentPage }: { nowMs: number; agentPage: string | undefined },
): string {
  const { agent, readiness, sentence, parts } = toVisible(original);
  const { standing } = LOOKS[readiness];
  const word = nameReadiness(original);
  // The headline has the word already.
  const cause = sentence.startsWith(word)
    ? sentence.slice(word.length).replace(/^[:.] ?/, '')
    : sentence;
  const reasons = renderReasons({ parts }, NO_LINKS);
  const times = parts.flatMap(({ ended_at: endedAt }) => (endedAt ? Date.parse(endedAt) : []));
  const count = (of: Standing): number => parts.filter((part) => part.standing === of).length;
  return renderRunReport({
    command: 'Readiness of an agent, by sandbox-kit',
    headline: `${word}: ${agent.name}`,
    standing,
    subject: agent.url,
    sentence: capitalize(cause),
    // A count of 0 has no color.
    tally: (['pass', 'fail', 'warn'] as const).map((of) => [
      count(of) === 0 ? '' : of,
      `${count(of)} ${COUNT_NAMES[of]}`,
    ]),
    facts: describeEvidenceTimes(times) || 'Nothing has been judged yet.',
    remarks: [
      agentPage === undefined
        ? undefined
        : html`<p><a href="${agentPage}">Run tests, or change the agent</a></p>`,
    ],
    sections: [
      reasons && { id: 'fix-first', title: nameReasons({ readiness }), body: reasons },
      ...parts.map((part) => ({ id: part.id, title: part.name, body: renderPart(part, nowMs) })),
    ],
    css: CSS,
    json: original,
  });
}

const COUNT_NAMES: Readonly<Record<Standing, string>> = {
  pass: 'passed',
  fail: 'failed',
  warn: 'open',
};

/** All links of an export stay on its page. */
const NO_LINKS: ReasonLinks = {
  linkToReport: (id) => `#${id}`,
  linkToScenario: () => undefined,
  linkToSessions: () => undefined,
  linkRequirements: withCode,
};

function renderPart(part: ReadinessPartReport, nowMs: number): Html {
  const { standing, verdict, detail, newest_attempt: attempt, next_step: nextStep } = part;
  return html`<p>${renderVerdict(standing, verdict)}</p>
    <p>${detail}</p>
    ${
      attempt &&
      html`<p>
        A newer run, which ended ${renderTime(Date.parse(attempt.ended_at))}, does not replace it:
        ${attempt.verdict}. ${attempt.detail}
      </p>`
    }
    ${part.ended_at !== undefined && renderEvidence(part, Date.parse(part.ended_at), nowMs)}
    ${renderDetails(part)}
    ${nextStep !== undefined && html`<p class="next">${renderAdvice(nextStep)}</p>`}`;
}

/** An export is read later, so it says when, too. */
function renderEvidence(part: ReadinessPartReport, endedMs: number, nowMs: number): Html {
  const facts = [formatAge(nowMs - endedMs), ...listJudge(part)];
  return html`<p class="soft">Ended ${renderTime(endedMs)}, ${facts.join(', ')}.</p>`;
}

const CSS = `${FIX_FIRST_CSS}${CHART_CSS}${FACT_LIST_CSS}
.next { border-left: 4px solid var(--warn); padding: 0.2rem 0.75rem; }
h3 { font-size: 1rem; margin: 1rem 0 0.25rem; }
`;

/** The width of a character of the badge, in pixels: an average of a sans-serif font of 11 px. */
const CHARACTER_PX = 6.6;
const PADDING_PX = 8;
const HEIGHT_PX = 20;

/** Shapes, so that the badge can be told apart without its color. */
const MARKS: Readonly<Record<Standing, { mark: string; color: string }>> = {
  pass: { mark: '✓', color: '#116329' },
  fail: { mark: '✗', color: '#a40e26' },
  warn: { mark: '–', color: '#57606a' },
};

/** Renders the readiness of an agent as an SVG badge, for READMEs and dashboards. */
export function renderBadge(report: ReadinessReport): string {
  const { standing } = LOOKS[report.readiness];
  const word = nameReadiness(report);
  const { mark, color } = MARKS[standing];
  const [label, value] = ['sandbox', `${mark} ${word.toLowerCase()}`];
  const widthOf = (text: string): number => Math.round(text.length * CHARACTER_PX) + 2 * PADDING_PX;
  const [left, right] = [widthOf(label), widthOf(value)];
  const text = (x: number, content: string): Html => html`<text x="${x}" y="14">${content}</text>`;
  return html`<svg
    xmlns="http://www.w3.org/2000/svg"
    width="${left + right}"
    height="${HEIGHT_PX}"
    role="img"
    aria-label="${label}: ${word.toLowerCase()}"
  >
    <title>${label}: ${word.toLowerCase()}</title>
    <rect width="${left + right}" height="${HEIGHT_PX}" rx="3" fill="${color}" />
    <path d="M3 0h${left - 3}v${HEIGHT_PX}H3a3 3 0 0 1-3-3V3a3 3 0 0 1 3-3z" fill="#24292f" />
    <g fill="#ffffff" font-family="Verdana, DejaVu Sans, sans-serif" font-size="11">
      ${text(PADDING_PX, label)} ${text(left + PADDING_PX, value)}
    </g>
  </svg>`.text;
}
