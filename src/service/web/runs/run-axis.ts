/** What the charts of runs share: their names, and an axis with a place for each run. */
import { isoTime } from '../../../platform/clock.ts';
import type { Axis } from '../../../report-kit/chart.ts';
import { capitalize, cutText } from '../../../report-kit/format.ts';
import type { RunSummary, SessionKind } from '../../store/store.ts';

const NAME_LENGTH_MAX = 100;

/** The name of a run in the label of a dot. */
export const nameRun = ({ name }: Pick<RunSummary, 'name'>): string =>
  cutText(name, NAME_LENGTH_MAX);

/** Names who responded, such as "Shop agent by voice" or "Voice"; empty if that is unknown. */
export function describeTarget({
  agent,
  channel,
}: {
  agent?: string | undefined;
  channel?: string | undefined;
}): string {
  const by = cutText(channel ?? '', NAME_LENGTH_MAX);
  if (agent === undefined) return capitalize(by);
  const name = cutText(agent, NAME_LENGTH_MAX);
  return by === '' ? name : `${name} by ${by}`;
}

/** Returns what charts call a run of a kind. */
export const nounOf = (kind: SessionKind): string =>
  kind === 'production' ? 'production run' : 'simulation';

/** The labels that fit below a chart, and those with a year. */
const LABELS_MAX = { short: 5, long: 3 };

/** Returns an axis with the same distance between runs, so that runs of one day do not overlap. */
export function createRunAxis(
  runs: readonly Pick<RunSummary, 'newestStartMs'>[],
  nowMs: number,
): Axis {
  const days = runs.map(({ newestStartMs }) =>
    newestStartMs === undefined ? '' : isoTime(newestStartMs).slice(0, 'YYYY-MM-DD'.length),
  );
  const thisYear = isoTime(nowMs).slice(0, 'YYYY-'.length);
  const isThisYear = days.every((day) => day === '' || day.startsWith(thisYear));
  const labels = isThisYear ? days.map((day) => day.slice(thisYear.length)) : days;
  const step = Math.ceil(runs.length / (isThisYear ? LABELS_MAX.short : LABELS_MAX.long));
  // A long label at the end would not fit into the picture.
  const offset = isThisYear ? 0 : Math.floor(step / 2);
  return {
    min: 0.5,
    max: runs.length + 0.5,
    scale: 'linear',
    ticks: labels.flatMap((label, index) => {
      const isTick = (runs.length - 1 - index) % step === offset;
      return isTick ? [{ value: index + 1, label }] : [];
    }),
  };
}
