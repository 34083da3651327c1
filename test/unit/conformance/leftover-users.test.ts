/** Which users an interrupted run left in the sandbox. */
import t from 'tap';
import { describeLeftoverUsers } from '../../../conformance/areas/users/leftover-users.ts';

const makeExchange = (id: number, endpoint: 'create' | 'delete', userId: string) => ({
  id,
  endpoint,
  request: {
    path: endpoint === 'create' ? '/users' : `/users/${userId}`,
    body: JSON.stringify({ user_id: userId }),
  },
  sent: { user_id: userId },
  response: { status: 200 },
  json: { user_id: userId },
});

const exchanges = [
  makeExchange(1, 'create', 'kept'),
  makeExchange(2, 'create', 'gone'),
  makeExchange(3, 'delete', 'gone'),
];

const describe = (interrupted: boolean): string[] =>
  describeLeftoverUsers({ exchanges, run: { interrupted } } as never);

void t.test('an interrupted run names the users that it did not delete', (t) => {
  t.same(describe(true), ['Users that were created in the sandbox and not deleted: kept.']);
  t.same(describe(false), [], 'a whole run reports them as a requirement');
  t.end();
});
