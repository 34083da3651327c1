/** A session on the page of a report: why it has its verdict, its call, and its transcript. */
import type { SimulatedSessionReport } from '../../../contract/index.ts';
import { msBetween } from '../../../platform/clock.ts';
import { renderFactList } from '../../../report-kit/fact-list.ts';
import { filterClassesOf, type Facet } from '../../../report-kit/filters.ts';
import { cutText, formatCount, formatDuration } from '../../../report-kit/format.ts';
import { html, type Html } from '../../../report-kit/html.ts';
import { SEARCHABLE } from '../../../report-kit/run-report.ts';
import { renderTranscript, type ShownTurn } from '../../../report-kit/transcript.ts';
import { renderVerdict } from '../../../report-kit/verdict.ts';
import { listHeard } from '../../runs/heard-facts.ts';
import { describeEnd, listOtherReasons, nameOf } from '../../runs/reasons.ts';
import { VERDICTS_BY_URGENCY } from '../../runs/scenario-results.ts';
import { listTurnTaking } from '../../runs/turn-taking-facts.ts';
import type { CallSummary } from '../../store/store.ts';
import { renderCall, type SessionAudio } from './call.ts';

/** The most characters of one text of a session. */
const TEXT_LENGTH_MAX = 4_000;

/** By what readers can filter the sessions. */
export const facets: readonly Facet<SimulatedSessionReport>[] = [
  {
    name: 'verdict',
    valueOf: ({ verdict }) => verdict,
    order: VERDICTS_BY_URGENCY,
    isColored: true,
  },
  { name: 'channel', valueOf: ({ channel }) => channel },
];

/** Renders a session. The page opens one of each kind of failure. */
export function renderSession(
  session: SimulatedSessionReport,
  {
    audio,
    summary,
    isOpen,
  }: { audio: SessionAudio | undefined; summary: CallSummary | undefined; isOpen: boolean },
): Html {
  const { verdict, channel, traces, user_id: userId, trace_ids: traceIds = [] } = session;
  const durationMs = msBetween(session.started_at, session.ended_at);
  const facts = [
    `${session.scenario}, ${session.persona}`,
    `${formatCount(traces.length, 'turn')} by ${channel} in ${formatDuration(durationMs)}`,
    describeEnd(session),
  ];
  const lastTrace = traceIds.at(-1);
  return html`<article
    id="${anchorOf(session)}"
    class="session ${SEARCHABLE} ${filterClassesOf(session, facets)}"
  >
    <details ${isOpen ? 'open' : ''}>
      <summary>
        ${renderVerdict(verdict)}
        <b>${nameOf(session)}</b>
        <span class="soft">${facts.join('; ')}</span>
      </summary>
      ${renderEvals(session)} ${renderCall(session, audio, summary)}
      ${session.turn_taking && renderFactList(listTurnTaking(session.turn_taking))}
      ${session.heard && renderFactList(listHeard(session.heard))} ${renderOther(session)}
      ${renderTranscript(traces.map(toTurn(session)))}
      <p class="soft">
        Session
        ${session.id}${userId === null ? '' : `, user ${userId}`}${
          lastTrace === undefined ? '' : `, trace id of the last request ${lastTrace}`
        }
      </p>
    </details>
  </article>`;
}

/** Renders the session of the other user. */
function renderOther({ other_session: other }: SimulatedSessionReport): Html | undefined {
  if (!other) return undefined;
  const turns = other.traces.map(({ session_sequence: sequence, ...turn }) => ({
    sequence,
    userInput: turn.user_input,
    agentResponse: turn.agent_response,
  }));
  return html`<p class="soft">First, another user says in a separate session (${other.id}):</p>
    ${renderTranscript(turns)}
    <p class="soft">Then, in this session:</p>`;
}

/** Renders the outcomes of the evals, and the other reasons for the verdict. */
function renderEvals(session: SimulatedSessionReport): Html {
  const outcomes = session.eval_outcomes.map(
    ({ eval_name: name, outcome, reasoning, reason }) =>
      html`<li>
        <span class="${outcome}">${outcome}</span> ${name}: ${cut(reasoning)}
        ${outcome === 'fail' && reason !== undefined && `Why it matters: ${reason}`}
      </li>`,
  );
  const others = listOtherReasons(session).map((reason) => html`<li>${cut(reason)}</li>`);
  return html`<ul class="outcomes">
    ${outcomes} ${others}
  </ul>`;
}

const toTurn =
  ({ turn_latency_ms: latencies }: SimulatedSessionReport) =>
  (turn: SimulatedSessionReport['traces'][number], index: number): ShownTurn => ({
    sequence: turn.session_sequence,
    scenarioLine: turn.scenario_line,
    userInput: cut(turn.user_input),
    userReason: turn.user_reason,
    agentResponse: cut(turn.agent_response),
    ...(latencies[index] !== undefined && { latencyMs: latencies[index] }),
    toolCalls: turn.tool_calls ?? [],
  });

/** Returns the id of the element of a session, which the page links to. */
export const anchorOf = ({ scenario_id: id, sample }: SimulatedSessionReport): string =>
  `${id.replaceAll(/[^A-Za-z0-9_-]/g, '-')}-${sample}`;

/** Shortens a text of a session. The JSON report has all of it. */
export const cut = (text: string): string => cutText(text, TEXT_LENGTH_MAX);
