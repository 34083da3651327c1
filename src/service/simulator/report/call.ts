import type { SimulatedSessionReport } from '../../../contract/index.ts';
import { html, type Html } from '../../../report-kit/html.ts';
import { renderTimeline } from '../../../report-kit/waveform.ts';
import { listEvents } from '../../runs/turn-taking-facts.ts';
import type { CallSummary } from '../../store/store.ts';

/** The audio files of a session: links relative to the page. */
export interface SessionAudio {
  user: string;
  agent: string;
  /** Both sides at the same time. */
  both?: string;
}

/** Renders the audio of a call and its waveform. */
export function renderCall(
  { turn_taking: turnTaking }: SimulatedSessionReport,
  audio: SessionAudio | undefined,
  summary: CallSummary | undefined,
): Html | undefined {
  const player = renderAudio(audio);
  if (!summary) return player;
  return renderTimeline(player, {
    ...summary,
    turns: summary.lines,
    events: listEvents(turnTaking),
  });
}

function renderAudio(audio: SessionAudio | undefined): Html | undefined {
  if (!audio) return undefined;
  if (audio.both !== undefined) {
    return html`<p class="audio">
      <label>
        User on the left, agent on the right
        <audio controls preload="none" src="${audio.both}"></audio>
      </label>
      <span class="soft"
        ><a href="${audio.user}">User alone</a>, <a href="${audio.agent}">agent alone</a></span
      >
    </p>`;
  }
  return html`<p class="audio">
    <label>User <audio controls preload="none" src="${audio.user}"></audio></label>
    <label>Agent <audio controls preload="none" src="${audio.agent}"></audio></label>
  </p>`;
}
