/** The two sides of a call over time. */
import {
  createSecondsAxis,
  drawBox,
  drawTick,
  renderChart,
  xOf,
  yOf,
  type Axis,
  type Plot,
} from './chart.ts';
import { formatCount, formatDuration } from './format.ts';
import { html, type Html } from './html.ts';

/** A call, as a page draws it. */
export interface Waveform {
  durationMs: number;
  /** The time that each level covers. */
  levelMs: number;
  /** Peaks of both sides, from 0 to 100. */
  user: readonly number[];
  agent: readonly number[];
  /** The turns, each with the time when the user's line starts. */
  turns: readonly { turn: number; startMs: number }[];
  /** What happened when, such as an interruption. */
  events?: readonly WaveformEvent[];
}

/** Something that happened in a call. */
export interface WaveformEvent {
  /** For people. */
  name: string;
  startMs: number;
  durationMs: number;
  /** The lane that it is drawn on. */
  side: 'user' | 'agent' | 'both';
  /** Whether it is a fault. */
  isFault: boolean;
}

/** The most bars of a lane. */
const BARS_MAX = 240;
/** The center of each lane on the vertical axis, and half of its height. */
const LANES = { user: 3, agent: 1 } as const;
const HALF_LANE = 0.9;
/** Silence is a thin line. */
const LEVEL_MIN = 0.01;

/** Renders the levels of the user above those of the agent, with a mark for each turn and event. */
function renderWaveform(call: Waveform): Html {
  const label =
    `Waveform of a call of ${formatDuration(call.durationMs)}: the user above, the agent below, ` +
    `${formatCount(call.turns.length, 'turn')}. The turns are listed below.`;
  return renderChart((ticksMax) => ({
    label,
    height: 120,
    x: createSecondsAxis(0, call.durationMs / 1000, ticksMax),
    y: {
      min: 0,
      max: 4,
      scale: 'linear',
      ticks: [
        { value: LANES.user, label: 'User' },
        { value: LANES.agent, label: 'Agent' },
      ],
    },
    marks: (plot) => [
      ...(call.events ?? []).map((event) => drawEvent(plot, event)),
      drawLane(plot, call, 'user'),
      drawLane(plot, call, 'agent'),
      ...call.turns.map(({ turn, startMs }) =>
        drawTick(plot, startMs / 1000, String(turn), 'turn-tick'),
      ),
      ...drawGreeting(plot, call),
      drawPlayhead(plot),
    ],
  }));
}

/** A lower level is the noise of the line. */
const SPEECH_LEVEL_MIN = 5;
/** The distance to the mark of the first turn that the word needs. */
const GREETING_WIDTH = 36;

/** Marks where the agent speaks before the first turn, because no turn has its greeting. */
function drawGreeting(plot: Plot, { agent, levelMs, turns: [first] }: Waveform): Html[] {
  const index = agent.findIndex((level) => level >= SPEECH_LEVEL_MIN);
  const atS = (index * levelMs) / 1000;
  const firstS = (first?.startMs ?? 0) / 1000;
  if (index < 0 || xOf(plot, firstS) - xOf(plot, atS) < GREETING_WIDTH) return [];
  return [drawTick(plot, atS, 'greeting', 'turn-tick')];
}

/** The vertical range of an event, by its lane. */
const EVENT_RANGES = { user: [2, 4], agent: [0, 2], both: [0, 4] } as const;
/** Shorter events are drawn with this width, so that they can be seen. */
const EVENT_SHARE_MIN = 0.004;

function drawEvent(plot: Plot, { name, startMs, durationMs, side, isFault }: WaveformEvent): Html {
  const fromS = startMs / 1000;
  const shortestS = secondsOf(plot.x) * EVENT_SHARE_MIN;
  return drawBox(
    plot,
    [fromS, fromS + Math.max(shortestS, durationMs / 1000)],
    EVENT_RANGES[side],
    {
      className: isFault ? 'event fault' : 'event',
      title: `${name} at ${formatDuration(startMs)}, ${formatDuration(durationMs)}`,
    },
  );
}

const secondsOf = ({ min, max }: Axis): number => max - min;

/** Draws the position of the audio, which the script moves. */
function drawPlayhead({ left, top, width, height, x }: Plot): Html {
  return html`<line
    class="playhead"
    x1="${left}"
    x2="${left}"
    y1="${top}"
    y2="${top + height}"
    data-left="${left}"
    data-width="${width}"
    data-seconds="${secondsOf(x)}"
  />`;
}

/** Puts the audio of a call and its waveform together: the script shows the position of the audio. */
export function renderTimeline(audio: Html | undefined, call: Waveform): Html {
  const events = call.events ?? [];
  return html`<div class="timeline">
    ${audio}
    <figure>${renderWaveform(call)} ${events.length > 0 && renderEventKeys(events)}</figure>
  </div>`;
}

/** Explains the colors of the events, and lists them for those who can't point at them. */
function renderEventKeys(events: readonly WaveformEvent[]): Html {
  const named = (isFault: boolean): string =>
    [...new Set(events.filter((event) => event.isFault === isFault).map(({ name }) => name))].join(
      ', ',
    );
  const [plain, faults] = [named(false), named(true)];
  return html`<figcaption>
      ${plain !== '' && html`<span class="key event-key">${plain}</span>`}
      ${faults !== '' && html` <span class="key event-key fault">${faults}</span>`}
    </figcaption>
    <details>
      <summary>${formatCount(events.length, 'event')}</summary>
      <ol>
        ${events
          .slice(0, EVENTS_MAX)
          .map(
            ({ name, startMs, durationMs }) =>
              html`<li>${formatDuration(startMs)}: ${name}, ${formatDuration(durationMs)}</li>`,
          )}
      </ol>
    </details>`;
}

/** The most events that are listed. */
const EVENTS_MAX = 100;

function drawLane(plot: Plot, call: Waveform, side: keyof typeof LANES): Html {
  const levels = call[side];
  const perBar = Math.max(1, Math.ceil(levels.length / BARS_MAX));
  const bars = Array.from({ length: Math.ceil(levels.length / perBar) }, (_, nth) => {
    const at = nth * perBar;
    const peak = Math.max(...levels.slice(at, at + perBar)) / 100;
    const half = Math.max(LEVEL_MIN, peak) * HALF_LANE;
    const x = xOf(plot, ((at + perBar / 2) * call.levelMs) / 1000);
    return `M${x},${yOf(plot, LANES[side] - half)}V${yOf(plot, LANES[side] + half)}`;
  });
  return html`<path class="wave ${side}" d="${bars.join('')}" />`;
}

/** CSS rules of waveforms, in addition to those of charts. */
export const WAVEFORM_CSS = `
.wave { fill: none; stroke-width: 2; }
.wave.user { stroke: var(--c1); } .wave.agent { stroke: var(--c2); }
.event { fill: var(--c4); opacity: 0.25; } .event.fault { fill: var(--bad); opacity: 0.3; }
.event-key::before { border-color: var(--c4); } .event-key.fault::before { border-color: var(--bad); }
.playhead { stroke: var(--ink); stroke-width: 1.5; visibility: hidden; }
.timeline.played .playhead { visibility: visible; }
.turn-tick { stroke: var(--soft-ink); stroke-dasharray: 2 3; stroke-width: 1; }
`;
