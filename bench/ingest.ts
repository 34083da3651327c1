/**
 * Measures how many spans per second the stores commit when many requests share a transaction, against
 * one transaction per request, and PostgreSQL against SQLite. Then measures complete services over HTTP:
 * one on SQLite, and one, two, and three replicas on PostgreSQL. Usage:
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
import type { SpanWriter } from '../src/service/store/span-writer.ts';
import { execute } from '../test/support/database/postgres.ts';
import { measureHttp, type HttpResult } from './ingest-http.ts';
import { createDatabase } from './postgres.ts';
import { describeMachine, median } from './machine.ts';

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

/** Returns the spans per second that are committed with this many requests per transaction. */
async function measureRate(
  writer: SpanWriter,
  requests: readonly TraceRequestRows[],
  perTransaction: number,
): Promise<number> {
  const startedMs = performance.now();
  let inserted = 0;
  for (let at = 0; at < requests.length; at += perTransaction) {
    for (const result of await writer.insert(requests.slice(at, at + perTransaction))) {
      if (result instanceof Error) throw result;
      inserted += result.inserted;
    }
  }
  return inserted / ((performance.now() - startedMs) / 1_000);
}

/** A separate store for one way to write. */
interface Target {
  writer: SpanWriter;
  ownerId: string;
  perTransaction: number;
  spans: number;
  /** Returns the bytes on disk. */
  measureBytes: () => Promise<number>;
}

async function openTarget(location: StoreLocation, perTransaction: number): Promise<Target> {
  const store = await openStore(location);
  const ownerId = await store.owners.ensure('bench');
  await store.close();
  return {
    writer: await openSpanWriter(location),
    ownerId,
    perTransaction,
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

async function run(rounds: number): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'bench-ingest-'));
  const databases = [await createDatabase(), await createDatabase()];
  const locations: { name: string; location: StoreLocation; perTransaction: number }[] = [
    ...[1, REQUESTS_PER_TRANSACTION].map((perTransaction) => ({
      name: `sqlite ${perTransaction}`,
      perTransaction,
      location: { file: join(directory, `${perTransaction}.db`) },
    })),
    ...databases.flatMap((database, nth) => {
      const perTransaction = nth === 0 ? 1 : REQUESTS_PER_TRANSACTION;
      const name = `postgres ${perTransaction}`;
      return database ? [{ name, perTransaction, location: { databaseUrl: database.url } }] : [];
    }),
  ];
  const targets = new Map<string, Target>();
  try {
    for (const { name, location, perTransaction } of locations) {
      targets.set(name, await openTarget(location, perTransaction));
    }
    await measure(targets, rounds);
  } finally {
    for (const database of databases) await database?.remove();
    rmSync(directory, { recursive: true });
  }
}

/** Measures services over HTTP, each with new data. */
async function measureServices(seconds: number): Promise<void> {
  const titles = [
    'spans/s',
    'generator',
    'replicas',
    'postgres',
    'WAL B/span',
    'spans/sync',
    'cores',
  ];
  console.log('over HTTP, 10 spans per request; CPU in us per span, cores used of all together');
  console.log(['', ...titles].map((title) => title.padStart(12)).join(''));
  const print = (name: string, result: HttpResult): void => {
    const { spansPerSecond, generatorCpu, replicasCpu, databaseCpu, walBytes, walSyncs } = result;
    const values = [spansPerSecond, generatorCpu, replicasCpu, databaseCpu, walBytes, 1 / walSyncs];
    const columns = [...values.map((value) => value.toFixed(0)), result.cores.toFixed(2)];
    console.log([name, ...columns].map((text) => text.padStart(12)).join(''));
  };
  const dataDir = mkdtempSync(join(tmpdir(), 'bench-ingest-'));
  try {
    print('sqlite', await measureHttp({ dataDir }, { replicas: 1, seconds }));
  } finally {
    rmSync(dataDir, { recursive: true });
  }
  for (const replicas of [1, 2, 3]) {
    const database = await createDatabase();
    if (!database) return;
    try {
      const { url: databaseUrl, serverPid = NaN } = database;
      const result = await measureHttp({ databaseUrl, serverPid }, { replicas, seconds });
      print(`postgres ${replicas}`, result);
    } finally {
      await database.remove();
    }
  }
}

async function measure(targets: ReadonlyMap<string, Target>, rounds: number): Promise<void> {
  const names = [...targets.keys()];
  const [reference = ''] = names;
  const emptyBytes = new Map<string, number>();
  for (const [name, target] of targets) emptyBytes.set(name, await target.measureBytes());
  console.log(describeMachine());
  console.log(`spans/s by requests per transaction, and the ratio to ${reference}`);
  console.log(['spans/request', ...names].map((name) => name.padStart(20)).join(''));
  for (const size of SPANS_PER_REQUEST) {
    const requests = Math.ceil(REQUESTS_PER_MEASUREMENT / Math.sqrt(size));
    const rates = new Map<string, number[]>(names.map((name) => [name, []]));
    for (let round = 0; round < rounds; round += 1) {
      for (const [name, target] of targets) {
        const made = Array.from({ length: requests }, () => newRequest(target.ownerId, size));
        rates.get(name)?.push(await measureRate(target.writer, made, target.perTransaction));
        target.spans += requests * size;
      }
    }
    const columns = names.map((name) => {
      const own = rates.get(name) ?? [];
      const ratios = own.map((rate, round) => rate / (rates.get(reference)?.[round] ?? NaN));
      return `${median(own).toFixed(0)} (${median(ratios).toFixed(2)})`.padStart(20);
    });
    console.log(String(size).padStart(20) + columns.join(''));
  }
  // Closing merges the write-ahead log of SQLite into the file.
  for (const { writer } of targets.values()) await writer.close();
  const bytes = await Promise.all(
    Array.from(targets, async ([name, { measureBytes, spans }]) =>
      (((await measureBytes()) - (emptyBytes.get(name) ?? 0)) / spans).toFixed(0).padStart(20),
    ),
  );
  console.log('bytes/span'.padStart(20) + bytes.join(''));
}

const [rounds = 9, seconds = 10] = process.argv.slice(2).map(Number);
await run(rounds);
await measureServices(seconds);
