import type { LoadProgress } from '../../load/index.ts';
import type { Clock } from '../../src/platform/clock.ts';
import { formatCount } from '../../src/report-kit/format.ts';
import { createPlainTimer, formatMinutes } from './progress.ts';
import type { Terminal } from './terminal.ts';

/** Returns a function that shows the figures of a load run. */
export function createLoadProgress(
  terminal: Terminal,
  clock: Clock,
): (figures: LoadProgress) => void {
  const isPlainDue = createPlainTimer(terminal, clock);
  return (figures) => {
    const line = formatFigures(figures);
    const { errors } = figures;
    const count = formatCount(errors, 'error');
    const errorsText = errors === 0 ? '' : `  ${terminal.style('red', count)}`;
    terminal.live(`  ${line.slice(0, Math.max(0, terminal.width - 16))}${errorsText}`);
    if (isPlainDue()) terminal.write(`Progress: ${line}, ${count}\n`);
  };
}

function formatFigures(figures: LoadProgress): string {
  const { phase, perSecond, inFlight, p50Ms, p99Ms, calls } = figures;
  const time = formatTimeLeft(figures);
  if (calls)
    return `${time}, ${formatCount(inFlight, 'call')} connected, ${calls.packetsPerSecond} packets/s`;
  if (phase === 'preflight' || phase === 'warm-up') return time;
  if (phase === 'drain') return `drain, ${inFlight} in flight`;
  const latency = p50Ms === null ? '' : `, p50 ${formatMs(p50Ms)}, p99 ${formatMs(p99Ms)}`;
  return `${time}, ${perSecond}/s, ${inFlight} in flight${latency}`;
}

/** Returns the time until the steady state ends. The total time of a search is unknown. */
function formatTimeLeft({ phase, leftMs, search }: LoadProgress): string {
  const left = `${formatMinutes(leftMs)} left`;
  if (phase === 'drain') return 'drain';
  if (phase === 'preflight' || phase === 'warm-up') {
    if (search) return phase;
    return phase === 'preflight' ? `preflight, then ${formatMinutes(leftMs)}` : `${left} (warm-up)`;
  }
  const step = search ? ` of the step ${describeStep(search)}` : '';
  return `${left}${step}${phase === 'ramp' ? ' (ramp-up)' : ''}`;
}

const describeStep = (search: NonNullable<LoadProgress['search']>): string =>
  'calls' in search ? `with ${formatCount(search.calls ?? 0, 'call')}` : `at ${search.perSecond}/s`;

const formatMs = (ms: number | null): string => `${Math.round(ms ?? 0)} ms`;
