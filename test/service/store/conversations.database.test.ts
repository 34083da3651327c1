import {
  newCloseRequest,
  newEval,
  newOutcome,
  newSpan,
  newSpans,
  NOON_MS,
  noonNs,
} from '../../support/database/rows.ts';
import { testStore, withStore } from '../../support/database/store.ts';
import { formatMessages } from '../../support/traces/otlp.ts';

testStore('closing happens once and is atomic: state, run, session, and jobs', async (t) => {
  const { store, sink, ownerId } = await withStore(t);
  await sink.insert([newSpans(ownerId, [newSpan('1')])]);
  const requests = ['one', 'another'].map((sessionId, nth) =>
    newCloseRequest(ownerId, { sessionId, atMs: NOON_MS + 60_000 + nth }),
  );
  const results = await Promise.all(requests.map((each) => store.conversations.close(each)));
  // With PostgreSQL, either request may be the first.
  const first = results.findIndex((result) => result?.alreadyClosed === false);
  const run = 'Live traces 2026-11-20';
  t.same(results[first], { run, evaluationsQueued: 2, alreadyClosed: false, losses: [] });
  t.same(results[1 - first], { run, evaluationsQueued: 0, alreadyClosed: true });
  const [sessionId, otherId] = first === 0 ? ['one', 'another'] : ['another', 'one'];
  t.match(await store.conversations.find(ownerId, 'conversation-1'), {
    state: 'closed',
    closedAtMs: NOON_MS + 60_000 + first,
    run,
    sessionId,
  });
  t.match(await store.sessions.find(ownerId, sessionId), {
    kind: 'production',
    status: 'evaluating',
    run: { name: run },
    outcomes: [],
    startedAtMs: NOON_MS,
    endedAtMs: NOON_MS + 1_000,
    sourceSessionId: 'conversation-1',
  });
  t.equal(await store.sessions.find(ownerId, otherId), undefined);
  t.equal((await store.jobs.getBacklog()).count, 2);
});

testStore('several conversations are closed in one transaction, or none', async (t) => {
  const { store, sink, ownerId } = await withStore(t);
  const other = await store.owners.ensure('other');
  const dayNs = 24n * 3_600_000_000_000n;
  const message = (role: 'user' | 'assistant'): string =>
    formatMessages(role, `A ${role} who says heron.`);
  const spanOf = (conversationId: string, days: bigint) =>
    newSpan(conversationId, {
      conversationId,
      startNs: noonNs + days * dayNs,
      endNs: noonNs + days * dayNs + 1n,
      inputMessages: message('user'),
      ...(conversationId !== 'silent' && { outputMessages: message('assistant') }),
    });
  const spans = ['today', 'silent', 'closed'].map((id) => spanOf(id, 0n));
  await sink.insert([newSpans(ownerId, [...spans, spanOf('tomorrow', 1n)])]);
  await sink.insert([newSpans(ownerId, [spanOf('fresh', 0n)], { receivedAtMs: NOON_MS + 9_000 })]);
  await sink.insert([newSpans(other, [spanOf('foreign', 0n)])]);
  await store.conversations.close(newCloseRequest(ownerId, { conversationId: 'closed' }));
  const ids = ['tomorrow', 'today', 'silent', 'closed', 'fresh', 'foreign', 'unknown'];
  const close = (toSessionId: (id: string) => string) =>
    store.conversations.closeAll({
      ...newCloseRequest(ownerId, { idleBeforeMs: NOON_MS + 9_000 }),
      conversations: ids.map((id) => ({ conversationId: id, sessionId: toSessionId(id) })),
    });
  const taken = (id: string) => (id === 'silent' ? 'session of closed' : `session of ${id}`);
  await t.rejects(close(taken), /session of closed is already in use/);
  t.equal((await store.conversations.find(ownerId, 'today'))?.state, 'open');
  const [run, next] = ['Live traces 2026-11-20', 'Live traces 2026-11-21'];
  const result = { run, evaluationsQueued: 2, alreadyClosed: false, losses: [] };
  const silent = [{ kind: 'turn_without_agent_text' as const, sequence: 1 }];
  t.same([...(await close((id) => `session of ${id}`))].toSorted(), [
    ['closed', { run, evaluationsQueued: 0, alreadyClosed: true }],
    ['silent', { ...result, losses: silent }],
    ['today', result],
    ['tomorrow', { ...result, run: next }],
  ]);
  for (const id of ['today', 'silent', 'tomorrow']) {
    const conversation = { state: 'closed', sessionId: `session of ${id}` };
    t.match(await store.conversations.find(ownerId, id), conversation);
    t.match(await store.sessions.find(ownerId, `session of ${id}`), { sourceSessionId: id });
  }
  t.equal((await store.conversations.find(ownerId, 'fresh'))?.state, 'open');
  t.equal((await store.conversations.find(other, 'foreign'))?.state, 'open');
  t.equal((await store.jobs.getBacklog()).count, 8);
  const filter = { ownerId, kind: 'production', failedOnly: false, skip: 0, limit: 9 } as const;
  const jobs = await store.jobs.take('worker', NOON_MS * 2, 1_000, 9);
  const finished = jobs.map((job) => ({ job, outcome: newOutcome(job.definition.id) }));
  await store.jobs.finishAll('worker', finished, NOON_MS);
  const { sessions } = await store.sessions.listPage({ ...filter, text: 'heron' });
  t.equal(sessions.length, 4, 'a search finds them by their texts');
});

testStore('a failed close leaves the conversation open', async (t) => {
  const { store, sink, ownerId } = await withStore(t);
  await sink.insert([
    newSpans(ownerId, [newSpan('1'), newSpan('2', { conversationId: 'conversation-2' })]),
  ]);
  const sessionId = 'the same';
  await store.conversations.close(newCloseRequest(ownerId, { sessionId }));
  const second = newCloseRequest(ownerId, { conversationId: 'conversation-2', sessionId });
  await t.rejects(store.conversations.close(second), /the same is already in use/);
  t.equal((await store.conversations.find(ownerId, 'conversation-2'))?.state, 'open');
  t.equal((await store.jobs.getBacklog()).count, 2);
});

testStore("An unknown conversation and another owner's conversation are not closed", async (t) => {
  const { store, sink, ownerId } = await withStore(t);
  const other = await store.owners.ensure('other');
  await sink.insert([newSpans(ownerId, [newSpan('1')])]);
  t.equal(await store.conversations.close(newCloseRequest(other)), undefined);
  const unknown = newCloseRequest(ownerId, { conversationId: 'unknown' });
  t.equal(await store.conversations.close(unknown), undefined);
  t.equal((await store.conversations.find(ownerId, 'conversation-1'))?.state, 'open');
});

testStore(
  'without evals, a conversation is closed, joins its run, and stays unscored and unlisted',
  async (t) => {
    const { store, sink, ownerId } = await withStore(t);
    await sink.insert([newSpans(ownerId, [newSpan('1')])]);
    const closed = await store.conversations.close(newCloseRequest(ownerId, { evals: [] }));
    t.match(closed, { run: 'Live traces 2026-11-20', evaluationsQueued: 0, alreadyClosed: false });
    t.equal(await store.sessions.find(ownerId, 'session of conversation-1'), undefined);
    t.same(await store.conversations.listUnscored(ownerId, 9), ['conversation-1']);
  },
);

testStore('an eval named twice is queued once', async (t) => {
  const { store, sink, ownerId } = await withStore(t);
  await sink.insert([newSpans(ownerId, [newSpan('1')])]);
  const evals = [newEval('a'), newEval('b'), newEval('a')];
  t.match(await store.conversations.close(newCloseRequest(ownerId, { evals })), {
    evaluationsQueued: 2,
  });
});

testStore(
  'the backlog can be scored later, and each conversation joins the run of its date',
  async (t) => {
    const { store, sink, ownerId } = await withStore(t);
    const dayNs = 86_400_000_000_000n;
    const ids = ['today', 'yesterday', 'before midnight'];
    const starts = [noonNs, noonNs - dayNs, noonNs + dayNs / 2n - 1n];
    for (const [nth, conversationId] of ids.entries()) {
      const startNs = starts[nth] ?? 0n;
      const span = newSpan(conversationId, { conversationId, startNs, endNs: startNs });
      await sink.insert([newSpans(ownerId, [span])]);
      const atMs = NOON_MS + nth;
      await store.conversations.close(
        newCloseRequest(ownerId, { conversationId, evals: [], atMs }),
      );
    }
    t.same(
      await store.conversations.listUnscored(ownerId, 2),
      ['today', 'yesterday'],
      'oldest first',
    );
    const results = [];
    for (const conversationId of ids) {
      results.push(
        await store.conversations.queueScoring(newCloseRequest(ownerId, { conversationId })),
      );
    }
    t.same(results, [
      { run: 'Live traces 2026-11-20', queued: 2 },
      { run: 'Live traces 2026-11-19', queued: 2 },
      { run: 'Live traces 2026-11-20', queued: 2 },
    ]);
    t.same(await store.conversations.listUnscored(ownerId, 9), []);
    t.equal(await store.conversations.queueScoring(newCloseRequest(ownerId)), undefined, 'unknown');
    const again = newCloseRequest(ownerId, { conversationId: 'today', sessionId: 'x' });
    t.equal(await store.conversations.queueScoring(again), undefined, 'already scored');
    t.equal((await store.jobs.getBacklog()).count, 6);
  },
);

testStore('an open conversation is not scored', async (t) => {
  const { store, sink, ownerId } = await withStore(t);
  await sink.insert([newSpans(ownerId, [newSpan('1')])]);
  t.same(await store.conversations.listUnscored(ownerId, 9), []);
  t.equal(await store.conversations.queueScoring(newCloseRequest(ownerId)), undefined);
});

testStore(
  'spans after the close are stored as late and do not change the conversation',
  async (t) => {
    const { store, sink, ownerId } = await withStore(t);
    await sink.insert([newSpans(ownerId, [newSpan('1')])]);
    await store.conversations.close(newCloseRequest(ownerId));
    const before = await store.conversations.find(ownerId, 'conversation-1');
    const late = newSpan('2', { startNs: noonNs - 5n, endNs: noonNs + 2n ** 50n });
    const [result] = await sink.insert([
      newSpans(ownerId, [late, newSpan('1')], { receivedAtMs: NOON_MS * 2 }),
    ]);
    t.same(result, { inserted: 1, repeated: 1, late: 1, rejected: 0 });
    t.same(await store.conversations.find(ownerId, 'conversation-1'), { ...before, spanCount: 2 });
    const spans = await store.conversations.listSpans(ownerId, 'conversation-1');
    t.same(
      spans.map((span) => [span.spanId, span.late]),
      [
        ['span-2', true],
        ['span-1', false],
      ],
    );
    const codes = (await store.ingestLog.list(ownerId, 9)).map(({ code }) => code);
    t.same(codes.toSorted(), ['late_spans', 'repeated_spans']);
  },
);

testStore('idle conversations are listed oldest first, without closed ones', async (t) => {
  const { store, sink, ownerId } = await withStore(t);
  const other = await store.owners.ensure('other');
  const insertSpan = (owner: string, conversationId: string, receivedAtMs: number) =>
    sink.insert([newSpans(owner, [newSpan(conversationId, { conversationId })], { receivedAtMs })]);
  await insertSpan(ownerId, 'second', 20);
  await insertSpan(other, 'first', 10);
  await insertSpan(ownerId, 'closed', 5);
  await insertSpan(ownerId, 'third', 30);
  await store.conversations.close(newCloseRequest(ownerId, { conversationId: 'closed' }));
  const listIdleIds = async (ms: number, limit = 9): Promise<string[]> =>
    (await store.conversations.listIdle(ms, limit)).map(({ conversationId }) => conversationId);
  t.same(await listIdleIds(30), ['first', 'second'], 'the bound is exclusive');
  t.same(await listIdleIds(31, 1), ['first']);
  t.same(await store.conversations.listIdle(11, 9), [{ ownerId: other, conversationId: 'first' }]);
});

testStore(
  'a conversation that receives a span in the meantime is not closed as idle',
  async (t) => {
    const { store, sink, ownerId } = await withStore(t);
    await sink.insert([newSpans(ownerId, [newSpan('1')], { receivedAtMs: 100 })]);
    const close = (idleBeforeMs: number) =>
      store.conversations.close(newCloseRequest(ownerId, { idleBeforeMs }));
    t.equal(await close(100), undefined);
    t.equal((await store.conversations.find(ownerId, 'conversation-1'))?.state, 'open');
    t.match(await close(101), { alreadyClosed: false });
    t.match(await close(1), { alreadyClosed: true });
  },
);

testStore('open and unscored conversations are listed, newest first', async (t) => {
  const { store, sink, ownerId } = await withStore(t);
  const other = await store.owners.ensure('other');
  for (const [nth, id] of ['one', 'two', 'three', 'four'].entries()) {
    const spans = [`${id}-a`, `${id}-b`].map((name) => newSpan(name, { conversationId: id }));
    const tags = [{ conversationId: id, key: 'tier', value: id }];
    await sink.insert([newSpans(ownerId, spans, { tags, receivedAtMs: NOON_MS + nth })]);
  }
  await sink.insert([newSpans(other, [newSpan('foreign')])]);
  const unscored = { conversationId: 'two', evals: [] };
  await store.conversations.close(newCloseRequest(ownerId, unscored));
  await store.conversations.close(newCloseRequest(ownerId, { conversationId: 'three' }));
  const list = (state: 'open' | 'unscored', skip = 0) =>
    store.conversations.listWaiting(ownerId, state, { skip, limit: 1 });
  t.match(await list('open'), {
    total: 2,
    conversations: [
      {
        conversationId: 'four',
        spans: 2,
        lastReceivedAtMs: NOON_MS + 3,
        tags: [{ key: 'tier', value: 'four' }],
      },
    ],
  });
  t.match(await list('open', 1), { total: 2, conversations: [{ conversationId: 'one' }] });
  t.match(await list('unscored'), {
    total: 1,
    conversations: [{ conversationId: 'two', closedAtMs: NOON_MS + 60_000 }],
  });
});
