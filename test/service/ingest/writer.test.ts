import { join } from 'node:path';
import { MessageChannel } from 'node:worker_threads';
import { once } from 'node:events';
import { gzipSync } from 'node:zlib';
import t, { type Test } from 'tap';
import { writeBatches } from '../../../src/service/ingest/write-batches.ts';
import type {
  ResultMessage,
  TaskMessage,
  IngestTask,
} from '../../../src/service/ingest/thread-messages.ts';
import { decodeBody } from '../../../src/service/ingest/decode-body.ts';
import { openSpanWriter } from '../../../src/service/store/span-writer.ts';
import {
  startIngestThread,
  type IngestThreadOptions,
} from '../../../src/service/ingest/ingest-thread.ts';
import { ingestBodyBytesMax } from '../../../src/contract/index.ts';
import { aRequest, aSpan, hexId } from '../../helpers/otlp.ts';
import { newSpans, noonMs, noonNs, withStore } from '../../helpers/store.ts';

const oddThread = new URL('../../helpers/odd-writer-thread.ts', import.meta.url);

async function withWriter(t: Test, options: Partial<IngestThreadOptions> = {}) {
  const open = await withStore(t);
  const writer = await startIngestThread({ file: open.file, ...options });
  t.teardown(() => writer.close());
  const keptIds = async (conversationId = 'conversation-1'): Promise<string[]> =>
    (await open.store.conversations.listSpans(open.ownerId, conversationId)).map(
      (span) => span.spanId,
    );
  const write = (body: ArrayBuffer, changes: Partial<IngestTask> = {}) =>
    writer.write(newJob(open.ownerId, body, changes));
  return { ...open, writer, write, keptIds };
}

function newJob(ownerId: string, body: ArrayBuffer, changes: Partial<IngestTask> = {}): IngestTask {
  return { ownerId, receivedAtMs: noonMs, contentType: 'json', gzip: false, body, ...changes };
}

function bytesOf(content: string | Uint8Array): ArrayBuffer {
  return new Uint8Array(typeof content === 'string' ? Buffer.from(content) : content).buffer;
}

const spanId = (nth: number): string => String(nth).padStart(16, '0');

/** A request with one chat span of `conversation-1`. */
function request(nth: number, attributes: Record<string, string> = {}): string {
  const all = {
    'gen_ai.operation.name': 'chat',
    'gen_ai.conversation.id': 'conversation-1',
    ...attributes,
  };
  const span = {
    traceId: String(nth).padStart(32, '0'),
    spanId: spanId(nth),
    name: 'chat',
    startTimeUnixNano: String(noonNs),
    endTimeUnixNano: String(noonNs),
    attributes: Object.entries(all).map(([key, stringValue]) => ({ key, value: { stringValue } })),
  };
  return JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans: [span] }] }] });
}

void t.test('a kept request is durable and visible when it is answered', async (t) => {
  const { write, keptIds } = await withWriter(t);
  const body = bytesOf(request(1));
  t.match(await write(body), { kind: 'kept', kept: { inserted: 1, repeated: 0, late: 0 } });
  t.same(await keptIds(), [spanId(1)]);
  t.equal(body.byteLength, 0, 'the body was handed over, not copied');
  t.match(await write(bytesOf(request(1))), { kind: 'kept', kept: { inserted: 0, repeated: 1 } });
});

void t.test(
  'gzip is inflated, in several members, too; a protobuf body may be empty',
  async (t) => {
    const { write, keptIds } = await withWriter(t);
    const text = Buffer.from(request(1));
    const members = [gzipSync(text.subarray(0, 99)), gzipSync(text.subarray(99))];
    t.match(await write(bytesOf(Buffer.concat(members)), { gzip: true }), { kind: 'kept' });
    t.same(await keptIds(), [spanId(1)]);
    t.match(await write(bytesOf(''), { contentType: 'protobuf' }), { kind: 'kept' });
  },
);

void t.test('X-Conversation-Id holds for spans without an id', async (t) => {
  const { write, keptIds } = await withWriter(t);
  const body = bytesOf(request(1, { 'gen_ai.conversation.id': '' }));
  t.match(await write(body, { headerConversationId: 'from header' }), { kind: 'kept' });
  t.same(await keptIds('from header'), [spanId(1)]);
});

void t.test('the limit holds once inflated, to the byte', async (t) => {
  const { write } = await withWriter(t);
  const padded = (length: number): ArrayBuffer => {
    const body = Buffer.alloc(length, ' ');
    body.write(request(1));
    return bytesOf(gzipSync(body));
  };
  t.match(await write(padded(ingestBodyBytesMax), { gzip: true }), { kind: 'kept' });
  t.match(await write(padded(ingestBodyBytesMax + 1), { gzip: true }), { kind: 'too_large' });
  const bomb = bytesOf(gzipSync(Buffer.alloc(20 * ingestBodyBytesMax)));
  t.match(await write(bomb, { gzip: true }), { kind: 'too_large' });
});

void t.test('a body that is not what it says is malformed, and is not quoted', async (t) => {
  const { write } = await withWriter(t);
  const gzipped = gzipSync(request(1));
  const bodies: [string, string | Uint8Array, Partial<IngestTask>][] = [
    ['not JSON', 'secret words', {}],
    ['cut JSON', '{"secret words', {}],
    ['empty JSON', '', {}],
    ['not UTF-8', Buffer.from([0x22, 0xff, 0x22]), {}],
    ['no object', '["secret words"]', {}],
    ['not gzip', 'secret words', { gzip: true }],
    ['cut gzip', gzipped.subarray(0, -9), { gzip: true }],
    ['gzip and more', Buffer.concat([gzipped, Buffer.from('secret')]), { gzip: true }],
    ['empty gzip', '', { gzip: true }],
    ['not protobuf', 'secret words', { contentType: 'protobuf' }],
  ];
  for (const [title, body, changes] of bodies) {
    const result = await write(bytesOf(body), changes);
    t.match(result, { kind: 'malformed', message: /./ }, title);
    t.notMatch(JSON.stringify(result), /secret/, title);
  }
});

void t.test('a request without conversation ids is refused, and the log says why', async (t) => {
  const { write, store, ownerId, keptIds } = await withWriter(t);
  const result = await write(bytesOf(request(1, { 'gen_ai.conversation.id': '' })));
  t.match(result, { kind: 'refused', code: 'no_conversation_id', message: /1 to 1024 characters/ });
  t.same(await keptIds(), []);
  const codes = (await store.ingestLog.list(ownerId, 9)).map(({ code }) => code);
  t.ok(codes.includes('no_conversation_id'), codes.join());
});

void t.test('one bad request fails none of its neighbours', async (t) => {
  const { write, keptIds } = await withWriter(t, { threadUrl: oddThread });
  const results = await Promise.all([
    write(bytesOf(request(1))),
    write(bytesOf('stumble')),
    write(bytesOf('no JSON')),
    write(bytesOf(request(2)), { ownerId: 'nobody' }),
    write(bytesOf(request(3))),
  ]);
  t.same(
    results.map(({ kind }) => kind),
    ['kept', 'failed', 'malformed', 'failed', 'kept'],
  );
  t.match(results[1], { message: /^TypeError at .*odd-writer-thread/ });
  t.notMatch(JSON.stringify(results), /customer/, "a bug's message may quote a conversation");
  t.same(await keptIds(), [spanId(1), spanId(3)]);
});

void t.test('a thread that dies fails what it holds; the next write starts another', async (t) => {
  const { write, keptIds } = await withWriter(t, { threadUrl: oddThread });
  t.match(await write(bytesOf(request(1))), { kind: 'kept' });
  for (let death = 0; death < 3; death += 1) {
    const bodies = ['die', request(2), request(3)].map(bytesOf);
    const results = await Promise.all(bodies.map((body) => write(body)));
    t.match(results, Array(3).fill({ kind: 'failed', message: 'the writer died' }));
  }
  t.same(await keptIds(), [spanId(1)]);
  t.match(await write(bytesOf(request(2))), { kind: 'kept' });
  t.same(await keptIds(), [spanId(1), spanId(2)]);
});

void t.test('a thread that dies of a bug says where, and quotes nobody', async (t) => {
  const { write } = await withWriter(t, { threadUrl: oddThread });
  const result = await write(bytesOf(request(1)), { ownerId: 'burst' });
  t.match(result, { kind: 'failed', message: /^the writer died: TypeError at .*odd-writer/ });
  t.notMatch(JSON.stringify(result), /customer/);
});

void t.test('what is in flight is bounded by bytes', async (t) => {
  const body = bytesOf(request(1));
  const { write } = await withWriter(t, { bytesInFlightMax: 2 * body.byteLength });
  const results = await Promise.all([
    write(body),
    write(bytesOf(request(2))),
    write(bytesOf(request(3))),
  ]);
  t.same(
    results.map(({ kind }) => kind),
    ['kept', 'kept', 'busy'],
  );
  t.match(await write(bytesOf(request(3))), { kind: 'kept' }, 'answered ones make room');
});

void t.test('closing finishes what was taken, and takes no more', async (t) => {
  const { write, writer, keptIds } = await withWriter(t);
  const writing = Array.from({ length: 200 }, (_, nth) => write(bytesOf(request(nth + 1))));
  await Promise.all([writer.close(), writer.close()]);
  t.match(await Promise.all(writing), Array(200).fill({ kind: 'kept' }));
  t.equal((await keptIds()).length, 200);
  t.match(await write(bytesOf(request(999))), { kind: 'failed' });
});

void t.test('a writer that died for good can still be closed', async (t) => {
  const { write, writer } = await withWriter(t, { threadUrl: oddThread });
  const dying = write(bytesOf('die'));
  await writer.close();
  t.match(await dying, { kind: 'failed' });
});

void t.test('a writer does not start without a file that it can open', async (t) => {
  const file = join(t.testdir(), 'no such folder', 'store.db');
  await t.rejects(startIngestThread({ file }), /no such file or directory/);
});

/** The thread's side on a channel, with a sink that only remembers the sizes of its groups. */
function withGroups(t: Test, bytesOfEach: number) {
  const { port1, port2 } = new MessageChannel();
  t.teardown(() => port1.close());
  const sizes: number[] = [];
  const start = (): void =>
    writeBatches({
      port: port2,
      decode: ({ ownerId }) => ({
        ...{ kind: 'read', toKeep: newSpans(ownerId, []), bytes: bytesOfEach },
      }),
      spanWriter: {
        insert(requests) {
          sizes.push(requests.length);
          return requests.map(() => ({ inserted: 1, repeated: 0, late: 0 }));
        },
        findConversations: () => new Map(),
        close() {},
      },
    });
  const send = (count: number): void => {
    for (let id = 0; id < count; id += 1) {
      const job = newJob('o1', new ArrayBuffer(0));
      port1.postMessage({ id, job } satisfies TaskMessage);
    }
  };
  const answered = async (count: number): Promise<number[]> => {
    const ids: number[] = [];
    while (ids.length < count) {
      const [answers] = (await once(port1, 'message')) as [ResultMessage[]];
      ids.push(...answers.map(({ id }) => id));
    }
    return ids;
  };
  return { start, send, answered, sizes };
}

void t.test('whatever waits is written in one transaction, 64 requests at most', async (t) => {
  const { start, send, answered, sizes } = withGroups(t, 1_000);
  send(150);
  start();
  t.same(await answered(150), [...Array(150).keys()], 'in the order in which they came');
  t.same(sizes, [64, 64, 22]);
  send(1);
  await answered(1);
  t.same(sizes, [64, 64, 22, 1], 'a lone one waits for nobody');
});

void t.test('a transaction is bounded by inflated bytes, too', async (t) => {
  const { start, send, answered, sizes } = withGroups(t, 10_000_000);
  send(5);
  start();
  await answered(5);
  t.same(sizes, [2, 2, 1]);
});

void t.test('what waits sees the traces of those before it, as if each came alone', async (t) => {
  const { file, store, ownerId } = await withStore(t);
  const other = await store.owners.ensure('other');
  const opened = openSpanWriter({ file });
  const sizes: number[] = [];
  const insert: typeof opened.insert = (requests) => {
    sizes.push(requests.length);
    return opened.insert(requests);
  };
  const { port1, port2 } = new MessageChannel();
  t.teardown(() => port1.postMessage('close'));
  const traceId = hexId(32);
  const of = (conversationId: string | null, trace = hexId(32)) =>
    aSpan({ conversationId, traceId: trace });
  const bodies: [owner: string, ...spans: object[]][] = [
    [ownerId, of('root', traceId)],
    [ownerId, of('beside')],
    [other, of('theirs'), of(null, traceId)],
    [ownerId, of('own'), of(null, traceId)],
    [ownerId, of('more')],
  ];
  for (const [id, [owner, ...spans]] of bodies.entries()) {
    const body = bytesOf(JSON.stringify(aRequest(spans as Record<string, unknown>[])));
    port1.postMessage({ id, job: newJob(owner, body) } satisfies TaskMessage);
  }
  writeBatches({ port: port2, decode: decodeBody, spanWriter: { ...opened, insert } });
  const answers: ResultMessage[] = [];
  while (answers.length < bodies.length) {
    answers.push(...((await once(port1, 'message')) as [ResultMessage[]])[0]);
  }
  t.same(
    answers.map(({ id, result }) => [id, result.kind]),
    bodies.map((_body, id) => [id, 'kept']),
  );
  t.equal((await store.conversations.listSpans(ownerId, 'root')).length, 2);
  const theirs = await store.conversations.listSpans(other, 'theirs');
  t.equal(theirs.length, 1, 'another owner sees none');
  t.same(sizes, [3, 2], 'what is looked up is written first');
});
