import type { LoadProfileName } from '../../src/contract/index.ts';
import { formatQuantity } from '../../src/report-kit/format.ts';
import { findClosest } from '../../src/platform/suggest.ts';
import { RATE_MAX } from '../options.ts';
import { profileNames, profiles, sourcesOf } from '../profiles/profiles.ts';
import type { Limit } from '../verdict/target.ts';
import { metrics, type Metric } from './metrics.ts';

/** A limit of the user, which a run must meet in addition to the targets of the specification. */
export interface Threshold extends Limit {
  metric: Metric;
}

/** A threshold is invalid, or the run can't measure it. The message says how to correct it. */
export class ThresholdError extends Error {
  override name = 'ThresholdError';
}

const FORM = 'METRIC<VALUE or METRIC>=VALUE, such as chat.p95<800ms';

/**
 * Parses thresholds such as `chat.p95<800ms`, `chat.error_rate<1%`, and `chat.rate>=50/s`.
 *
 * @throws {ThresholdError} about the first threshold that is invalid or repeated.
 */
export function parseThresholds(texts: readonly string[]): Threshold[] {
  const thresholds = texts.map(parseThreshold);
  const ids = thresholds.map(({ row }) => row.id);
  const repeated = ids.find((id, index) => ids.indexOf(id) !== index);
  if (repeated !== undefined)
    throw new ThresholdError(`The threshold ${repeated} occurs twice. Remove one.`);
  return thresholds;
}

function parseThreshold(text: string): Threshold {
  const [, name, operator, value] =
    /^([^\s<>=]+)\s*(<=|>=|<|>)\s*([^\s<>=]+)$/.exec(text.trim()) ?? [];
  if (name === undefined || operator === undefined || value === undefined) {
    throw new ThresholdError(`A threshold has the form ${FORM}, got ${JSON.stringify(text)}.`);
  }
  const metric = metrics.find((each) => each.name === name);
  if (!metric) throw new ThresholdError(describeUnknown(name));
  const { kind } = metric.measure;
  const target = parsers[kind](value);
  const isRate = kind === 'rate';
  if (target === undefined || operator.startsWith('>') !== isRate) {
    throw new ThresholdError(
      `${name} needs ${forms[kind]}, such as ${name}${examples[kind]}, got ${JSON.stringify(text)}.`,
    );
  }
  const excludesLimit = !operator.endsWith('=');
  const unit = units[kind];
  const row = {
    id: `${name}${operator}${value}`,
    metric: name,
    statement: `${metric.subject} is ${bounds[operator as keyof typeof bounds]} ${formatQuantity(target, unit)}.`,
    target,
    unit,
  };
  return { metric, row, excludesLimit };
}

const bounds = { '<': 'under', '<=': 'at most', '>': 'more than', '>=': 'at least' } as const;

type Kind = Metric['measure']['kind'];

const units = { time: 'ms', error_rate: '%', rate: 'requests/s' } as const;

const forms: Record<Kind, string> = {
  time: '< or <= and a time in ms or s',
  error_rate: '< or <= and a percentage above 0% and below 100%',
  rate: '> or >= and a number of requests per second',
};

const examples: Record<Kind, string> = { time: '<800ms', error_rate: '<1%', rate: '>=50/s' };

/** The longest time of a threshold. */
const DAY_MS = 86_400_000;

const parsers: Record<Kind, (value: string) => number | undefined> = {
  time(value) {
    const [, number, unit] = /^(\d+(?:\.\d+)?)(ms|s)$/.exec(value) ?? [];
    return between(Number(number) * (unit === 's' ? 1_000 : 1), DAY_MS);
  },
  error_rate(value) {
    const [, number] = /^(\d+(?:\.\d+)?)%$/.exec(value) ?? [];
    const percent = between(Number(number), 100);
    return percent === 100 ? undefined : percent;
  },
  rate(value) {
    const [, number] = /^(\d+(?:\.\d+)?)\/s$/.exec(value) ?? [];
    return between(Number(number), RATE_MAX);
  },
};

const between = (number: number, max: number): number | undefined =>
  number > 0 && number <= max ? number : undefined;

function describeUnknown(name: string): string {
  const names = metrics.map((metric) => metric.name);
  const closest = findClosest(name, names);
  const [source = ''] = name.split('.');
  const related = names.filter((each) => each.startsWith(`${source}.`));
  const sources = [...new Set(metrics.map((metric) => metric.source))];
  const known =
    related.length > 0
      ? `Metrics of ${source}: ${related.join(', ')}.`
      : `Metrics begin with ${sources.join(', ')}, for example chat.p95.`;
  const guess = closest === undefined ? '' : ` Did you mean ${closest}?`;
  return `Unknown metric ${JSON.stringify(name)}.${guess} ${known}`;
}

/**
 * Checks that a run can measure its thresholds.
 *
 * @throws {ThresholdError} if the profile sends no such requests, or at a rate that is too low.
 */
export function checkThresholds(
  thresholds: readonly Threshold[],
  { profile, ratePerSecond }: { profile: LoadProfileName; ratePerSecond: number },
): void {
  const { main, hasSimulatedUsers } = profiles[profile];
  for (const { metric, row } of thresholds) {
    const { source, measure } = metric;
    if (!sourcesOf(profile).includes(source)) {
      const possible = profileNames.filter((name) => sourcesOf(name).includes(source));
      throw new ThresholdError(
        `The threshold ${row.id} needs a profile with ${source} (${possible.join(', ')}), got ${profile}.`,
      );
    }
    const hasPlannedRate = source === main && !hasSimulatedUsers;
    if (measure.kind === 'rate' && hasPlannedRate && row.target > ratePerSecond) {
      throw new ThresholdError(
        `The threshold ${row.id} needs a rate of at least ${row.target} requests per second, but the run sends ${ratePerSecond}.`,
      );
    }
  }
}
