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

/** Where the runs of a chart are. */
interface RunAxis {
  x: Axis;
  /** What the axis shows. */
  title: string;
}

/**
 * Returns an axis with the same distance between runs, so that runs of one day do not overlap. Its labels are
 * the days of the runs, or the times if all are of one day.
 */
export function createRunAxis(
  runs: readonly Pick<RunSummary, 'newestStartMs'>[],
  { kind, nowMs }: { kind: SessionKind; nowMs: number },
): RunAxis {
  const times = runs.map(({ newestStartMs }) =>
    newestStartMs === undefined ? '' : isoTime(newestStartMs),
  );
  const days = times.map((time) => time.slice(0, 'YYYY-MM-DD'.length));
  const thisYear = isoTime(nowMs).slice(0, 'YYYY-'.length);
  const [day = ''] = days;
  const isOneDay = day !== '' && days.every((each) => each === day);
  const isShort = isOneDay || days.every((each) => each === '' || each.startsWith(thisYear));
  const labels = isOneDay
    ? times.map((time) => time.slice('YYYY-MM-DDT'.length, 'YYYY-MM-DDTHH:MM'.length))
    : days.map((each) => (isShort ? each.slice(thisYear.length) : each));
  const step = Math.ceil(runs.length / (isShort ? LABELS_MAX.short : LABELS_MAX.long));
  // A long label at the end would not fit into the picture.
  const offset = isShort ? 0 : Math.floor(step / 2);
  const x: Axis = {
    min: 0.5,
    max: runs.length + 0.5,
    scale: 'linear',
    ticks: labels.flatMap((label, index) => {
      const isTick = (runs.length - 1 - index) % step === offset;
      return isTick ? [{ value: index + 1, label }] : [];
    }),
  };
  const by = isOneDay ? `its newest session, ${day}` : 'the day of its newest session';
  return { x, title: `${nounOf(kind)} by ${by}` };
}
