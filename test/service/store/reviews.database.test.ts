import { newSession } from '../../support/database/rows.ts';
import { testStore, withStore } from '../../support/database/store.ts';

const REVIEWED = { id: 'way', name: 'On its way' };
const OUTCOME = {
  evalId: 'way',
  evalName: 'On its way',
  evalVersion: 'v1',
  category: 'general',
  type: 'session_level',
  outcome: 'fail' as const,
  required: true,
  reasoning: 'It is not.',
};

testStore('reviews belong to a session, an eval, and an owner', async (t) => {
  const { store, ownerId } = await withStore(t);
  const other = await store.owners.ensure('other');
  const { reviews } = store;
  for (const owner of [ownerId, other]) {
    const named = { ...OUTCOME, evalId: 'On its way', evalVersion: '', outcome: 'pass' as const };
    await store.sessions.add(newSession(owner, `${owner}-1`, { outcomes: [OUTCOME] }));
    await store.sessions.add(newSession(owner, `${owner}-2`, { outcomes: [named] }));
  }
  const review = { evalId: 'way', mark: 'wrong', note: 'Nul \0 “ü”', atMs: 5 } as const;
  t.equal(await reviews.put(other, `${ownerId}-1`, review), false, 'not that of another owner');
  t.equal(await reviews.put(ownerId, `${ownerId}-1`, { ...review, mark: 'right' }), true);
  t.equal(await reviews.put(ownerId, `${ownerId}-1`, review), true, 'replaced');
  const seeded = { ...review, evalId: 'On its way', mark: 'right', note: '', atMs: 6 } as const;
  t.equal(await reviews.put(ownerId, `${ownerId}-2`, seeded), true);
  t.match(await reviews.listOfSession(ownerId, `${ownerId}-1`), [
    { evalId: 'way', mark: 'wrong', note: /“ü”/, atMs: 5 },
  ]);
  t.same(await reviews.listOfSession(other, `${ownerId}-1`), []);
  t.same([...(await reviews.count({ ownerId, ...REVIEWED }))].sort(), [
    ['', { pass: { right: 1, wrong: 0 }, fail: { right: 0, wrong: 0 } }],
    ['v1', { pass: { right: 0, wrong: 0 }, fail: { right: 0, wrong: 1 } }],
  ]);
  t.equal((await reviews.count({ ownerId: other, ...REVIEWED })).size, 0);
  const all = await reviews.list({ ownerId, ...REVIEWED }, { limit: 9 });
  t.same(
    all.map(({ session, outcome, evalVersion }) => [session.id, outcome, evalVersion]),
    [
      [`${ownerId}-2`, 'pass', undefined],
      [`${ownerId}-1`, 'fail', 'v1'],
    ],
  );
  t.match(await reviews.list({ ownerId, ...REVIEWED }, { limit: 9, isWrong: true }), {
    length: 1,
    0: { mark: 'wrong' },
  });
  await reviews.remove(other, `${ownerId}-1`, 'way');
  t.equal((await reviews.listOfSession(ownerId, `${ownerId}-1`)).length, 1);
  await reviews.remove(ownerId, `${ownerId}-1`, 'way');
  t.same(await reviews.listOfSession(ownerId, `${ownerId}-1`), []);
  await store.sessions.add(newSession(ownerId, `${ownerId}-2`, { outcomes: [OUTCOME] }));
  t.same(await reviews.listOfSession(ownerId, `${ownerId}-2`), [], 'a replaced session has none');
});
