import { CHART_CSS } from '../../../report-kit/chart.ts';
import { formatDuration } from '../../../report-kit/format.ts';
import { html, type Html } from '../../../report-kit/html.ts';
import { numberColumn, renderTable } from '../../../report-kit/table.ts';
import { renderWaveform, WAVEFORM_CSS } from '../../../report-kit/waveform.ts';
import type { SessionTurn } from '../../turns/turn-types.ts';
import type { Recording, Session } from '../../store/store.ts';

/** Path of the audio of a session. */
export const RECORDING_PATH = '/recordings';

/** Renders the audio of a call, its waveform, and a table of its turns. */
export function renderCall(
  { id }: Session,
  { summary, hasAudio }: Recording,
  turns: readonly SessionTurn[],
): Html {
  return html`<h2>Call</h2>
    ${
      hasAudio
        ? html`<audio
              controls
              preload="metadata"
              src="${`${RECORDING_PATH}/${encodeURIComponent(id)}`}"
            >
              The browser can't play audio.
            </audio>
            <p class="soft">The user is on the left channel, the agent on the right.</p>`
        : html`<p class="soft">
            The audio can't be played: the agent's packets don't contain 20 ms each, or the call is
            too long.
          </p>`
    }
    <figure>${renderWaveform({ ...summary, turns: summary.lines })}</figure>
    <details>
      <summary>Turns of the call</summary>
      ${renderTable({
        label: 'Turns of the call',
        columns: [
          'turn',
          numberColumn('user starts'),
          numberColumn('user ends'),
          numberColumn('agent responds after'),
        ],
        rows: summary.lines.map(({ turn, startMs, endMs }) => {
          const latencyMs = turns.find(({ sequence }) => sequence === turn)?.latencyMs;
          return html`<tr>
            <td><a href="#turn-${turn}">Turn ${turn}</a></td>
            <td class="number">${formatDuration(startMs)}</td>
            <td class="number">${formatDuration(endMs)}</td>
            <td class="number">${latencyMs === undefined ? '' : formatDuration(latencyMs)}</td>
          </tr>`;
        }),
      })}
    </details>`;
}

/** CSS rules of calls. */
export const CALL_CSS = `${CHART_CSS}${WAVEFORM_CSS}
audio { display: block; max-width: 100%; width: 32rem; }
`;
