/** Which users are lost, according to the responses of a run. */
import t from 'tap';
import { findDeletions } from '../../../conformance/areas/users/lifecycle.ts';
import { toExchange, type Exchange } from '../../../conformance/engine/transcript/transcript.ts';
import type { RunRecord } from '../../../src/contract/index.ts';

const userId = 'sim_user_1';

const exchange = (
  id: number,
  endpoint: 'create' | 'delete',
  status: number,
  [startedMs, endedMs]: readonly [number, number],
): Exchange =>
  toExchange({
    record: 'exchange',
    id,
    probe: 'users/at-once',
    step: 'at the same moment',
    endpoint,
    intent: 'open',
    request:
      endpoint === 'create'
        ? { method: 'POST', path: '/users', headers: {}, body: JSON.stringify({ user_id: userId }) }
        : { method: 'DELETE', path: `/users/${userId}`, headers: {} },
    response: { status, headers: {}, body: JSON.stringify({ user_id: userId }) },
    startedMs,
    endedMs,
  });

void t.test('if two deletions overlap, the one that finds no user may end first', (t) => {
  const created = exchange(1, 'create', 201, [0, 5]);
  const late = exchange(2, 'delete', 404, [10, 12]);
  const deleted = exchange(3, 'delete', 200, [10, 13]);
  const run = {} as RunRecord;
  const exchanges = [created, late, deleted];
  t.same(findDeletions({ run, exchanges }), { deleted: [deleted], lost: [] });
  const alone = [created, late];
  t.same(findDeletions({ run, exchanges: alone }), { deleted: [], lost: [late] });
  t.end();
});
