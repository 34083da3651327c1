import { quoteArgument } from '../../../platform/shell.ts';
import { isoTime } from '../../../platform/clock.ts';
import { formatInstant } from '../../../report-kit/format.ts';
import { html, type Html } from '../../../report-kit/html.ts';
import { type SessionTurn, decideVerdict } from '../../domain/sessions.ts';
import type { Outcome, Session, StoredSpan } from '../../store/store.ts';
import { renderServicePage, type PageContext } from '../frame/page-frame.ts';
import { renderSpans } from './span-list.ts';
import { renderTranscript } from '../../../report-kit/transcript.ts';

/** The content of a session page. */
export interface SessionPage {
  session: Session;
  turns: readonly SessionTurn[];
  tags: readonly { key: string; value: string }[];
  /** The spans of a production session. */
  spans: readonly StoredSpan[];
}

/** Renders the page of a session: its properties, outcomes, and transcript. */
export function renderSessionPage(
  { session, turns, tags, spans }: SessionPage,
  context: PageContext,
): string {
  const title = session.sourceSessionId ?? session.scenario ?? session.id;
  return renderServicePage(
    {
      title,
      section: 'Sessions',
      main: html`<h1>${title}</h1>
        <dl>
          ${listProperties(session).map(
            ([name, value]) =>
              html`<dt>${name}</dt>
                <dd>${value}</dd>`,
          )}
        </dl>
        <h2>Outcomes</h2>
        ${describeErrored(session)}
        <ul>
          ${session.outcomes.map(renderOutcome)}
        </ul>
        ${listNotes(session).map((note) => html`<p class="soft">${note}</p>`)}
        ${session.outcomes.length === 0 ? html`<p class="soft">No eval has scored this session.</p>` : ''}
        <h2>Transcript</h2>
        ${renderTranscript(turns)}
        ${
          tags.length > 0
            ? html`<h2>Tags</h2>
                <p>${tags.map(renderTag)}</p>`
            : ''
        }
        ${renderSpans(spans)} ${renderNextStep({ session, turns }, context)}`,
    },
    context,
  );
}

/** Shows how to make a scenario of a production session. */
function renderNextStep(
  { session: { kind, sourceSessionId }, turns }: Pick<SessionPage, 'session' | 'turns'>,
  { owner, serviceUrl }: PageContext,
): Html | undefined {
  if (kind !== 'production' || sourceSessionId === undefined) return undefined;
  if (turns.every(({ userInput }) => userInput === '')) return undefined;
  const command = [
    ...['npx', 'sandbox-kit', 'scenario', 'from-conversation', quoteArgument(sourceSessionId)],
    ...['--service', quoteArgument(serviceUrl)],
    ...(owner === undefined ? [] : ['--owner', quoteArgument(owner)]),
    ...['--out', 'conversation.scenario.yaml'],
  ].join(' ');
  return html`<h2>Make a scenario of this</h2>
    <p>This command writes a scenario in which a simulated user says the same lines:</p>
    <pre>${command}</pre>`;
}

function describeErrored({ outcomes }: Session): Html | '' {
  const errored = outcomes.filter(({ outcome }) => outcome === 'error').length;
  if (errored === 0) return '';
  const count = errored === 1 ? '1 eval' : `${errored} evals`;
  const hidden =
    errored === outcomes.length
      ? ' Results omit this session, because no other eval scored it.'
      : '';
  return html`<p class="soft">
    ${count} errored. Errored evals count neither as passed nor as failed, and results omit
    them.${hidden}
  </p>`;
}

/** Returns the error and the notes of a simulated session. */
function listNotes({ simulated = {} }: Session): string[] {
  const { error, notes = [] } = simulated as { error?: string; notes?: string[] };
  return error === undefined ? notes : [error, ...notes];
}

function listProperties(session: Session): [string, string][] {
  const facts: [string, string | undefined][] = [
    ['Run', session.run?.name],
    ['Simulation', session.simulation?.name],
    ['Agent', session.agent?.name],
    ['Scenario', session.scenario],
    ['Persona', session.persona],
    ['Channel', session.simulated?.['channel'] as string | undefined],
    ['Status', session.status],
    ['Verdict', decideVerdict(session)],
    ['End reason', session.endReason],
    ['Started', formatInstant(isoTime(session.startedAtMs))],
    ['Ended', formatInstant(isoTime(session.endedAtMs))],
  ];
  return facts.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]));
}

function renderOutcome({ evalName, category, outcome, required, reasoning }: Outcome): Html {
  const about = required ? category : `${category} · not required`;
  return html`<li class="outcome">
    <span class="mark ${outcome}">${outcome}</span> ${evalName} <span class="soft">${about}</span
    ><br />${reasoning}
  </li>`;
}

function renderTag({ key, value }: { key: string; value: string }): Html {
  return html`<code class="tag">${key} = ${value}</code>`;
}
