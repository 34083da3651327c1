/** Values of one metric, by the value of its label; the empty text if it has none. */
export interface Metric extends MetricHead {
  label?: string;
  values: ReadonlyMap<string, number>;
}

/** A metric with several labels. */
export interface LabeledMetric extends MetricHead {
  samples: readonly { labels: Readonly<Record<string, string>>; value: number }[];
}

interface MetricHead {
  /** Without the prefix `sandbox_kit_`. Counters end in `_total`, and units are base units. */
  name: string;
  help: string;
  type: 'counter' | 'gauge';
}

/** Counts events, by the value of a label. Labels never contain data of an owner. */
export interface Counter extends Metric {
  add: (labelValue: string, count?: number) => void;
}

/** What a service counts about its own work. */
export interface ServiceCounters {
  traceRequests: Counter;
  spans: Counter;
  jobs: Counter;
  idleCloses: Counter;
}

/** Creates the counters of a service. */
export function createServiceCounters(): ServiceCounters {
  return {
    traceRequests: createCounter('trace_requests_total', 'Trace requests by HTTP status', 'status'),
    spans: createCounter('spans_total', 'Received spans by result', 'result'),
    jobs: createCounter('jobs_finished_total', 'Scoring jobs by outcome', 'outcome'),
    idleCloses: createCounter(
      'conversations_closed_idle_total',
      'Conversations closed because they were idle',
    ),
  };
}

function createCounter(name: string, help: string, label?: string): Counter {
  const values = new Map<string, number>(label === undefined ? [['', 0]] : []);
  return {
    name,
    help,
    type: 'counter',
    values,
    ...(label !== undefined && { label }),
    add(labelValue, count = 1) {
      values.set(labelValue, (values.get(labelValue) ?? 0) + count);
    },
  };
}

/** Creates a metric without a label from its current value. */
export function createGauge(name: string, help: string, value: number): Metric {
  return { name, help, type: 'gauge', values: new Map([['', value]]) };
}

/** Writes metrics in the text format of Prometheus, version 0.0.4. */
export function formatMetrics(metrics: readonly (Metric | LabeledMetric)[]): string {
  return metrics
    .flatMap((metric) => {
      const { name, help, type } = metric;
      return [
        `# HELP sandbox_kit_${name} ${help}`,
        `# TYPE sandbox_kit_${name} ${type}`,
        ...samplesOf(metric).map(
          ({ labels, value }) => `sandbox_kit_${name}${formatLabels(labels)} ${value}`,
        ),
      ];
    })
    .map((line) => `${line}\n`)
    .join('');
}

function samplesOf(metric: Metric | LabeledMetric): LabeledMetric['samples'] {
  if ('samples' in metric) return metric.samples;
  const { label, values } = metric;
  return Array.from(values, ([labelValue, value]) => ({
    labels: label === undefined ? {} : { [label]: labelValue },
    value,
  }));
}

function formatLabels(labels: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escapeLabel(value)}"`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

const escapeLabel = (text: string): string =>
  text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
