/** Responses of the reference agent match its document, for every route and status. */
import t from 'tap';
import { readDocument } from '../support/contract/contract-documents.ts';
import { createExchangeChecker } from '../support/contract/contract-exchanges.ts';
import {
  CHAT_ROUTE,
  makeChatRequest,
  withReferenceAgent,
} from '../support/sandboxes/reference-agent.ts';

const FOREIGN = { origin: 'https://evil.example' };
const TOO_LARGE = 'x'.repeat(1_100_000);

/** A request for which the agent injects a fault. */
const withFault = (kind: string) => ({ headers: { 'x-sandbox-kit-fault': kind } });

const notProvoked = {
  'createChatCompletion 408': 'takes a minute',
  'createUser 408': 'takes a minute',
  'createUser 2XX': 'other sandboxes',
  'createUser 4XX': 'other sandboxes',
  'deleteUser 2XX': 'other sandboxes',
};

void t.test('the responses of the reference agent match its document', async (t) => {
  const { check, checkBody, assertComplete } = createExchangeChecker(
    t,
    readDocument('openapi-sandbox.json'),
  );
  const { send } = await withReferenceAgent(t);
  const locked = await withReferenceAgent(t, { apiKey: 'the-key' });

  const chat = { ...makeChatRequest('Where is my order A-1001?'), session_id: 'session-1' };
  checkBody('createChatCompletion', chat);
  for (const body of [makeChatRequest('Hello'), chat, {}]) {
    check('createChatCompletion', await send(CHAT_ROUTE, { body }));
  }
  check('createChatCompletion', await send(CHAT_ROUTE, { raw: 'no JSON' }));
  check('createChatCompletion', await send(CHAT_ROUTE, { raw: TOO_LARGE }));
  check('createChatCompletion', await send(CHAT_ROUTE, { body: chat, headers: FOREIGN }));
  check('createChatCompletion', await locked.send(CHAT_ROUTE, { body: chat }));
  for (const kind of ['rate_limit;retry_after_s=3', 'server_error']) {
    check('createChatCompletion', await send(CHAT_ROUTE, { body: chat, ...withFault(kind) }));
  }

  for (const fault of ['degraded', 'unhealthy', 'health_check_failed']) {
    check('getHealth', await send('GET /health', withFault(fault)));
  }
  check('getHealth', await send('GET /health'));
  check('getHealth', await locked.send('GET /health'));
  check('getHealth', await send('GET /health', { headers: FOREIGN }));

  const user = { user_id: 'sim_user_1', profile: { name: 'Ada Example' } };
  checkBody('createUser', user);
  for (const body of [user, user, { user_id: 'sim-user-1' }]) {
    check('createUser', await send('POST /users', { body }));
  }
  check('createUser', await send('POST /users', { raw: TOO_LARGE }));
  check('createUser', await send('POST /users', { body: user, headers: FOREIGN }));
  check('createUser', await locked.send('POST /users', { body: user }));
  for (const id of ['sim_user_1', 'sim_user_1', 'sim-user-1']) {
    check('deleteUser', await send(`DELETE /users/${id}`));
  }
  check('deleteUser', await send('DELETE /users/a', { headers: FOREIGN }));
  check('deleteUser', await locked.send('DELETE /users/a'));
  for (const kind of ['rate_limit', 'server_error']) {
    check('createUser', await send('POST /users', { body: user, ...withFault(kind) }));
    check('deleteUser', await send('DELETE /users/a', withFault(kind)));
  }
  assertComplete(notProvoked);
});
