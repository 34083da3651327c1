import { renderFactList, type Fact } from '../../../report-kit/fact-list.ts';
import { cutText } from '../../../report-kit/format.ts';
import { html, type Html } from '../../../report-kit/html.ts';
import { renderVerdict } from '../../../report-kit/verdict.ts';
import { renderTime } from '../../../report-kit/time.ts';
import { decideVerdict } from '../../sessions/verdict.ts';
import type { Transcript } from '../../sessions/transcripts.ts';
import { nameEnd, STATUS_WORDS } from '../../runs/reasons.ts';
import type {
  Conversation,
  Neighbors,
  Recording,
  Review,
  Session,
  StoredSpan,
} from '../../store/store.ts';
import { linkTo, renderServicePage, type PageContext } from '../frame/page-frame.ts';
import { pathOfRun } from '../runs/run-links.ts';
import { CALL_CSS, renderCall } from './call-player.ts';
import { explainOutcomes, listMarks, type ExplainedOutcome } from './evidence.ts';
import { OUTCOME_CSS, renderOutcomes } from './outcome-list.ts';
import { renderRemovedSpans } from './removed-spans.ts';
import { renderReview } from './review-form.ts';
import { renderNextStep, type ScenarioSource } from './scenario-form.ts';
import { linkToSession, nameSession } from './session-links.ts';
import { renderSpans } from './span-list.ts';
import { listMetadata, renderTagLink, renderTags, type ShownTag } from './tags.ts';
import { linkToTurn, renderTurns, type TurnPage } from './turn-pages.ts';

/** The content of a session page. */
export interface SessionPage extends TurnPage {
  session: Session;
  transcript: Transcript;
  tags: readonly ShownTag[];
  /** The first spans of a production session, and the number of all. */
  spans: readonly StoredSpan[];
  spanCount: number;
  spansRemoved: Conversation['spansRemoved'];
  recording: Recording | undefined;
  reviews: readonly Review[];
  /** Whether evals are chosen in the settings. */
  hasLiveEvals: boolean;
  /** The ids of the evals that still exist. */
  evalIds: ReadonlySet<string>;
  /** Who responded, with the id of the agent if it is stored, and by which channel. */
  target: Record<'agent' | 'agentId' | 'channel', string | undefined>;
  /** The scenario that can be made, or that a simulation used. */
  scenario: ScenarioSource | undefined;
  /** The list that the page was opened from, and the neighbors in it. */
  list: { query: URLSearchParams; neighbors: Neighbors } | undefined;
}

/** Renders the page of a session: its properties, outcomes, and transcript. */
export function renderSessionPage(content: SessionPage, context: PageContext): string {
  const { session, transcript, tags, spans, spansRemoved, recording, scenario, list } = content;
  const turns = transcript.scored;
  const title = nameSession(session);
  const outcomes = explainOutcomes(session.outcomes, turns);
  const verdict = decideVerdict(session);
  const self = linkToSession(session, context, list?.query) ?? '';
  const shownTurns = spansRemoved ? [] : transcript.shown;
  const linkTurn = (sequence: number): string | undefined =>
    linkToTurn(self, content, shownTurns, sequence);
  const linkToEval = (name: string, outcome: 'failed' | 'errored'): string =>
    linkTo(context, '/sessions', { kind: session.kind, eval: name, outcome });
  const review = ({ evalId }: ExplainedOutcome): Html =>
    renderReview({ session, evalId, list: list?.query }, content.reviews, context);
  const linkToEditor = (id: string): string | undefined =>
    content.evalIds.has(id) ? linkTo(context, '/evals/edit', { id }) : undefined;
  const shownTags = [...tags, ...listMetadata(session)];
  // The evals of a simulation are those of its scenario.
  const whyUnscored =
    session.kind === 'production' && !content.hasLiveEvals
      ? html`No evals are chosen in the <a href="${linkTo(context, '/settings')}">settings</a>.`
      : undefined;
  return renderServicePage(
    {
      title,
      section: 'Sessions',
      css: `${CALL_CSS}${OUTCOME_CSS}${CSS}`,
      main: html`${renderPath(session, list, context)}
        <h1>${title}</h1>
        <div class="about-session">
          <div>
            ${renderFactList([['Verdict', renderVerdict(verdict)]])} ${renderNotes(session)}
            ${renderOutcomes(outcomes, { turns, linkToTurn: linkTurn, renderReview: review, linkToEval, linkToEditor, whyUnscored })}
          </div>
          <div class="facts">${renderFactList(listProperties(content, context))}</div>
        </div>
        ${recording !== undefined && renderCall(session, recording, turns)}
        <h2 id="transcript">Transcript</h2>
        ${renderRemovedSpans(spansRemoved) ?? renderTurns(self, content, shownTurns, listMarks(outcomes, transcript))}
        ${renderTags(shownTags, (tag) => renderTagLink(tag, session.kind, context))}
        ${renderSpans(spans, content.spanCount)} ${renderNextStep(scenario, context)}`,
    },
    context,
  );
}

/**
 * Renders links to the simulation of the session, to the list that the page was opened from, and to
 * the sessions before and after.
 */
function renderPath(
  { kind, simulation }: Session,
  list: SessionPage['list'],
  context: PageContext,
): Html | undefined {
  const parent =
    simulation && !simulation.deleted
      ? html`<a href="${linkTo(context, pathOfRun(kind, simulation.id))}"
          >Back to the simulation</a
        >`
      : undefined;
  if (!list && !parent) return undefined;
  return html`<nav class="path" aria-label="List">
    ${parent} ${list && renderListLinks(list, context)}
  </nav>`;
}

function renderListLinks(
  { query, neighbors }: NonNullable<SessionPage['list']>,
  context: PageContext,
): Html {
  const linkNeighbor = (
    session: Session | undefined,
    name: string,
    rel: string,
  ): Html | undefined => {
    const link = session && linkToSession(session, context, query);
    return link === undefined ? undefined : html`<a rel="${rel}" href="${link}">${name}</a>`;
  };
  return html`<a href="${linkTo(context, '/sessions', Object.fromEntries(query))}"
      >Back to the list</a
    >
    ${linkNeighbor(neighbors.newer, 'Previous (newer)', 'prev')}
    ${linkNeighbor(neighbors.older, 'Next (older)', 'next')}`;
}

/** Renders the error and the notes of a simulated session. */
function renderNotes({ simulated = {} }: Session): Html | undefined {
  const { error, notes = [] } = simulated;
  if (error === undefined && notes.length === 0) return undefined;
  return html`<h2>Notes</h2>
    ${error !== undefined && html`<p class="fail">${error}</p>`}
    ${notes.map((note) => html`<p class="soft">${note}</p>`)}`;
}

const PROPERTY_CHARS_MAX = 1_100;

function listProperties({ session, scenario, target }: SessionPage, context: PageContext): Fact[] {
  const { kind, run, simulation } = session;
  const linkToRun = ({ id, name }: { id: string; name: string }): Html =>
    html`<a href="${linkTo(context, pathOfRun(kind, id))}"
      >${cutText(name, PROPERTY_CHARS_MAX)}</a
    >`;
  const linkToDocument = (section: string, id: string | undefined, name: string): Html | string =>
    id === undefined
      ? name
      : html`<a href="${linkTo(context, `/${section}/${encodeURIComponent(id)}`)}"
          >${cutText(name, PROPERTY_CHARS_MAX)}</a
        >`;
  const facts: Fact[] = [
    ['Run', run && linkToRun(run)],
    ['Simulation', simulation?.deleted ? simulation.name : simulation && linkToRun(simulation)],
    ['Agent', target.agent && linkToDocument('agents', target.agentId, target.agent)],
    [
      'Scenario',
      session.scenario === undefined
        ? undefined
        : linkToDocument('scenarios', scenario?.storedId, session.scenario),
    ],
    ['Persona', session.persona],
    ['Channel', target.channel],
    ['Status', STATUS_WORDS[session.status]],
    ['Ended because', describeEndReason(session)],
    ['Started', renderTime(session.startedAtMs)],
    ['Ended', renderTime(session.endedAtMs)],
    ['Session id', session.id],
  ];
  return facts.map(([name, value]) => [
    name,
    typeof value === 'string' ? cutText(value, PROPERTY_CHARS_MAX) : value,
  ]);
}

/** Returns why a session ended. The status already says that it was canceled. */
const describeEndReason = ({ endReason = 'canceled' }: Session): string | undefined =>
  endReason === 'canceled' ? undefined : nameEnd(endReason);

/** On wide screens, the facts are to the right of the outcomes; on narrow ones, below them. */
const CSS = `
.about-session { display: grid; gap: 1rem 2.5rem; grid-template-columns: minmax(0, 1fr) minmax(0, 26rem); }
.about-session .facts { background: var(--box); border: 1px solid var(--line); border-radius: 0.5rem;
  height: fit-content; padding: 0.75rem 1rem; }
@media screen and (max-width: 60rem) { .about-session { grid-template-columns: minmax(0, 1fr); } }
`;
