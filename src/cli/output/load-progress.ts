import type { LiveFigures } from '../../../load/index.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Terminal } from './terminal.ts';

/** In a pipe a run says every so often how it goes. */
const PLAIN_EVERY_MS = 10_000;

/** Shows how a load run goes: on a terminal a line that changes, else one now and then. */
export function loadProgress(terminal: Terminal, clock: Clock): (live: LiveFigures) => void {
  let saidMs = clock.monotonicMs();
  return (live) => {
    const line = lineOf(live);
    const { errors } = live;
    const told = errors === 0 ? '' : `  ${terminal.style('red', `${errors} errors`)}`;
    terminal.live(`  ${line.slice(0, Math.max(0, terminal.width - 16))}${told}`);
    if (clock.monotonicMs() - saidMs < PLAIN_EVERY_MS) return;
    saidMs = clock.monotonicMs();
    if (!terminal.isLive) process.stderr.write(`sandbox-kit: ${line}, ${errors} errors\n`);
  };
}

function lineOf(live: LiveFigures): string {
  const { phase, perSecond, inFlight, p50Ms, p99Ms, leftMs, calls } = live;
  if (calls) {
    const when = phase === 'window' ? `${minutes(leftMs)} left` : phase;
    return `${when}, ${inFlight} calls connected, ${calls.packetsPerSecond} packets/s`;
  }
  if (phase === 'preflight' || phase === 'warm-up') return phase;
  if (phase === 'drain') return `drain, ${inFlight} in flight`;
  const times = p50Ms === null ? '' : `, p50 ${inMs(p50Ms)}, p99 ${inMs(p99Ms)}`;
  const left = phase === 'ramp' ? 'ramp' : `${minutes(leftMs)} left`;
  return `${left}, ${perSecond}/s, ${inFlight} in flight${times}`;
}

const inMs = (ms: number | null): string => `${Math.round(ms ?? 0)} ms`;

function minutes(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}
