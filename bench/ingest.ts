/**
 * How many spans a second the sink keeps, durably, when many requests share a transaction, beside
 * one transaction for each: `node bench/ingest.ts [rounds]`, half a minute by default.
 *
 * Both write to a file of their own beside each other, in turns, so that a disk that gets slower
 * meanwhile does so for both, and a file that grows does so for both. A span is of the size that
 * real ones have: 3.3 kB, most of it messages; each request opens a conversation and brings tags.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStore } from '../src/service/store/open-store.ts';
import { openSpanWriter } from '../src/service/store/span-writer.ts';
import type { SpanWriter } from '../src/service/store/span-writer.ts';
import type { NewSpan, TraceRequestRows } from '../src/service/store/store.ts';

const requestsOfShot = 512;
const requestsOfGroup = 64;
const spansOfRequest = [1, 10, 100];

let made = 0;

function newRequest(ownerId: string, size: number): TraceRequestRows {
  const nth = (made += 1);
  const conversationId = `conversation-${nth}`;
  const spans = Array.from({ length: size }, () => newSpan(conversationId));
  const tags = Array.from({ length: 8 }, (_, tag) => ({
    ...{ conversationId, key: `tag.${tag}`, value: `value ${(nth * (tag + 1)) % 997}` },
  }));
  return { ownerId, receivedAtMs: 1_795_176_000_000 + nth, spans, tags, logEntries: [] };
}

function newSpan(conversationId: string): NewSpan {
  const nth = (made += 1);
  // Spread like random ids, which is what costs an index most.
  const id = (BigInt(nth) * 0x9e37_79b9_7f4a_7c15n) & 0xffff_ffff_ffff_ffffn;
  const startNs = 1_795_176_000_000_000_000n + BigInt(nth);
  return {
    ...{ conversationId, traceId: id.toString(16).padStart(32, '0') },
    ...{ spanId: id.toString(16).padStart(16, '0'), parentSpanId: undefined },
    ...{ operation: 'chat', name: 'chat mini', startNs, endNs: startNs + 1n, failed: false },
    inputMessages: JSON.stringify([{ role: 'user', parts: [{ content: `${nth} `.repeat(330) }] }]),
    outputMessages: JSON.stringify([{ role: 'assistant', parts: [{ content: 'x'.repeat(700) }] }]),
    attributes: { 'gen_ai.request.model': 'mini', 'gen_ai.usage.input_tokens': nth % 5_000 },
  };
}

/** Spans a second that are kept when so many requests share a transaction. */
function shoot(
  sink: SpanWriter,
  requests: readonly TraceRequestRows[],
  perTransaction: number,
): number {
  const startedMs = performance.now();
  let kept = 0;
  for (let at = 0; at < requests.length; at += perTransaction) {
    for (const result of sink.insert(requests.slice(at, at + perTransaction))) {
      if (result instanceof Error) throw result;
      kept += result.inserted;
    }
  }
  return kept / ((performance.now() - startedMs) / 1_000);
}

async function run(rounds: number): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-ingest-'));
  const open = async (name: string): Promise<{ sink: SpanWriter; ownerId: string }> => {
    const file = join(folder, name);
    const store = await openStore({ file });
    const ownerId = await store.owners.ensure('bench');
    await store.close();
    return { sink: openSpanWriter({ file }), ownerId };
  };
  const [alone, grouped] = [await open('alone.db'), await open('grouped.db')];
  try {
    console.log(`node ${process.version}, ${cpus().length} x ${cpus()[0]?.model ?? 'unknown'}`);
    console.log('spans a request   a transaction each   64 a transaction   ratio   (spans/s)');
    for (const size of spansOfRequest) {
      const requests = Math.ceil(requestsOfShot / Math.sqrt(size));
      const rates = Array.from({ length: rounds }, () => {
        const make = (ownerId: string) =>
          Array.from({ length: requests }, () => newRequest(ownerId, size));
        const slow = shoot(alone.sink, make(alone.ownerId), 1);
        const fast = shoot(grouped.sink, make(grouped.ownerId), requestsOfGroup);
        return { slow, fast, ratio: fast / slow };
      });
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
    for (const { sink } of [alone, grouped]) sink.close();
    rmSync(folder, { recursive: true });
  }
}

function median(values: number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? NaN;
}

await run(Number(process.argv[2] ?? 9));
