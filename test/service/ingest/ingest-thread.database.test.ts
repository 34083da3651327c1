import { join } from 'node:path';
import { MessageChannel } from 'node:worker_threads';
import { once } from 'node:events';
import { gzipSync } from 'node:zlib';
import t, { type Test } from 'tap';
import { processTasks } from '../../../src/service/ingest/write-batches.ts';
import type {
  ResultMessage,
  TaskMessage,
  IngestTask,
} from '../../../src/service/ingest/thread-messages.ts';
import { decodeBody } from '../../../src/service/ingest/decode-body.ts';
import { openSpanWriter } from '../../../src/service/store/sqlite/span-writer.ts';
import {
  startIngestThread,
  type IngestThreadOptions,
} from '../../../src/service/ingest/ingest-thread.ts';
import { INGEST_BODY_BYTES_MAX } from '../../../src/contract/index.ts';
import { newSpans, NOON_MS, noonNs } from '../../support/database/rows.ts';
import { withFileStore, withStore } from '../../support/database/store.ts';
import { makeTraceRequest, makeSpan, makeHexId } from '../../support/traces/otlp.ts';

const faultyThread = new URL('../../support/crashes/faulty-ingest-thread.ts', import.meta.url);

async function withThread(t: Test, options: Partial<IngestThreadOptions> = {}) {
  const open = await withStore(t);
  const thread = await startIngestThread({ store: open.location, ...options });
  t.teardown(() => thread.close());
  const storedIds = async (conversationId = 'conversation-1'): Promise<string[]> =>
    (await open.store.conversations.listSpans(open.ownerId, conversationId)).map(
      (span) => span.spanId,
    );
  const write = (body: ArrayBuffer, changes: Partial<IngestTask> = {}) =>
    thread.write(newTask(open.ownerId, body, changes));
  return { ...open, thread, write, storedIds };
}

function newTask(
  ownerId: string,
  body: ArrayBuffer,
  changes: Partial<IngestTask> = {},
): IngestTask {
  return { ownerId, receivedAtMs: NOON_MS, contentType: 'json', gzip: false, body, ...changes };
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

void t.test('a stored request is durable and visible when its result arrives', async (t) => {
  const { write, storedIds } = await withThread(t);
  const body = bytesOf(request(1));
  t.match(await write(body), {
    kind: 'stored',
    result: { inserted: 1, repeated: 0, late: 0, rejected: 0 },
  });
  t.same(await storedIds(), [spanId(1)]);
  t.equal(body.byteLength, 0, 'the body was transferred, not copied');
  t.match(await write(bytesOf(request(1))), {
    kind: 'stored',
    result: { inserted: 0, repeated: 1 },
  });
});

void t.test('gzip bodies may have several members, and a protobuf body may be empty', async (t) => {
  const { write, storedIds } = await withThread(t);
  const text = Buffer.from(request(1));
  const members = [gzipSync(text.subarray(0, 99)), gzipSync(text.subarray(99))];
  t.match(await write(bytesOf(Buffer.concat(members)), { gzip: true }), { kind: 'stored' });
  t.same(await storedIds(), [spanId(1)]);
  t.match(await write(bytesOf(''), { contentType: 'protobuf' }), { kind: 'stored' });
});

void t.test('X-Conversation-Id applies to spans without a conversation id', async (t) => {
  const { write, storedIds } = await withThread(t);
  const body = bytesOf(request(1, { 'gen_ai.conversation.id': '' }));
  t.match(await write(body, { headerConversationId: 'from header' }), { kind: 'stored' });
  t.same(await storedIds('from header'), [spanId(1)]);
});

void t.test('the size limit applies to the decompressed body, exact to the byte', async (t) => {
  const { write } = await withThread(t);
  const padded = (length: number): ArrayBuffer => {
    const body = Buffer.alloc(length, ' ');
    body.write(request(1));
    return bytesOf(gzipSync(body));
  };
  t.match(await write(padded(INGEST_BODY_BYTES_MAX), { gzip: true }), { kind: 'stored' });
  t.match(await write(padded(INGEST_BODY_BYTES_MAX + 1), { gzip: true }), { kind: 'too_large' });
  const bomb = bytesOf(gzipSync(Buffer.alloc(20 * INGEST_BODY_BYTES_MAX)));
  t.match(await write(bomb, { gzip: true }), { kind: 'too_large' });
});

void t.test(
  'a body that does not match its headers is malformed, and the message does not quote it',
  async (t) => {
    const { write } = await withThread(t);
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
  },
);

void t.test(
  'a request without conversation ids is rejected, and the ingest log says why',
  async (t) => {
    const { write, store, ownerId, storedIds } = await withThread(t);
    const result = await write(bytesOf(request(1, { 'gen_ai.conversation.id': '' })));
    t.match(result, {
      kind: 'rejected',
      code: 'no_conversation_id',
      message: /1 to 1024 characters/,
    });
    t.same(await storedIds(), []);
    const codes = (await store.ingestLog.list(ownerId, 9)).map(({ code }) => code);
    t.ok(codes.includes('no_conversation_id'), codes.join());
  },
);

void t.test('a failing request does not fail others in its batch', async (t) => {
  const { write, storedIds } = await withThread(t, { threadUrl: faultyThread });
  const results = await Promise.all([
    write(bytesOf(request(1))),
    write(bytesOf('throw')),
    write(bytesOf('no JSON')),
    write(bytesOf(request(2)), { ownerId: 'nobody' }),
    write(bytesOf(request(3))),
  ]);
  t.same(
    results.map(({ kind }) => kind),
    ['stored', 'failed', 'malformed', 'failed', 'stored'],
  );
  t.match(results[1], { message: /^TypeError at .*faulty-ingest-thread/ });
  t.notMatch(JSON.stringify(results), /customer/, "a bug's message may quote a conversation");
  t.same(await storedIds(), [spanId(1), spanId(3)]);
});

void t.test(
  'when the thread dies, requests in flight fail and the next write starts a new thread',
  async (t) => {
    const { write, storedIds } = await withThread(t, { threadUrl: faultyThread });
    t.match(await write(bytesOf(request(1))), { kind: 'stored' });
    for (let restart = 0; restart < 3; restart += 1) {
      const bodies = ['exit', request(2), request(3)].map(bytesOf);
      const results = await Promise.all(bodies.map((body) => write(body)));
      t.match(results, Array(3).fill({ kind: 'failed', message: 'the ingest thread died' }));
    }
    t.same(await storedIds(), [spanId(1)]);
    t.match(await write(bytesOf(request(2))), { kind: 'stored' });
    t.same(await storedIds(), [spanId(1), spanId(2)]);
  },
);

void t.test('when a bug kills the thread, the message says where but quotes no data', async (t) => {
  const { write } = await withThread(t, { threadUrl: faultyThread });
  const result = await write(bytesOf(request(1)), { ownerId: 'throwing-writer' });
  t.match(result, {
    kind: 'failed',
    message: /^the ingest thread died: TypeError at .*faulty-ingest-thread/,
  });
  t.notMatch(JSON.stringify(result), /customer/);
});

void t.test('the bytes in flight are limited', async (t) => {
  const body = bytesOf(request(1));
  const { write } = await withThread(t, { bytesInFlightMax: 2 * body.byteLength });
  const results = await Promise.all([
    write(body),
    write(bytesOf(request(2))),
    write(bytesOf(request(3))),
  ]);
  t.same(
    results.map(({ kind }) => kind),
    ['stored', 'stored', 'busy'],
  );
  t.match(
    await write(bytesOf(request(3))),
    { kind: 'stored' },
    'finished requests free their bytes',
  );
});

void t.test('close finishes requests in flight, and later writes fail', async (t) => {
  const { write, thread, storedIds } = await withThread(t);
  const writing = Array.from({ length: 200 }, (_, nth) => write(bytesOf(request(nth + 1))));
  await Promise.all([thread.close(), thread.close()]);
  t.match(await Promise.all(writing), Array(200).fill({ kind: 'stored' }));
  t.equal((await storedIds()).length, 200);
  t.match(await write(bytesOf(request(999))), { kind: 'failed' });
});

void t.test('a thread that died can still be closed', async (t) => {
  const { write, thread } = await withThread(t, { threadUrl: faultyThread });
  const lost = write(bytesOf('exit'));
  await thread.close();
  t.match(await lost, { kind: 'failed' });
});

void t.test('starting fails if the file cannot be opened', async (t) => {
  const file = join(t.testdir(), 'no such directory', 'store.db');
  await t.rejects(startIngestThread({ store: { file } }), /no such file or directory/);
});

/** Runs the thread's loop on a channel, with a span writer that only records batch sizes. */
function withFakeWriter(t: Test, bytesPerTask: number) {
  const { port1, port2 } = new MessageChannel();
  t.teardown(() => port1.close());
  const sizes: number[] = [];
  const start = (): void =>
    processTasks({
      port: port2,
      decode:
        ({ ownerId }) =>
        () => ({ kind: 'read', rows: newSpans(ownerId, []), bytes: bytesPerTask }),
      spanWriter: {
        insert(requests) {
          sizes.push(requests.length);
          return Promise.resolve(
            requests.map(() => ({ inserted: 1, repeated: 0, late: 0, rejected: 0 })),
          );
        },
        findConversations: () => Promise.resolve(new Map()),
        countConnections: () => undefined,
        close: () => Promise.resolve(),
      },
    });
  const send = (count: number): void => {
    for (let id = 0; id < count; id += 1) {
      const task = newTask('o1', new ArrayBuffer(0));
      port1.postMessage({ id, task } satisfies TaskMessage);
    }
  };
  const receive = async (count: number): Promise<number[]> => {
    const ids: number[] = [];
    while (ids.length < count) {
      const [results] = (await once(port1, 'message')) as [ResultMessage[]];
      ids.push(...results.map(({ id }) => id));
    }
    return ids;
  };
  return { start, send, receive, sizes };
}

void t.test('waiting requests are written in one transaction, at most 64 at a time', async (t) => {
  const { start, send, receive, sizes } = withFakeWriter(t, 1_000);
  send(150);
  start();
  t.same(await receive(150), [...Array(150).keys()], 'in the order of arrival');
  t.same(sizes, [64, 64, 22]);
  send(1);
  await receive(1);
  t.same(sizes, [64, 64, 22, 1], 'a single request does not wait');
});

void t.test('the decompressed bytes of a transaction are limited', async (t) => {
  const { start, send, receive, sizes } = withFakeWriter(t, 10_000_000);
  send(5);
  start();
  await receive(5);
  t.same(sizes, [2, 2, 1]);
});

void t.test(
  'a batched request sees the traces of earlier requests, as if it were written alone',
  async (t) => {
    const { file, store, ownerId } = await withFileStore(t);
    const other = await store.owners.ensure('other');
    const opened = openSpanWriter({ file });
    const sizes: number[] = [];
    const insert: typeof opened.insert = (requests) => {
      sizes.push(requests.length);
      return opened.insert(requests);
    };
    const { port1, port2 } = new MessageChannel();
    t.teardown(() => port1.postMessage('close'));
    const traceId = makeHexId(32);
    const spanOf = (conversationId: string | null, trace = makeHexId(32)) =>
      makeSpan({ conversationId, traceId: trace });
    const bodies: [owner: string, ...spans: object[]][] = [
      [ownerId, spanOf('root', traceId)],
      [ownerId, spanOf('unrelated')],
      [other, spanOf('theirs'), spanOf(null, traceId)],
      [ownerId, spanOf('own'), spanOf(null, traceId)],
      [ownerId, spanOf('more')],
    ];
    for (const [id, [owner, ...spans]] of bodies.entries()) {
      const body = bytesOf(JSON.stringify(makeTraceRequest(spans as Record<string, unknown>[])));
      port1.postMessage({ id, task: newTask(owner, body) } satisfies TaskMessage);
    }
    let decoded = 0;
    const decode: typeof decodeBody = (task) => {
      decoded += 1;
      return decodeBody(task);
    };
    processTasks({ port: port2, decode, spanWriter: { ...opened, insert } });
    const results: ResultMessage[] = [];
    while (results.length < bodies.length) {
      results.push(...((await once(port1, 'message')) as [ResultMessage[]])[0]);
    }
    t.same(
      results.map(({ id, result }) => [id, result.kind]),
      bodies.map((_body, id) => [id, 'stored']),
    );
    t.equal((await store.conversations.listSpans(ownerId, 'root')).length, 2);
    const theirs = await store.conversations.listSpans(other, 'theirs');
    t.equal(theirs.length, 1, 'another owner does not see the trace');
    t.same(sizes, [3, 2], 'the traces are written before the lookup');
    t.equal(decoded, bodies.length, 'no body is decoded again after a lookup');
  },
);
