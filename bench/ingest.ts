/**
 * Measures how many spans per second the store commits when many requests share a transaction,
 * against one transaction per request. Usage: `node bench/ingest.ts [ROUNDS]` (default: 9; about half
 * a minute).
 *
 * The two write to separate files and take turns, so that a slower disk or a growing file affects
 * both. Spans are as large as real ones (3.3 kB, mostly messages). Each request starts a conversation
 * and has tags.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStore } from '../src/service/store/open-store.ts';
import { openSpanWriter } from '../src/service/store/sqlite/span-writer.ts';
import type { SpanWriter } from '../src/service/store/span-writer.ts';
import type { NewSpan, TraceRequestRows } from '../src/service/store/store.ts';

const REQUESTS_PER_MEASUREMENT = 512;
const REQUESTS_PER_TRANSACTION = 64;
const SPANS_PER_REQUEST = [1, 10, 100];

let lastNumber = 0;

function newRequest(ownerId: string, size: number): TraceRequestRows {
  const number = (lastNumber += 1);
  const conversationId = `conversation-${number}`;
  const spans = Array.from({ length: size }, () => newSpan(conversationId));
  const tags = Array.from({ length: 8 }, (_, tag) => ({
    ...{ conversationId, key: `tag.${tag}`, value: `value ${(number * (tag + 1)) % 997}` },
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
    ...{ conversationId, traceId: id.toString(16).padStart(32, '0') },
    ...{ spanId: id.toString(16).padStart(16, '0'), parentSpanId: undefined },
    ...{ operation: 'chat', name: 'chat mini', startNs, endNs: startNs + 1n, failed: false },
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

async function run(rounds: number): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'bench-ingest-'));
  const open = async (name: string): Promise<{ writer: SpanWriter; ownerId: string }> => {
    const file = join(directory, name);
    const store = await openStore({ file });
    const ownerId = await store.owners.ensure('bench');
    await store.close();
    return { writer: openSpanWriter({ file }), ownerId };
  };
  const [single, grouped] = [await open('single.db'), await open('grouped.db')];
  try {
    console.log(`node ${process.version}, ${cpus().length} x ${cpus()[0]?.model ?? 'unknown'}`);
    console.log('spans/request       1/transaction    64/transaction   ratio   (spans/s)');
    for (const size of SPANS_PER_REQUEST) {
      const requests = Math.ceil(REQUESTS_PER_MEASUREMENT / Math.sqrt(size));
      const rates: { slow: number; fast: number; ratio: number }[] = [];
      for (let round = 0; round < rounds; round += 1) {
        const make = (ownerId: string) =>
          Array.from({ length: requests }, () => newRequest(ownerId, size));
        const slow = await measureRate(single.writer, make(single.ownerId), 1);
        const fast = await measureRate(
          grouped.writer,
          make(grouped.ownerId),
          REQUESTS_PER_TRANSACTION,
        );
        rates.push({ slow, fast, ratio: fast / slow });
      }
      const columns = [
        String(size).padStart(15),
        median(rates.map(({ slow }) => slow))
          .toFixed(0)
          .padStart(20),
        median(rates.map(({ fast }) => fast))
          .toFixed(0)
          .padStart(18),
        median(rates.map(({ ratio }) => ratio))
          .toFixed(2)
          .padStart(7),
      ];
      console.log(columns.join(' '));
    }
  } finally {
    for (const { writer } of [single, grouped]) await writer.close();
    rmSync(directory, { recursive: true });
  }
}

function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN;
}

await run(Number(process.argv[2] ?? 9));
