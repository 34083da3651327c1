import type { AdjustableClock } from '../../platform/adjustable-clock.ts';
import { watchEventLoopDelay } from '../../platform/event-loop.ts';
import {
  createGauge,
  formatMetrics,
  type LabeledMetric,
  type Metric,
  type ServiceCounters,
} from '../background/metrics.ts';
import type { IngestThread } from '../ingest/ingest-thread.ts';
import type { SimulationRunner } from '../simulator/simulations/runner.ts';
import { findDatabaseProblem } from '../store/database-problem.ts';
import type { Store } from '../store/store.ts';
import type { WorkQueues } from './work-queues.ts';

/** What the metrics are read from. */
interface MetricsOptions {
  store: Store;
  writer: Pick<IngestThread, 'countConnections'>;
  clock: AdjustableClock;
  simulator: Pick<SimulationRunner, 'countRunning'>;
  counters: ServiceCounters;
  queues: WorkQueues;
}

/** Creates the function that writes the metrics of a service in the text format of Prometheus. */
export function createMetrics(options: MetricsOptions): () => Promise<string> {
  const { simulator, counters } = options;
  const eventLoopDelay = watchEventLoopDelay();
  return async () => {
    const delay = eventLoopDelay();
    return formatMetrics([
      ...Object.values<Metric>({ ...counters }),
      ...(await measureDatabase(options)),
      createGauge('simulations_running', 'Simulations that run here', simulator.countRunning()),
      ...(await describePools(options)),
      ...describeQueues(options),
      createGauge('event_loop_delay_mean_seconds', 'Mean since the last request', delay.meanS),
      createGauge('event_loop_delay_p99_seconds', 'Since the last request', delay.p99S),
      createGauge('event_loop_delay_max_seconds', 'Since the last request', delay.maxS),
    ]);
  };
}

/** Returns only `database_up` while the database fails. */
async function measureDatabase({ store, clock }: MetricsOptions): Promise<Metric[]> {
  const createUp = (value: number): Metric =>
    createGauge('database_up', 'Whether the database answers (1) or not (0)', value);
  try {
    const { count, nextDueAtMs } = await store.jobs.getBacklog();
    const ageMs = nextDueAtMs === undefined ? 0 : Math.max(0, clock.nowMs() - nextDueAtMs);
    return [
      createUp(1),
      createGauge('jobs_queued', 'Scoring jobs that are not finished, of all replicas', count),
      createGauge('jobs_oldest_due_age_seconds', 'Age of the oldest due job', ageMs / 1000),
    ];
  } catch (error) {
    if (!findDatabaseProblem(error)) throw error;
    return [createUp(0)];
  }
}

const QUEUE_METRICS = {
  waiting: { name: 'requests_waiting', help: 'Requests that wait for their turn', type: 'gauge' },
  running: { name: 'requests_running', help: 'Requests that use the database', type: 'gauge' },
  refused: {
    name: 'requests_refused_total',
    help: 'Requests refused because they would wait too long',
    type: 'counter',
  },
} as const;

function describeQueues({ queues }: MetricsOptions): Metric[] {
  const counts = Object.entries(queues).map(([kind, queue]) => [kind, queue.count()] as const);
  return (['waiting', 'running', 'refused'] as const).map((state) => ({
    ...QUEUE_METRICS[state],
    label: 'kind',
    values: new Map(counts.map(([kind, count]) => [kind, count[state]])),
  }));
}

/** The ingest thread has its own pool. Its counts are missing while the thread doesn't run. */
async function describePools({ store, writer }: MetricsOptions): Promise<LabeledMetric[]> {
  const pools = { main: store.countConnections(), ingest: await writer.countConnections() };
  const samples = Object.entries(pools).flatMap(([pool, counts]) =>
    Object.entries<number>({ ...counts }).map(([state, value]) => ({
      labels: { pool, state },
      value,
    })),
  );
  if (samples.length === 0) return [];
  return [
    {
      name: 'database_connections',
      help: 'Connections to the database, and requests that wait for one',
      type: 'gauge',
      samples,
    },
  ];
}
