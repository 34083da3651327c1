/**
 * The self-test of the client area: every faulty client fails exactly its requirements, and every
 * unusual but legal client fails none. At a push, one faulty client for each requirement runs; at
 * night, all of them.
 */
import t from 'tap';
import { clientRequirementIds } from '../../conformance/areas/index.ts';
import { clientMutants, clientVariants } from '../../conformance/areas/mutants.ts';
import type { StartRecordingService } from '../../conformance/index.ts';
import { selftest } from '../../conformance/proof/selftest.ts';
import { startService } from '../../src/service/index.ts';
import { assertKilled, assertSelftest } from '../support/conformance/selftest.ts';

const startRecordingService: StartRecordingService = (options) =>
  startService({ ...options, recordCallers: true });

void t.test('a faulty client kills every requirement that can fail', (t) => {
  assertKilled(t, clientMutants, clientRequirementIds);
  t.ok(clientMutants.length >= 40, `${clientMutants.length} faulty clients`);
  t.ok(clientVariants.length >= 15, `${clientVariants.length} legal clients`);
  t.end();
});

void t.test('the self-test passes with the reference client', async (t) => {
  await assertSelftest(t, { startRecordingService, areas: ['client'] });
});

void t.test('a self-test of clients needs a service that records them', async (t) => {
  const result = await selftest({ kitVersion: 'test', areas: ['client'] });
  t.match(result, { ok: false, rows: [], cause: /service that records its callers/ });
});
