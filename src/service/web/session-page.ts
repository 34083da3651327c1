import { isoTime } from '../../platform/clock.ts';
import { html, type Html } from '../../report-kit/html.ts';
import { type SessionTurn, decideVerdict } from '../domain/sessions.ts';
import type { Outcome, Session } from '../store/store.ts';
import { renderServicePage, type PageContext } from './page-frame.ts';
import { renderTranscript } from '../../report-kit/transcript.ts';

/** The content of a session page. */
export interface SessionPage {
  session: Session;
  turns: readonly SessionTurn[];
  tags: readonly { key: string; value: string }[];
}

/** Renders the page of a session: its properties, outcomes, and transcript. */
export function renderSessionPage(
  { session, turns, tags }: SessionPage,
  context: PageContext,
): string {
  const title = session.sourceSessionId ?? session.scenario ?? session.id;
  return renderServicePage(
    title,
    html`<h1>${title}</h1>
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
      }`,
    context,
  );
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
    ['Started', isoTime(session.startedAtMs)],
    ['Ended', isoTime(session.endedAtMs)],
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
