/** What "Fix first" says about a sandbox that deletes users other than the one in the path. */
import t from 'tap';
import { SENT_AGAIN } from '../../conformance/areas/users/requests.ts';
import { jsonResponse } from '../../conformance/engine/mutants/combinators.ts';
import type { TransformFactory } from '../../conformance/engine/mutants/mutant.ts';
import { stringAt, userIdOf } from '../../conformance/engine/mutants/requests.ts';
import { check } from '../../conformance/index.ts';
import { testFixFirst, type FixFirstCase } from '../support/conformance/fix-first.ts';
import { createErrorResponse, isChat, withDistortion } from '../support/sandboxes/distortions.ts';
import { startTextAgent } from '../support/sandboxes/text-agent.ts';

const TIME = '2026-01-01T00:00:00Z';

/** Keeps users, and deletes those that a function selects; it returns the id to confirm, if any. */
const deletes =
  (remove: (users: Set<string>, id: string) => string | undefined): TransformFactory =>
  () => {
    const users = new Set<string>();
    return async (request, forward) => {
      if (request.method === 'DELETE') {
        const id = remove(users, userIdOf(request));
        return id === undefined
          ? createErrorResponse(404, 'No such user.', 'invalid_request_error', 'not_found')
          : jsonResponse(200, { user_id: id, deleted_at: TIME, status: 'deleted' });
      }
      const id = stringAt('user_id', request) ?? '';
      if (isChat(request) && id !== '' && !users.has(id)) {
        return createErrorResponse(400, 'Unknown user.', 'invalid_request_error', 'bad_request');
      }
      if (request.path !== '/users' || !/^\w{1,64}$/.test(id)) return forward(request);
      if (users.has(id)) {
        return createErrorResponse(409, 'It exists.', 'duplicate_user_error', 'user_exists');
      }
      users.add(id);
      return jsonResponse(201, { user_id: id, created_at: TIME, status: 'active' });
    };
  };

/** Deletes one user, and confirms the deletion of the one in the path. */
const deletesInstead = (
  choose: (users: readonly string[]) => string | undefined,
): TransformFactory =>
  deletes((users, id) => {
    const chosen = choose([...users]);
    return chosen !== undefined && users.delete(chosen) ? id : undefined;
  });

const ANOTHER_DELETED =
  /^DELETE \/users\/\{user_id\}: an id without a user is deleted with 200 \(exchange \d+ "[^"]+"\), and a user that exists is gone: 404 with "No such user\." .*Delete only the user whose id is in the path/;

const cases: readonly FixFirstCase[] = [
  {
    title: 'a deletion that deletes all users',
    defect: deletes((users, id) => {
      const isKnown = users.has(id);
      users.clear();
      return isKnown ? id : undefined;
    }),
    says: /^DELETE \/users\/\{user_id\}: the deletion of sim_user_\w+ \(exchange \d+\) also deletes other users: 404 with "No such user\." .*Delete only the user whose id is in the path/,
    isOnly: true,
  },
  {
    title: 'a deletion that always succeeds, and deletes all users',
    defect: deletes((users, id) => {
      users.clear();
      return id;
    }),
    says: /^POST \/v1\/chat\/completions: the deletion of sim_user_\w+ \(exchange \d+\) also deletes other users: 400 with "Unknown user\." .*Delete only the user whose id is in the path/,
    isOnly: true,
  },
  {
    title: 'a deletion that takes the oldest user',
    defect: deletesInstead((users) => users[0]),
    says: ANOTHER_DELETED,
    isOnly: true,
  },
  {
    title: 'a deletion that takes the newest user',
    defect: deletesInstead((users) => users.at(-1)),
    says: ANOTHER_DELETED,
    isOnly: true,
  },
  {
    title: 'a deletion that takes the oldest user, and confirms that one',
    defect: deletes((users) => {
      const [oldest] = users;
      if (oldest !== undefined) users.delete(oldest);
      return oldest;
    }),
    says: ANOTHER_DELETED,
    isOnly: true,
  },
  {
    title: 'a deletion of an existing user that takes the oldest one',
    defect: deletes((users, id) => {
      if (!users.has(id)) return undefined;
      users.delete([...users][0] ?? '');
      return id;
    }),
    says: ANOTHER_DELETED,
    isOnly: true,
  },
  {
    title: 'a deletion that compares only the beginning of ids',
    defect: deletes((users, id) => {
      const alike = [...users].filter((other) => other.slice(0, 20) === id.slice(0, 20));
      for (const other of alike) users.delete(other);
      return alike.length > 0 ? id : undefined;
    }),
    says: /^DELETE \/users\/\{user_id\}: the deletion of ((sim_user_\w{11})\w*) \(exchange \d+\) also deletes other users: 404 .*Compare whole ids/,
    isOnly: true,
  },
];

for (const one of cases) testFixFirst(t, one);

void t.test('a sandbox that knows no user gets few delete requests again', async (t) => {
  const target = await withDistortion(
    t,
    await startTextAgent(t),
    deletes(() => undefined),
  );
  const { transcript } = await check({
    target,
    kitVersion: 'test',
    seed: 'advice',
    areas: ['chat', 'users'],
  });
  const again = transcript.exchanges.filter(({ step }) => step === SENT_AGAIN);
  t.ok(again.length >= 3 && again.length <= 12, `${again.length} requests`);
});
