/**
 * Measures how many spans per second the stores commit, with one request and with many per transaction,
 * against the fastest way to store the same rows: a loop of prepared inserts, and COPY. Then measures
 * complete services over HTTP, in both encodings: one on SQLite, and one, two, and three replicas on
 * PostgreSQL. Usage:
 * `node bench/ingest.ts [ROUNDS] [SECONDS]` (default: 9, and 10 for each service; three minutes).
 *
 * All stores write to separate files and databases and take turns, so that a slower disk or a growing
 * file affects all. Afterwards, it prints how many bytes each store uses per span. Spans are as large as
 * real ones (3.3 kB, mostly messages). Each request starts a conversation and has tags.
 *
 * The services, the load generator, and the database share this machine. The CPU time of each per span
 * lets readers estimate the throughput with a machine for each.
 */
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStore } from '../src/service/store/open-store.ts';
import type { StoreLocation, NewSpan, TraceRequestRows } from '../src/service/store/store.ts';
import { openSpanWriter } from '../src/service/store/open-span-writer.ts';
import { execute } from '../test/support/database/postgres.ts';
import { measureCosts } from './cpu-time.ts';
import { measureHttp, type HttpResult } from './ingest-http.ts';
import { openCopy, openInsertLoop, type Peer } from './ingest-peers.ts';
import { createDatabase, type BenchDatabase } from './postgres.ts';
import { describeMachine, median } from './machine.ts';
import { HTTP_SPANS_PER_REQUEST } from './trace-requests.ts';

const REQUESTS_PER_MEASUREMENT = 512;
const REQUESTS_PER_TRANSACTION = 64;
const SPANS_PER_REQUEST = [1, 10, 100];

let lastNumber = 0;

function newRequest(ownerId: string, size: number): TraceRequestRows {
  const number = (lastNumber += 1);
  const conversationId = `conversation-${number}`;
  const spans = Array.from({ length: size }, () => newSpan(conversationId));
  const tags = Array.from({ length: 8 }, (_, tag) => ({
    conversationId,
    key: `tag.${tag}`,
    value: `value ${(number * (tag + 1)) % 997}`,
  }));
  return {
    ownerId,
    receivedAtMs: 1_795_176_000_000 + number,
    spans,
    tags,
    links: [],
    logEntries: [],
  };
}

function newSpan(conversationId: string): NewSpan {
  const number = (lastNumber += 1);
  // Distributed like random ids, the most expensive order for an index.
  const id = (BigInt(number) * 0x9e37_79b9_7f4a_7c15n) & 0xffff_ffff_ffff_ffffn;
  const startNs = 1_795_176_000_000_000_000n + BigInt(number);
  return {
    conversationId,
    traceId: id.toString(16).padStart(32, '0'),
    spanId: id.toString(16).padStart(16, '0'),
    parentSpanId: undefined,
    operation: 'chat',
    name: 'chat mini',
    startNs,
    endNs: startNs + 1n,
    failed: false,
    inputMessages: JSON.stringify([
      { role: 'user', parts: [{ content: `${number} `.repeat(330) }] },
    ]),
    outputMessages: JSON.stringify([{ role: 'assistant', parts: [{ content: 'x'.repeat(700) }] }]),
    attributes: { 'gen_ai.request.model': 'mini', 'gen_ai.usage.input_tokens': number % 5_000 },
  };
}

/** A way to store spans, with a separate store. */
interface Target {
  name: string;
  /** The target that stores the same rows in the fastest way; undefined for such a target. */
  peer: string | undefined;
  ownerId: string;
  perTransaction: number;
  serverPid: number | undefined;
  prepare: (requests: readonly TraceRequestRows[]) => () => Promise<void>;
  close: () => Promise<void>;
  spans: number;
  /** Returns the bytes on disk. */
  measureBytes: () => Promise<number>;
}

/** The cost of storing spans. CPU times are in microseconds per span. */
interface Cost {
  spansPerSecond: number;
  cpu: number;
  /** NaN for SQLite. */
  databaseCpu: number;
}

/** Measures how fast a target commits requests. */
async function measureCost(target: Target, requests: readonly TraceRequestRows[]): Promise<Cost> {
  const { perTransaction, serverPid } = target;
  const transactions = Array.from(
    { length: Math.ceil(requests.length / perTransaction) },
    (_, nth) => target.prepare(requests.slice(nth * perTransaction, (nth + 1) * perTransaction)),
  );
  const spans = requests.reduce((sum, request) => sum + request.spans.length, 0);
  const { elapsedS, cpuMicros, databaseCpuMicros } = await measureCosts(async () => {
    for (const commit of transactions) await commit();
  }, serverPid);
  target.spans += spans;
  return {
    spansPerSecond: spans / elapsedS,
    cpu: cpuMicros / spans,
    databaseCpu: databaseCpuMicros / spans,
  };
}

/** What a target is, and where it stores spans. */
type TargetOptions = Pick<Target, 'name' | 'peer' | 'perTransaction' | 'serverPid'> & {
  location: StoreLocation;
};

async function openTarget({ location, ...about }: TargetOptions): Promise<Target> {
  const store = await openStore(location);
  const ownerId = await store.owners.ensure('bench');
  await store.close();
  const isPeer = about.peer === undefined;
  const opened = isPeer ? await openPeer(location) : await openProduct(location);
  return {
    ...about,
    ...opened,
    ownerId,
    spans: 0,
    async measureBytes() {
      if ('file' in location) return statSync(location.file).size;
      const [row] = await execute(
        location.databaseUrl,
        'select pg_database_size(current_database()) as bytes',
      );
      return Number(row?.bytes);
    },
  };
}

const openPeer = (location: StoreLocation): Promise<Peer> | Peer =>
  'file' in location ? openInsertLoop(location.file) : openCopy(location.databaseUrl);

async function openProduct(location: StoreLocation): Promise<Peer> {
  const writer = await openSpanWriter(location);
  return {
    prepare: (requests) => async () => {
      for (const result of await writer.insert(requests)) if (result instanceof Error) throw result;
    },
    close: () => writer.close(),
  };
}

/** Opens targets that take turns, so that a slower disk or a growing file affects all. */
async function openTargets(directory: string, databases: BenchDatabase[]): Promise<Target[]> {
  const targets: Target[] = [];
  for (const { store, ...about } of planTargets()) {
    if (store === 'sqlite') {
      const location = { file: join(directory, `${about.name}.db`) };
      targets.push(await openTarget({ ...about, location, serverPid: undefined }));
    } else {
      const database = await createDatabase();
      if (!database) continue;
      databases.push(database);
      const { url: databaseUrl, serverPid } = database;
      targets.push(await openTarget({ ...about, location: { databaseUrl }, serverPid }));
    }
  }
  return targets;
}

/** The stores, and the name of the peer of each. */
const STORES = [
  ['sqlite', 'loop'],
  ['postgres', 'copy'],
] as const;

/** Returns each store and its peer, with one request and with many per transaction. */
const planTargets = () =>
  [1, REQUESTS_PER_TRANSACTION].flatMap((perTransaction) =>
    STORES.flatMap(([store, peerName]) => {
      const peer = `${peerName} ${perTransaction}`;
      return [
        { store, perTransaction, name: `${store} ${perTransaction}`, peer },
        { store, perTransaction, name: peer, peer: undefined },
      ];
    }),
  );

/** Returns the spans per second of the peers with most requests per transaction, by name. */
async function run(rounds: number): Promise<Map<string, number>> {
  const directory = mkdtempSync(join(tmpdir(), 'bench-ingest-'));
  const databases: BenchDatabase[] = [];
  try {
    return await measure(await openTargets(directory, databases), rounds);
  } finally {
    for (const database of databases) await database.remove();
    rmSync(directory, { recursive: true });
  }
}

/** Measures services over HTTP, each with new data. */
async function measureServices(
  seconds: number,
  peerRates: ReadonlyMap<string, number>,
): Promise<void> {
  const titles = [
    'spans/s',
    'of peer',
    'generator',
    'replicas',
    'postgres',
    'WAL B/span',
    'spans/sync',
    'cores',
  ];
  console.log(
    `over HTTP, ${HTTP_SPANS_PER_REQUEST} spans per request; CPU in us per span, cores used of all together`,
  );
  console.log(['', ...titles].map((title) => title.padStart(16)).join(''));
  const print = (name: string, peer: string, result: HttpResult): void => {
    const { spansPerSecond, generatorCpu, replicasCpu, databaseCpu, walBytes, walSyncs } = result;
    const ofPeer = spansPerSecond / (peerRates.get(`${peer} ${REQUESTS_PER_TRANSACTION}`) ?? NaN);
    const values = [generatorCpu, replicasCpu, databaseCpu, walBytes, 1 / walSyncs];
    const columns = [
      name,
      spansPerSecond.toFixed(0),
      ofPeer.toFixed(2),
      ...values.map((value) => value.toFixed(0)),
      result.cores.toFixed(2),
    ];
    console.log(columns.map((text) => text.padStart(16)).join(''));
  };
  for (const encoding of ['json', 'protobuf'] as const) {
    const dataDir = mkdtempSync(join(tmpdir(), 'bench-ingest-'));
    try {
      const result = await measureHttp({ dataDir }, { replicas: 1, seconds, encoding });
      print(`sqlite ${encoding}`, 'loop', result);
    } finally {
      rmSync(dataDir, { recursive: true });
    }
  }
  for (const [replicas, encoding] of [
    [1, 'json'],
    [1, 'protobuf'],
    [2, 'json'],
    [3, 'json'],
  ] as const) {
    const database = await createDatabase();
    if (!database) return;
    try {
      const { url: databaseUrl, serverPid = NaN } = database;
      const result = await measureHttp({ databaseUrl, serverPid }, { replicas, seconds, encoding });
      print(`pg ${replicas} ${encoding}`, 'copy', result);
    } finally {
      await database.remove();
    }
  }
}

async function measure(targets: readonly Target[], rounds: number): Promise<Map<string, number>> {
  const emptyBytes = await Promise.all(targets.map((target) => target.measureBytes()));
  const peerRates = new Map<string, number>();
  console.log(describeMachine());
  console.log('by requests per transaction: spans/s, the ratio to the peer, CPU in us per span');
  for (const size of SPANS_PER_REQUEST) {
    const requests = Math.ceil(REQUESTS_PER_MEASUREMENT / Math.sqrt(size));
    const costs = new Map<string, Cost[]>(targets.map(({ name }) => [name, []]));
    for (let round = 0; round < rounds; round += 1) {
      for (const target of targets) {
        const made = Array.from({ length: requests }, () => newRequest(target.ownerId, size));
        costs.get(target.name)?.push(await measureCost(target, made));
      }
    }
    const titles = ['spans/s', 'ratio', 'process', 'database'];
    console.log([`${size} per request`, ...titles].map((text) => text.padStart(16)).join(''));
    for (const { name, peer = '' } of targets) {
      const own = costs.get(name) ?? [];
      const ratios = own.map(({ spansPerSecond }, round) => {
        return spansPerSecond / (costs.get(peer)?.[round]?.spansPerSecond ?? NaN);
      });
      const rate = median(own.map(({ spansPerSecond }) => spansPerSecond));
      if (size === HTTP_SPANS_PER_REQUEST) peerRates.set(name, rate);
      const values = [
        rate.toFixed(0),
        median(ratios).toFixed(2),
        median(own.map(({ cpu }) => cpu)).toFixed(0),
        // The clock of processes is too coarse for a single round.
        (own.reduce((sum, { databaseCpu }) => sum + databaseCpu, 0) / own.length).toFixed(0),
      ];
      console.log([name, ...values].map((text) => text.padStart(16)).join(''));
    }
  }
  // Closing merges the write-ahead log of SQLite into the file.
  for (const target of targets) await target.close();
  for (const [nth, target] of targets.entries()) {
    const bytes = (await target.measureBytes()) - (emptyBytes[nth] ?? 0);
    console.log(`${target.name}: ${(bytes / target.spans).toFixed(0)} bytes per span`);
  }
  return peerRates;
}

const [rounds = 9, seconds = 10] = process.argv.slice(2).map(Number);
await measureServices(seconds, await run(rounds));
