/** Sessions that are read together for scoring are the same as those that are read alone. */
import type { ScoredSession } from '../../../src/service/sessions/scored-session.ts';
import {
  findScoredSession,
  readScoredSessions,
} from '../../../src/service/sessions/transcripts.ts';
import type { NewSpan, Store, TraceRequestRows } from '../../../src/service/store/store.ts';
import type { SpanWriter } from '../../../src/service/store/span-writer.ts';
import {
  newCloseRequest,
  newSession,
  newSpan,
  newSpans,
  NOON_MS,
  noonNs,
} from '../../support/database/rows.ts';
import { testStore, withStore } from '../../support/database/store.ts';
import { formatMessages } from '../../support/traces/otlp.ts';

/** Returns spans of a conversation, each a turn that says its number. */
const spansOf = (conversationId: string, count: number, reply = 'Hello'): NewSpan[] =>
  Array.from({ length: count }, (_, nth) =>
    newSpan(`${conversationId}-${nth}`, {
      conversationId,
      startNs: noonNs + BigInt(nth) * 1_000_000n,
      inputMessages: formatMessages('user', `${conversationId} asks ${nth}`),
      outputMessages: formatMessages('assistant', `${reply} ${nth}`),
    }),
  );

/** Puts the second span inside the first one by an ignored span; it begins after the end of the first. */
const nestByLink = (spans: readonly NewSpan[], traceId: string): NewSpan[] =>
  spans.map((span, nth) => ({
    ...span,
    traceId,
    ...(nth === 0
      ? { operation: 'invoke_agent', endNs: span.startNs }
      : { parentSpanId: 'ignored', startNs: span.endNs }),
  }));

interface Added {
  store: Store;
  sink: SpanWriter;
  ownerId: string;
}

/** Stores and closes a conversation, and returns the id of the session that scores it. */
async function close(
  { store, sink, ownerId }: Added,
  spans: readonly NewSpan[],
  changes: Partial<TraceRequestRows> = {},
): Promise<string> {
  const conversationId = spans[0]?.conversationId ?? '';
  await sink.insert([newSpans(ownerId, spans, changes)]);
  const sessionId = `session of ${conversationId}`;
  await store.conversations.close(newCloseRequest(ownerId, { conversationId, sessionId }));
  return sessionId;
}

async function readAll(
  { store, ownerId }: Pick<Added, 'store' | 'ownerId'>,
  ids: readonly string[],
): Promise<{ groups: number; sessions: ScoredSession[] }> {
  const groups: ScoredSession[][] = [];
  for await (const group of readScoredSessions(store, ownerId, ids)) groups.push(group);
  return { groups: groups.length, sessions: groups.flat() };
}

testStore(
  'small conversations are read together, with tags, links, and no late spans',
  async (t) => {
    const added = await withStore(t);
    const { store, sink, ownerId } = added;
    const tagged = spansOf('tagged', 2);
    const tags = ['b', 'a'].map((value) => ({ conversationId: 'tagged', key: 'plan', value }));
    const linked = nestByLink(spansOf('linked', 2), 'shared');
    const links = [{ traceId: 'shared', spanId: 'ignored', parentSpanId: linked[0]?.spanId ?? '' }];
    const ids = [
      await close(added, tagged, { tags }),
      await close(added, linked, { links }),
      await close(added, spansOf('late', 3)),
    ];
    const late = newSpan('later', {
      conversationId: 'late',
      inputMessages: formatMessages('user', 'Late'),
    });
    await sink.insert([newSpans(ownerId, [late])]);
    const { sessions } = await readAll(added, ids);
    t.equal(sessions.length, 3);
    for (const session of sessions) {
      t.same(session, await findScoredSession(store, ownerId, session.sessionId));
    }
    const byId = new Map(sessions.map((session) => [session.sourceSessionId, session]));
    t.same(byId.get('tagged')?.metadata, { plan: ['a', 'b'] });
    t.equal(byId.get('linked')?.turns.length, 1);
    t.equal(byId.get('late')?.turns.length, 3);
  },
);

testStore(
  'sessions that are large, have more than spans, or lost them, are left out',
  async (t) => {
    const added = await withStore(t);
    const { store, ownerId } = added;
    const removed = await close(added, spansOf('removed', 1));
    const laterMs = NOON_MS + 24 * 3_600_000;
    const removal = { receivedBeforeMs: laterMs, atMs: laterMs };
    while (await store.retention.removeSpans(ownerId, removal));
    const later = { receivedAtMs: laterMs };
    const many = await close(added, spansOf('many', 201), later);
    const long = await close(added, spansOf('long', 1, 'x'.repeat(100_000)), later);
    const small = await close(added, spansOf('small', 1), later);
    const replaced = await close(added, spansOf('replaced', 1), later);
    const turn = { sequence: 1, userInput: 'Uploaded', userReason: undefined, agentResponse: 'Hi' };
    const uploaded = {
      sourceSessionId: 'replaced',
      turns: [{ ...turn, evaluationMetadata: undefined }],
    };
    await store.sessions.add(newSession(ownerId, replaced, uploaded));
    const ids = [small, many, long, replaced, removed, 'unknown'];
    const { sessions } = await readAll(added, ids);
    t.match(sessions, [{ sessionId: small }]);
    t.equal(sessions.length, 1);
    const other = await store.owners.ensure('other');
    t.same((await readAll({ store, ownerId: other }, ids)).sessions, [], 'those of other owners');
  },
);

testStore('one with very many ignored spans does not take those of another', async (t) => {
  const added = await withStore(t);
  const noisy = spansOf('noisy', 1);
  const ignored = Array.from({ length: 100_000 }, (_, nth) => ({
    traceId: noisy[0]?.traceId ?? '',
    spanId: `ignored-${nth}`,
    parentSpanId: 'none',
  }));
  const quiet = nestByLink(spansOf('quiet', 2), 'quiet');
  const links = [{ traceId: 'quiet', spanId: 'ignored', parentSpanId: quiet[0]?.spanId ?? '' }];
  const ids = [await close(added, noisy, { links: ignored }), await close(added, quiet, { links })];
  const { sessions } = await readAll(added, ids);
  t.match(sessions, [{ sourceSessionId: 'quiet', turns: { length: 1 } }]);
  t.equal(sessions.length, 1, 'the noisy one is read alone');
});

testStore('groups are limited by spans and by bytes', async (t) => {
  const added = await withStore(t);
  const many = [];
  for (let nth = 0; nth < 6; nth += 1) many.push(await close(added, spansOf(`many-${nth}`, 190)));
  t.match(await readAll(added, many), { groups: 3, sessions: { length: 6 } });
  const long = [];
  for (let nth = 0; nth < 24; nth += 1) {
    long.push(await close(added, spansOf(`long-${nth}`, 1, 'x'.repeat(80_000))));
  }
  t.match(await readAll(added, long), { groups: 2, sessions: { length: 24 } });
});
