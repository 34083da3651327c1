/**
 * The self-test of the client area: every faulty client fails exactly its requirements, and every
 * unusual but legal client fails none. At a push, one faulty client for each requirement runs; at
 * night, all of them.
 */
import t from 'tap';
import { clientRequirementIds } from '../../conformance/areas/index.ts';
import { clientMutants, clientVariants } from '../../conformance/areas/mutants.ts';
import type { StartRecordingService } from '../../conformance/index.ts';
import { killable, selftest, selftestSize } from '../../conformance/proof/selftest.ts';
import { startService } from '../../src/service/index.ts';
import { describeRows } from '../support/conformance/selftest-rows.ts';
import { isNightly } from '../support/nightly.ts';

const startRecordingService: StartRecordingService = (options) =>
  startService({ ...options, recordCallers: true });

void t.test('a faulty client kills every requirement that can fail', (t) => {
  const killed = new Set<string>(clientMutants.flatMap(({ kills }) => kills));
  for (const id of killable(clientRequirementIds)) t.ok(killed.has(id), `${id} is killed`);
  t.ok(clientMutants.length >= 40, `${clientMutants.length} faulty clients`);
  t.ok(clientVariants.length >= 15, `${clientVariants.length} legal clients`);
  t.end();
});

void t.test('the self-test passes with the reference client', async (t) => {
  const result = await selftest({
    startRecordingService,
    kitVersion: 'test',
    areas: ['client'],
    isQuick: !isNightly,
    onResult: ({ kind, id, expected, actual }) => t.same(actual, expected, `${kind} ${id}`),
  });
  t.equal(result.cause, undefined);
  t.equal(result.rows.length + result.skipped.length, selftestSize({ areas: ['client'] }));
  t.same(result.unkilled, [], 'every requirement is killed');
  t.comment(describeRows(result));
  t.ok(result.ok);
});

void t.test('a self-test of clients needs a service that records them', async (t) => {
  const result = await selftest({ kitVersion: 'test', areas: ['client'] });
  t.match(result, { ok: false, rows: [], cause: /service that records its callers/ });
});
