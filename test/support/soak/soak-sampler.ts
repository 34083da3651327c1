/** Takes the samples of a long run, and writes each as a line of JSON. */
import { appendFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import type { Sample } from './judge-growth.ts';
import type { MeasuredProcess } from './measured-process.ts';
import type { SoakClient } from './soak-client.ts';
import { countRows, type SoakDatabase } from './soak-database.ts';

/** A line of the file: values by name, and latencies by kind. */
export interface SampleLine {
  /** Minutes or days since the start. */
  at: number;
  values: Record<string, number>;
  latencies: Record<string, number[]>;
  /** What went wrong since the sample before. */
  errors: string[];
}

/** What is sampled. */
interface Sampled {
  service: MeasuredProcess;
  agent: MeasuredProcess;
  client: SoakClient;
  database: SoakDatabase;
  /** Where the lines are written. */
  file: string;
}

/** Metrics of the service, by what samples call them, and the factor to their unit there. */
const METRICS: readonly [name: string, metric: string, factor: number][] = [
  ['event loop delay p99', 'event_loop_delay_p99_seconds', 1_000],
  ['event loop delay max', 'event_loop_delay_max_seconds', 1_000],
  ['jobs queued', 'jobs_queued', 1],
  ['age of the oldest job', 'jobs_oldest_due_age_seconds', 1_000],
  ['simulations running', 'simulations_running', 1],
];

/** Creates a function that takes a sample; a thorough one also collects garbage and counts rows. */
export function createSampler({ service, agent, client, database, file }: Sampled): {
  take: (at: number, isThorough: boolean) => Promise<void>;
  lines: SampleLine[];
} {
  const lines: SampleLine[] = [];
  let errorsBefore = 0;
  let before = { cpuMs: service.readUsage().cpuMs, requests: client.counts.requests };
  return {
    lines,
    async take(at, isThorough) {
      const { cpuMs } = service.readUsage();
      const { requests } = client.counts;
      const spent = (cpuMs - before.cpuMs) / Math.max(1, requests - before.requests);
      before = { cpuMs, requests };
      const values: Record<string, number> = {
        'service: CPU time per request': spent,
        'load of the machine': loadavg()[0] ?? 0,
        ...describeUsage('service', service),
        ...describeUsage('agent', agent),
        ...(await readMetrics(client)),
        ...(await database.readSizes()),
        ...(isThorough && {
          ...(await describeMemory('service', service)),
          ...(await describeMemory('agent', agent)),
          ...(await countRows(database)),
        }),
      };
      const errors = client.errors.slice(errorsBefore);
      errorsBefore += errors.length;
      const line = { at, values, latencies: client.takeLatencies(), errors };
      lines.push(line);
      appendFileSync(file, `${JSON.stringify(line)}\n`);
    },
  };
}

function describeUsage(name: string, measured: MeasuredProcess): Record<string, number> {
  const { residentBytes, descriptors, threads } = measured.readUsage();
  return {
    [`${name}: resident memory`]: residentBytes,
    [`${name}: file descriptors`]: descriptors,
    [`${name}: threads`]: threads,
  };
}

async function describeMemory(
  name: string,
  measured: MeasuredProcess,
): Promise<Record<string, number>> {
  const { mainHeap, mainCode, threadHeaps, external } = await measured.measureMemory();
  return {
    [`${name}: heap of the main thread`]: mainHeap,
    [`${name}: compiled code`]: mainCode,
    [`${name}: heaps of the other threads`]: threadHeaps,
    [`${name}: memory outside the heaps`]: external,
  };
}

async function readMetrics(client: SoakClient): Promise<Record<string, number>> {
  const { text } = await client.send({ kind: 'metrics', route: 'GET /metrics', isForFirst: true });
  const connections = [...text.matchAll(/^\w+connections\{.*state="total"\} (\d+)$/gm)];
  return {
    ...(connections.length > 0 && {
      'database connections': connections.reduce((sum, [, count]) => sum + Number(count), 0),
    }),
    ...Object.fromEntries(
      METRICS.flatMap(([name, metric, factor]) => {
        const [, value] = new RegExp(`^sandbox_kit_${metric} (\\S+)$`, 'm').exec(text) ?? [];
        return value === undefined ? [] : [[name, Number(value) * factor]];
      }),
    ),
  };
}

/** Returns the samples of each measure; a latency counts for both of its percentiles. */
export function groupSamples(lines: readonly SampleLine[]): Map<string, Sample[]> {
  const samples = new Map<string, Sample[]>();
  const add = (name: string, sample: Sample): void => {
    const found = samples.get(name);
    if (found) found.push(sample);
    else samples.set(name, [sample]);
  };
  for (const { at, values, latencies } of lines) {
    for (const [name, value] of Object.entries(values)) add(name, { at, values: [value] });
    for (const [kind, taken] of Object.entries(latencies)) {
      add(`${kind}: p50`, { at, values: taken });
      add(`${kind}: p99`, { at, values: taken });
    }
  }
  return samples;
}
