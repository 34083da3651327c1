/** The seed chooses ids and words, never the verdict. `test/nightly/stability.test.ts` tries all peers. */
import t from 'tap';
import {
  findFlickering,
  judgePeersWithSeeds,
  note,
  type FailuresBySeed,
} from '../support/conformance/stability.ts';

void t.test('a sample of mutants and variants fails the same with every seed', async (t) => {
  const failures = await judgePeersWithSeeds({
    seeds: ['first', 'second', 'third'],
    every: 20,
    seedsLive: 1,
  });
  t.ok(failures.size >= 15, `${failures.size} peers`);
  t.same(findFlickering(failures), []);
});

void t.test('a peer that fails differently is reported', (t) => {
  const failures: FailuresBySeed = new Map();
  note(failures, 'stable', 'a', 'CHAT-001');
  note(failures, 'stable', 'b', 'CHAT-001');
  note(failures, 'flickering', 'a', 'CHAT-001');
  note(failures, 'flickering', 'b', '');
  t.same(findFlickering(failures), ['CHAT-001  flickering  only with a']);
  t.end();
});
