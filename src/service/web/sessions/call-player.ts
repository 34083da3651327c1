import { CHART_CSS } from '../../../report-kit/chart.ts';
import { renderFactList } from '../../../report-kit/fact-list.ts';
import { formatDuration } from '../../../report-kit/format.ts';
import { html, type Html } from '../../../report-kit/html.ts';
import { renderItems } from '../../../report-kit/table.ts';
import { renderTimeline, WAVEFORM_CSS } from '../../../report-kit/waveform.ts';
import { listHeard } from '../../runs/heard-facts.ts';
import { listEvents, listTurnTaking } from '../../runs/turn-taking-facts.ts';
import type { SessionTurn } from '../../turns/turn-types.ts';
import type { Recording, Session } from '../../store/store.ts';

/** Path of the audio of a session. */
export const RECORDING_PATH = '/recordings';

/** Renders the audio of a call, its waveform, and a table of its turns. */
export function renderCall(
  session: Session,
  { summary, hasAudio }: Recording,
  turns: readonly SessionTurn[],
): Html {
  const { id } = session;
  const { turn_taking: turnTaking, heard } = session.simulated ?? {};
  const audio = hasAudio
    ? html`<audio
          controls
          preload="metadata"
          src="${`${RECORDING_PATH}/${encodeURIComponent(id)}`}"
        >
          The browser can't play audio.
        </audio>
        <p class="soft">The user is on the left channel, the agent on the right.</p>`
    : html`<p class="soft">
        The audio can't be played: the agent's packets don't contain 20 ms each, or the call is too
        long.
      </p>`;
  const events = listEvents(turnTaking);
  return html`<h2>Call</h2>
    ${renderTimeline(audio, { ...summary, turns: summary.lines, events })}
    ${turnTaking && renderFactList(listTurnTaking(turnTaking))}
    ${heard && renderFactList(listHeard(heard))}
    <details>
      <summary>Turns of the call</summary>
      ${renderItems({
        label: 'Turns of the call',
        items: summary.lines,
        columns: [
          { name: 'turn', content: ({ turn }) => html`<a href="#turn-${turn}">Turn ${turn}</a>` },
          {
            name: 'user starts',
            isNumber: true,
            content: ({ startMs }) => formatDuration(startMs),
          },
          { name: 'user ends', isNumber: true, content: ({ endMs }) => formatDuration(endMs) },
          {
            name: 'response latency',
            isNumber: true,
            content: ({ turn }) => {
              const latencyMs = turns.find(({ sequence }) => sequence === turn)?.latencyMs;
              return latencyMs !== undefined && formatDuration(latencyMs);
            },
          },
        ],
      })}
    </details>`;
}

/** CSS rules of calls. */
export const CALL_CSS = `${CHART_CSS}${WAVEFORM_CSS}
audio { display: block; max-width: 100%; width: 32rem; }
`;
