import assert from 'node:assert/strict';
import { test } from 'node:test';
import { check } from 'sandbox-kit';
import { startSandbox } from '../src/server.js';

const API_KEY = 'a-key-for-tests';

test('the sandbox obeys the interface', async (t) => {
  const sandbox = await startSandbox({ port: 0, apiKey: API_KEY });
  t.after(() => sandbox.stop());
  const report = await check({
    url: sandbox.url,
    apiKey: API_KEY,
    areas: ['chat', 'health', 'users', 'voice'],
  });
  const failures = report.requirements
    .filter(({ verdict }) => verdict === 'fail')
    .map(({ id, rule, received, hint }) =>
      [id, rule, received && `Received ${received}.`, hint].filter(Boolean).join(' '),
    );
  assert.deepEqual(failures, []);
  assert.equal(report.verdict, 'conforming');
});
