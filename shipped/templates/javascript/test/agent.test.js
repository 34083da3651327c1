import assert from 'node:assert/strict';
import { test } from 'node:test';
import { replyTo } from '../src/agent.js';

test('the agent looks up an order', async () => {
  const reply = await replyTo([{ role: 'user', content: 'Where is order A-1001?' }], {
    profile: undefined,
    metadata: undefined,
  });
  assert.equal(reply.content, 'Your blue mug is on its way.');
  assert.deepEqual(
    reply.toolUses.map(({ name }) => name),
    ['look_up_order'],
  );
});
