/**
 * The self-test of the service area: every mutant fails exactly its requirements, every legal variant
 * fails none, and every dead peer gets its one cause. At a push, most mutants and variants are applied to
 * a recording of the unchanged service, and some of the others run; at night, all of them run, with
 * all probes.
 */
import t from 'tap';
import { serviceMutants, serviceVariants } from '../../conformance/areas/mutants.ts';
import { killable, selftest, selftestSize } from '../../conformance/proof/selftest.ts';
import { serviceRequirementIds } from '../../conformance/areas/index.ts';
import { withCheckedService } from '../support/conformance/checked-service.ts';
import { describeRows } from '../support/conformance/selftest-rows.ts';
import { isNightly } from '../support/nightly.ts';

void t.test('a mutant kills every requirement that can fail', (t) => {
  const killed = new Set<string>(serviceMutants.flatMap(({ kills }) => kills));
  for (const id of killable(serviceRequirementIds)) t.ok(killed.has(id), `${id} is killed`);
  t.ok(serviceMutants.length >= 40, `${serviceMutants.length} mutants`);
  t.ok(serviceVariants.length >= 10, `${serviceVariants.length} variants`);
  t.end();
});

void t.test('the self-test passes against the reference service', async (t) => {
  const service = await withCheckedService(t);
  const result = await selftest({
    serviceUrl: service.url,
    serviceApiKey: service.apiKey,
    kitVersion: 'test',
    areas: ['service'],
    everyProbe: isNightly,
    isQuick: !isNightly,
    onResult: ({ kind, id, expected, actual }) => t.same(actual, expected, `${kind} ${id}`),
  });
  t.equal(result.cause, undefined, `seed ${result.seed}`);
  t.equal(result.rows.length + result.skipped.length, selftestSize({ areas: ['service'] }));
  t.same(result.unkilled, [], 'every mutant is killed');
  t.comment(describeRows(result));
  t.ok(result.ok);
});
