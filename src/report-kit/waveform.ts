/** The two sides of a call over time. */
import { createSecondsAxis, drawTick, renderChart, xOf, yOf, type Plot } from './chart.ts';
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
  /** The turns, each with the time at which the user's line starts. */
  turns: readonly { turn: number; startMs: number }[];
}

/** The most bars of a lane. */
const BARS_MAX = 240;
/** The center of each lane on the vertical axis, and half of its height. */
const LANES = { user: 3, agent: 1 } as const;
const HALF_LANE = 0.9;
/** Silence is a thin line. */
const LEVEL_MIN = 0.01;

/** Renders the levels of the user above those of the agent, with a mark for each turn. */
export function renderWaveform(call: Waveform): Html {
  const label =
    `Waveform of a call of ${formatDuration(call.durationMs)}: the user above, the agent below, ` +
    `${formatCount(call.turns.length, 'turn')}. The turns are listed below.`;
  return renderChart((ticksMax) => ({
    label,
    height: 120,
    x: createSecondsAxis(0, call.durationMs / 1000, ticksMax),
    y: {
      ...{ min: 0, max: 4, scale: 'linear' },
      ticks: [
        { value: LANES.user, label: 'User' },
        { value: LANES.agent, label: 'Agent' },
      ],
    },
    marks: (plot) => [
      drawLane(plot, call, 'user'),
      drawLane(plot, call, 'agent'),
      ...call.turns.map(({ turn, startMs }) =>
        drawTick(plot, startMs / 1000, String(turn), 'turn-tick'),
      ),
    ],
  }));
}

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
.turn-tick { stroke: var(--soft-ink); stroke-dasharray: 2 3; stroke-width: 1; }
`;
