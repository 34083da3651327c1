import { cutText, formatCount, formatDuration } from '../../../report-kit/format.ts';
import { html, type Html } from '../../../report-kit/html.ts';
import { renderTranscript } from '../../../report-kit/transcript.ts';
import type { WatchedSimulation } from '../../operations/simulations.ts';
import { describeScenarios } from '../../runs/scenario-results.ts';
import { renderForm } from '../frame/forms.ts';
import type { PageContext } from '../frame/page-frame.ts';
import { linkToScenarioSessions } from './run-links.ts';
import { scenarioLinks, type StoredDefinitions } from './stored-definitions.ts';
import { renderScenarios } from './scenario-table.ts';

/** The most running sessions to show. */
const SESSIONS_MAX = 10;
/** The most turns of a running session to show: the latest ones. */
const TURNS_MAX = 6;
/** The most characters of one message of a running session. */
const MESSAGE_LENGTH_MAX = 600;

/** Returns whether a simulation changes by itself. */
export const isUnderWay = ({ status }: WatchedSimulation): boolean =>
  status === 'running' || status === 'evaluating';

/**
 * Renders the part of the page of a simulation that changes while it runs.
 */
export function renderProgress(
  watched: WatchedSimulation,
  stored: Pick<StoredDefinitions, 'scenarios'>,
  context: PageContext,
): Html {
  const { scenarios, plan } = watched;
  return html`<p>
      <b>${describeState(watched)}</b>
      ${isUnderWay(watched) ? `So far, ${describeScenarios(scenarios)}.` : ''}
    </p>
    ${isUnderWay(watched) && renderBar(watched)}
    ${
      watched.status === 'running' &&
      renderForm(context, {
        action: `/simulation/${encodeURIComponent(plan.id)}/cancel`,
        body: html`<button id="cancel" class="danger">Cancel the simulation</button>`,
      })
    }
    ${renderRunning(watched)}
    <h2>Scenarios</h2>
    ${renderScenarios(scenarios, {
      isRunning: isUnderWay(watched),
      linkToSessions: (id) => linkToScenarioSessions(plan.id, id, context),
      linkToPage: scenarioLinks(stored, context),
    })}`;
}

function describeState({ status, sessions, endedSessions, leftMs }: WatchedSimulation): string {
  const ended = `${endedSessions} of ${formatCount(sessions, 'session')}`;
  if (status === 'running') {
    const left = leftMs === undefined ? '' : `, about ${formatDuration(leftMs)} left`;
    return `Running: ${ended} ended${left}.`;
  }
  if (status === 'evaluating') return `All sessions ended; evals are still being scored.`;
  if (status === 'canceled') return `Canceled after ${ended}.`;
  return `${formatCount(sessions, 'session')} ended.`;
}

function renderBar({ endedSessions, sessions }: WatchedSimulation): Html {
  const share = sessions === 0 ? 0 : endedSessions / sessions;
  return html`<svg
    class="progress"
    viewBox="0 0 100 4"
    preserveAspectRatio="none"
    role="img"
    aria-label="${endedSessions} of ${sessions} sessions ended"
  >
    <rect class="track" width="100" height="4"></rect>
    <rect class="bar" width="${Math.round(share * 1000) / 10}" height="4"></rect>
  </svg>`;
}

function renderRunning({ running }: WatchedSimulation): Html | undefined {
  if (running.length === 0) return undefined;
  const omitted = running.length - SESSIONS_MAX;
  return html`<h2>Running now</h2>
    ${running.slice(0, SESSIONS_MAX).map(
      ({ id, scenarioId, sample, turns, turnsMax }) =>
        html`<details id="running-${id}" open>
          <summary>
            ${scenarioId} #${sample}
            <span class="soft">${formatCount(turns.length, 'turn')} of at most ${turnsMax}</span>
          </summary>
          ${
            turns.length === 0
              ? html`<p class="soft">Nothing was said yet.</p>`
              : renderTranscript(
                  turns.slice(-TURNS_MAX).map(({ toolCalls, evaluationMetadata, ...turn }) => ({
                    ...turn,
                    userInput: cutText(turn.userInput, MESSAGE_LENGTH_MAX),
                    agentResponse: cutText(turn.agentResponse, MESSAGE_LENGTH_MAX),
                  })),
                )
          }
        </details>`,
    )}
    ${omitted > 0 && html`<p class="soft">and ${formatCount(omitted, 'more session')}</p>`}`;
}

/** CSS rules of the progress. */
export const PROGRESS_CSS = `
svg.progress { display: block; height: 8px; margin: 0.5rem 0; width: 100%; }
.progress .track { fill: var(--line); } .progress .bar { fill: var(--note); }
`;
