import t from 'tap';
import { connect } from '../../../src/service/store/sqlite/connect.ts';
import { createRecordingStore } from '../../../src/service/store/recordings.ts';
import { newRecording, newSimulatedSession } from '../../support/database/rows.ts';
import { withFileStore, testStore, withStore } from '../../support/database/store.ts';

testStore('a recording belongs to its session and its owner', async (t) => {
  const { store, ownerId } = await withStore(t);
  const { recordings } = store;
  await recordings.add(ownerId, 'unknown', newRecording());
  await store.sessions.add(newSimulatedSession(ownerId, 'one'));
  t.equal(await recordings.find(ownerId, 'one'), undefined);
  await recordings.add(ownerId, 'one', newRecording());
  const { summary } = newRecording();
  t.same(await recordings.find(ownerId, 'one'), { summary, hasAudio: true });
  t.equal(String(await recordings.readAudio(ownerId, 'one')), 'OggS');
  t.equal(await recordings.find('other', 'one'), undefined);
  t.equal(await recordings.readAudio('other', 'one'), undefined);
  await recordings.add(ownerId, 'one', newRecording(Buffer.alloc(0)));
  t.match(await recordings.find(ownerId, 'one'), { hasAudio: false }, 'replaced');
  await store.deleteOwnerData(ownerId);
  t.equal(await recordings.find(ownerId, 'one'), undefined, 'deleted with the session');
});

void t.test('the oldest recordings of an owner make room for new ones', async (t) => {
  const { file, store, ownerId } = await withFileStore(t);
  const other = await store.owners.ensure('other');
  const connections = connect({ file, isTemporary: false });
  t.teardown(() => connections.close());
  const recordings = createRecordingStore(connections, 250);
  for (const owner of [other, ownerId]) {
    for (const id of ['a', 'b', 'c']) {
      await store.sessions.add(newSimulatedSession(owner, id));
      await recordings.add(owner, id, newRecording(Buffer.alloc(100)));
    }
  }
  for (const owner of [other, ownerId]) {
    t.equal(await recordings.find(owner, 'a'), undefined);
    t.ok(await recordings.find(owner, 'b'));
    t.ok(await recordings.find(owner, 'c'));
  }
  await store.sessions.add(newSimulatedSession(ownerId, 'huge'));
  await recordings.add(ownerId, 'huge', newRecording(Buffer.alloc(34_000_000)));
  t.match(await recordings.find(ownerId, 'huge'), { hasAudio: false }, 'too long to keep');
});
